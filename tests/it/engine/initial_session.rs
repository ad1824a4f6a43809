//! Prompts that arrive before the conversation named on the command line is open.

use super::*;
use humble::engine::{EngineOptions, InitialSession};

async fn home_with_session() -> TempDir {
    let mut harness = EngineHarness::start(Script::default().answer("Blue.")).await;
    harness.prompt("What color is the sky?").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.shut_down().await
}

fn opening(initial: InitialSession) -> EngineOptions {
    EngineOptions {
        initial_session: Some(initial),
        ..EngineOptions::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_sent_before_the_conversation_is_open_continues_it() {
    let home = home_with_session().await;
    let options = opening(InitialSession::Latest);
    let script = Script::default().answer("Because of the air.");
    let mut harness = EngineHarness::start_unready(home, script, options);
    harness.prompt("Why?").await;
    assert_eq!(
        harness.wait_for_turn_end().await,
        answered("Because of the air.")
    );
    assert_eq!(
        harness.model_messages(),
        [
            Message::User("What color is the sky?".to_owned()),
            Message::Assistant("Blue.".to_owned()),
            Message::User("Why?".to_owned()),
        ]
    );
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1);
    let messages = &read_json(&files[0])["messages"];
    assert_eq!(messages.as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_does_not_replace_the_waiting_one() {
    let home = home_with_session().await;
    let options = opening(InitialSession::Latest);
    let script = Script::default().answer("Because of the air.");
    let mut harness = EngineHarness::start_unready(home, script, options);
    harness.prompt("Why?").await;
    harness.prompt("And grass?").await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the second prompt was accepted");
    };
    assert_eq!(notice.what, "A turn is still running.");
    assert_eq!(
        harness.wait_for_turn_end().await,
        answered("Because of the air.")
    );
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_withdraws_the_waiting_prompt() {
    let home = home_with_session().await;
    let options = opening(InitialSession::Latest);
    let mut harness = EngineHarness::start_unready(home, Script::default(), options);
    harness.prompt("Why?").await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    let is_open = |event: &Event| matches!(event, Event::SessionOpened(_));
    harness.wait_for("the conversation", is_open).await;
    assert_eq!(harness.requests.count(), 0);
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_not_sent_if_the_conversation_cannot_be_opened() {
    let home = home_with_session().await;
    let options = opening(InitialSession::Named("missing".to_owned()));
    let mut harness = EngineHarness::start_unready(home, Script::default(), options);
    harness.prompt("Why?").await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the prompt was sent");
    };
    assert_eq!(notice.what, "Not sent: the conversation was not opened.");
    assert_eq!(harness.requests.count(), 0);
    harness.shut_down().await;
}

/// The user has chosen another conversation in the meantime.
#[tokio::test(start_paused = true)]
async fn a_new_conversation_is_not_replaced_by_the_one_that_was_being_opened() {
    let home = home_with_session().await;
    let options = opening(InitialSession::Latest);
    let script = Script::default().answer("Green.");
    let mut harness = EngineHarness::start_unready(home, script, options);
    harness.send(Command::NewSession).await;
    // The paused clock advances only once the conversation has been read.
    tokio::time::sleep(Duration::from_secs(1)).await;
    harness.prompt("And grass?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Green."));
    assert_eq!(
        harness.model_messages(),
        [Message::User("And grass?".to_owned())]
    );
    harness.shut_down().await;
}

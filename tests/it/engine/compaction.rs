//! `/compact`, and the requests after it.

use super::*;
use humble::domain::{Severity, TurnId};

const COMPACT: Command = Command::Compact { turn: TurnId(99) };

async fn after_three_turns(script: Script) -> EngineHarness {
    let mut harness = EngineHarness::start(script).await;
    for prompt in ["one", "two", "three"] {
        harness.prompt(prompt).await;
        harness.wait_for_turn_end().await;
        harness.wait_for_save().await;
    }
    harness
}

fn three_answers() -> Script {
    Script::default().answer("1").answer("2").answer("3")
}

#[tokio::test(start_paused = true)]
async fn older_messages_are_sent_as_a_summary_and_kept_in_the_file() {
    let mut harness = after_three_turns(three_answers().answer("One and two.").answer("4")).await;
    harness.send(COMPACT).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("One and two."));
    harness.wait_for_save().await;
    let request = harness.last_request();
    let [Message::User(request)] = request.messages.as_slice() else {
        panic!("expected only the instruction: {request:?}");
    };
    assert!(
        harness.last_request().tools.is_empty(),
        "the request has no tools"
    );
    assert!(
        request.contains("User:\none\n\nAssistant:\n1\n"),
        "{request}"
    );
    assert!(
        !request.contains("three"),
        "the last turn is not summarized"
    );
    harness.prompt("four").await;
    harness.wait_for_turn_end().await;
    let user = |text: &str| Message::User(text.to_owned());
    let assistant = |text: &str| Message::Assistant(text.to_owned());
    assert_eq!(
        harness.model_messages(),
        [
            user("A summary of our conversation so far:\n\nOne and two."),
            assistant("I will continue from this summary."),
            user("three"),
            assistant("3"),
            user("four"),
        ]
    );
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(8));
    assert_eq!(file["humble"]["compacted"]["summary"], "One and two.");
    assert_eq!(file["humble"]["turns"].as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn summary_survives_a_restart() {
    let mut harness = after_three_turns(three_answers().answer("One and two.")).await;
    harness.send(COMPACT).await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let mut harness = open_saved_session(home, Script::default().answer("4")).await;
    harness.prompt("four").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.model_messages().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_summary_changes_nothing() {
    let mut harness = after_three_turns(
        three_answers()
            .round([ScriptStep::text("Half"), ScriptStep::Hang])
            .answer("4"),
    )
    .await;
    harness.send(COMPACT).await;
    harness
        .wait_for("text", |event| {
            matches!(event, Event::Turn(_, TurnEvent::Delta { .. }))
        })
        .await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    harness.prompt("four").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.model_messages().len(), 7);
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["humble"]["compacted"], Value::Null);
    assert_eq!(file["humble"]["cancelled"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_summary_replaces_nothing() {
    let end = |reason| ScriptStep::Part(StreamPart::End(reason));
    let refused = EndReason::Refused { why: None };
    let filtered = EndReason::ContentFilter;
    let repetition = (0..2_000).map(|_| ScriptStep::text("It goes on and on and on. "));
    for round in [
        vec![ScriptStep::text("One and"), end(EndReason::Length)],
        vec![ScriptStep::text("I cannot help with that."), end(refused)],
        vec![ScriptStep::text("I cannot help with that."), end(filtered)],
        repetition.collect(),
    ] {
        let mut harness = after_three_turns(three_answers().round(round).answer("4")).await;
        harness.send(COMPACT).await;
        let end = harness.wait_for_turn_end().await;
        assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
        harness.prompt("four").await;
        harness.wait_for_turn_end().await;
        assert_eq!(harness.model_messages().len(), 7);
    }
}

#[tokio::test(start_paused = true)]
async fn undoing_a_summary_restores_the_conversation() {
    let mut harness = after_three_turns(three_answers().answer("One and two.").answer("4")).await;
    harness.send(COMPACT).await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.send(Command::DropSummary).await;
    harness.wait_for_save().await;
    harness.prompt("four").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.model_messages().len(), 7);
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["humble"]["compacted"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn compacting_a_short_conversation_does_nothing() {
    let mut harness = EngineHarness::start(Script::default()).await;
    harness.send(COMPACT).await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the turn did not fail");
    };
    assert_eq!(notice.what, "There is nothing to summarize yet.");
    assert_eq!(notice.severity, Severity::Info);
    let started = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Started { .. }));
    assert!(!harness.events.iter().any(started), "no turn started");
}

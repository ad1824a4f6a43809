//! Edge cases of recovery from a journal, and the files on disk at the moment an answer is shown.

use super::journal::{
    append_partial_turn, assert_no_offer, configured_home, journals, kill_engine,
    partial_answer_script, wait_for_journaled_text, wait_for_offer, write_answer_journal,
};
use super::*;
use humble::domain::Prompt;
use humble::engine::EngineOptions;
use std::fs;

#[tokio::test(start_paused = true)]
async fn answer_is_on_disk_before_the_end_of_its_turn_is_reported() {
    let script = Script::default()
        .answer("one")
        .answer("two")
        .answer("three");
    let mut harness = EngineHarness::start(script).await;
    for answer in ["one", "two", "three"] {
        harness.prompt("?").await;
        assert_eq!(harness.wait_for_turn_end().await, answered(answer));
        let files = [journals(&harness.home), session_files(&harness.home)].concat();
        let contains_answer = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.contains(&format!("\"{answer}\""))
        };
        assert!(files.iter().any(contains_answer), "{answer}: {files:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn resume_offer_reports_whether_the_turn_writes_a_note() {
    for (prompt, writes_note) in [("make a note about tea", true), ("Tell me", false)] {
        let mut harness = EngineHarness::start(partial_answer_script()).await;
        harness.prompt(prompt).await;
        wait_for_journaled_text(&mut harness).await;
        let home = kill_engine(harness).await;
        let mut harness = EngineHarness::start_in(home, Script::default()).await;
        let (_, turn) = wait_for_offer(&mut harness).await;
        assert_eq!(turn.contains("look for the note"), writes_note, "{turn}");
    }
}

#[tokio::test(start_paused = true)]
async fn answer_that_cannot_be_recovered_is_kept_for_the_next_start() {
    let home = configured_home();
    write_answer_journal(&home, Value::Null, 0);
    fs::write(home.path().join("sessions"), "").expect("written");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    let is_save_failure = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.starts_with("Not saved"));
    // The notice may have arrived while the harness waited for the tools.
    if !harness.events.iter().any(is_save_failure) {
        harness.wait_for("the failed save", is_save_failure).await;
    }
    let home = harness.shut_down().await;
    assert_eq!(journals(&home).len(), 1);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    assert!(journals(&home).is_empty());
    assert_eq!(
        read_json(&session_files(&home)[0])["messages"][1]["content"],
        "a"
    );
}

#[tokio::test(start_paused = true)]
async fn a_recovered_answer_that_was_stopped_is_still_marked_as_stopped() {
    let home = configured_home();
    write_answer_journal(&home, Value::Null, 0);
    let path = journals(&home).remove(0);
    let text = fs::read_to_string(&path).expect("a file");
    let stopped = text.replace("\"text\":\"a\"", "\"text\":\"a\",\"stopped\":true");
    assert_ne!(stopped, text);
    fs::write(&path, stopped).expect("written");
    let harness = EngineHarness::start_in(home, Script::default()).await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["humble"]["turns"][0]["stopped"], true);
}

#[tokio::test(start_paused = true)]
async fn interrupted_turn_after_an_unsaved_answer_resumes_in_its_conversation() {
    let home = configured_home();
    write_answer_journal(&home, Value::Null, 0);
    append_partial_turn(&home, &[]);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("b")).await;
    let (ask, turn) = wait_for_offer(&mut harness).await;
    let shown = "You asked:\n  r\n\nThe answer so far:\n  Half";
    assert!(turn.contains(shown), "{turn}");
    assert!(turn.contains("Its conversation is \"q\"."), "{turn}");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let is_prompt_offered = |event: &Event| matches!(event, Event::PromptOffered { .. });
    harness.wait_for("the prompt", is_prompt_offered).await;
    harness.prompt("r").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("b"));
    let expected = [
        Message::User("q".to_owned()),
        Message::Assistant("a".to_owned()),
        Message::User("r".to_owned()),
    ];
    assert_eq!(harness.model_messages(), expected);
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    let file = read_json(&files[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
    assert_eq!(file["humble"]["cancelled"][0]["words"], "Half");
    assert!(journals(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_shot_run_leaves_an_unfinished_turn_for_later() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    let home = kill_engine(harness).await;
    let options = EngineOptions {
        is_one_shot: true,
        ..EngineOptions::default()
    };
    let mut harness =
        EngineHarness::start_with_options(home, Script::default().answer("ok"), options).await;
    assert_no_offer(&mut harness).await;
    let home = harness.shut_down().await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (_, turn) = wait_for_offer(&mut harness).await;
    assert!(turn.contains("You asked:\n  Tell me"), "{turn}");
}

#[tokio::test(start_paused = true)]
async fn a_new_prompt_postpones_an_unfinished_turn_until_the_next_start() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    let (ask, _) = wait_for_offer(&mut harness).await;
    harness.prompt("Something else").await;
    let is_closed = |event: &Event| *event == Event::AskClosed(ask);
    harness.wait_for("the end of the question", is_closed).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("ok"));
    let home = harness.shut_down().await;
    assert_eq!(session_files(&home).len(), 1);
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (_, turn) = wait_for_offer(&mut harness).await;
    assert!(turn.contains("You asked:\n  Tell me"), "{turn}");
}

#[tokio::test(start_paused = true)]
async fn first_turn_that_was_stopped_and_undone_is_not_offered() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    harness
        .send(Command::DropCancelled(Prompt::new("Tell me")))
        .await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn turn_made_private_midway_leaves_no_journal() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 1);
    harness.send(Command::SetPrivate(true)).await;
    let is_private = |event: &Event| *event == Event::PrivateChanged(true);
    harness.wait_for("the change", is_private).await;
    // The paused clock advances only after the disk operation has finished.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(journals(&harness.home).is_empty());
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
}

//! Notes whose answer was cut off or stopped, and their continuation.

use super::note_agents::{files, with_notes};
use super::*;
use humble::domain::{Advice, Prompt, TurnId};
use std::fs;

async fn continue_answer(harness: &mut EngineHarness, turn: u64) {
    let (turn, prompt) = (TurnId(turn), Prompt::continuation());
    harness.send(Command::Submit { turn, prompt }).await;
}

/// Unlike the request for the note, its continuation offers tools, which may change meanwhile.
#[tokio::test(start_paused = true)]
async fn a_call_of_a_continued_note_does_not_run_once_its_tool_is_off() {
    let script = Script::default()
        .round([
            ScriptStep::text("# Tea\n\nIt is"),
            ScriptStep::Part(StreamPart::End(EndReason::Length)),
        ])
        .answer(GET_TIME_CALL)
        .answer(" a drink.");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    continue_answer(&mut harness, 50).await;
    let (ask, calls) = harness.next_approval().await;
    let (server, tool) = ("humble".into(), "get_time".into());
    harness.send(Command::ToggleTool { server, tool }).await;
    let is_closed = |event: &Event| matches!(event, Event::AskClosed(closed) if *closed == ask);
    harness.wait_for("the closed question", is_closed).await;
    // Too late.
    let run = UserAnswer::Calls(vec![(calls[0], Decision::Run)]);
    harness.answer(ask, run).await;
    harness.wait_for_turn_end().await;
    let messages = format!("{:?}", harness.model_messages());
    assert!(!messages.contains("Result of get_time"), "{messages}");
    assert_eq!(files(&vault), ["tea.md"]);
    let text = fs::read_to_string(vault.join("tea.md")).expect("a note");
    assert_eq!(text, "# Tea\n\nIt is a drink.\n");
}

#[tokio::test(start_paused = true)]
async fn a_note_stopped_for_repetition_is_saved_only_after_its_continuation() {
    let endless = format!(
        "# Tea\n\n{}",
        "Tea is hot and green tea is not. ".repeat(2_000)
    );
    let script = Script::default().answer(&endless).answer("\n\nThe end.");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    let end = harness.wait_for_turn_end().await;
    let TurnEnd::Answered { text, is_truncated } = end else {
        panic!("{end:?}");
    };
    assert!(is_truncated && endless.starts_with(&text));
    let last = harness.turn_notices().pop().expect("a notice");
    assert_eq!(last.what, "The note is incomplete and was not saved.");
    assert_eq!(last.advice, [Advice::ContinueNote]);
    assert_eq!(files(&vault), [""; 0]);
    continue_answer(&mut harness, 50).await;
    harness.wait_for_turn_end().await;
    let note = fs::read_to_string(vault.join("tea.md")).expect("a note");
    assert_eq!(note, format!("{text}\n\nThe end.\n"));
}

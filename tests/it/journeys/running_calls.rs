//! Running calls: progress, cancellation of one of several, and reading long results.

use super::in_memory_server::InMemoryServer;
use super::*;
use serde_json::json;
use std::fmt::Write;

const TAB: KeyCode = KeyCode::Tab;
const ESC: KeyCode = KeyCode::Esc;
const NONE: KeyModifiers = KeyModifiers::NONE;

fn calls(tools: &[&str]) -> String {
    let mut text = String::new();
    for tool in tools {
        let call = json!({ "server": "humble", "name": tool, "arguments": {} });
        writeln!(text, "{call}").expect("writing to a string cannot fail");
    }
    text
}

fn workshop() -> InMemoryServer {
    let tools = ["saw", "drill", "plane"];
    tools
        .iter()
        .fold(InMemoryServer::default(), |server, tool| {
            server.with_pending_tool(tool, "Works.")
        })
}

fn with_running_calls(workshop: &InMemoryServer, tools: &[&str]) -> Chat {
    let script = script().answer(&calls(tools)).answer("All done.");
    let mut chat = chat_with(workshop, script);
    chat.says("/set-tool-mode auto").says("Work!");
    for tool in tools {
        let screen = chat.screen();
        let name = format!(" {tool} ");
        let is_call = |row: &str| row.contains(&name) && row.contains("  auto  humble  ");
        assert!(screen.lines().any(is_call), "{screen}");
    }
    chat
}

#[test]
fn a_running_call_shows_its_progress() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw"]);
    let message = "fetching\u{1b}[31m 예보\nand more";
    workshop.report_progress(
        "saw",
        json!({ "progress": 6, "total": 10, "message": message }),
    );
    chat.waits(Duration::from_millis(100));
    chat.sees("fetching 예보 and more")
        .sees("▕██████    ▏  60 %");
    // Progress never decreases and never exceeds 100 %.
    workshop.report_progress("saw", json!({ "progress": 2, "total": 10 }));
    chat.waits(Duration::from_millis(100)).sees(" 60 %");
    workshop.report_progress("saw", json!({ "progress": 70, "total": 10 }));
    chat.waits(Duration::from_millis(100))
        .sees("▕██████████▏ 100 %");
    workshop.finish_call("saw", "boards");
    chat.waits(Duration::from_millis(100)).sees("All done.");
    chat.sees("✓ ")
        .does_not_see(" 100 %")
        .model_receives("boards");
}

#[test]
fn progress_without_a_total_is_shown_as_a_count() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw"]);
    workshop.report_progress("saw", json!({ "progress": 17, "total": 0 }));
    chat.waits(Duration::from_millis(100)).sees("saw");
    let screen = chat.screen();
    let below_header: Vec<_> = screen.lines().skip(1).map(str::trim).collect();
    assert!(below_header.contains(&"17"), "{screen}");
    let has_percentage = below_header.iter().any(|row| row.contains('%'));
    assert!(!has_percentage, "{screen}");
}

#[test]
fn cancelling_one_of_several_calls_leaves_the_others_running() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw", "drill", "plane"]);
    // The notice about the tool mode disappears first.
    chat.waits_until_sees("/cancel one call").press(TAB, NONE);
    chat.up().up().sees("c cancel this call").key('c');
    let screen = chat.screen();
    let is_cancelled = |row: &str| row.contains("⊘ drill ") && row.contains("  cancelled ");
    assert!(screen.lines().any(is_cancelled), "{screen}");
    assert_eq!(workshop.cancelled_tools(), ["drill"]);
    chat.model_received_requests(1);
    workshop.finish_call("saw", "boards");
    workshop.finish_call("plane", "shavings");
    chat.waits(Duration::from_millis(100)).sees("All done.");
    chat.model_receives("boards").model_receives("shavings");
    chat.model_receives("The user cancelled drill from humble while it ran");
    // A cancelled call is not an error, so the model may make further calls.
    chat.model_does_not_receive("Call no other tool now");
}

#[test]
fn a_call_stopped_with_its_turn_is_marked_as_possibly_run() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw"]);
    chat.ctrl('c').sees("(cancelled)").sees("⊘ saw");
    let screen = chat.screen();
    let row = screen.lines().find(|row| row.contains("⊘ saw"));
    assert!(
        row.is_some_and(|row| row.contains("may have run")),
        "{screen}"
    );
    chat.says("/copy call").sees("No result to copy yet.");
}

#[test]
fn the_cancel_command_lists_running_calls_and_accepts_a_number_or_a_tool() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw", "drill", "plane"]);
    chat.says("/cancel")
        .sees("Running calls")
        .sees("2  drill  humble");
    chat.key('0').does_not_see("Running calls");
    chat.says("/cancel hammer")
        .sees("No call to `hammer` is running.");
    chat.says("/cancel 9")
        .sees("Please enter a number from 0 to 3.");
    chat.says("/cancel 2").says("/cancel plane").says("/cancel");
    chat.sees("All done.")
        .model_receives("The user cancelled saw");
    assert_eq!(workshop.cancelled_tools(), ["drill", "plane", "saw"]);
    chat.says("/cancel").sees("No call is running.");
}

#[test]
fn letters_go_to_the_message_while_no_call_is_selected() {
    let workshop = workshop();
    let mut chat = with_running_calls(&workshop, &["saw"]);
    chat.press(TAB, NONE).types("cobalt").sees("cobalt");
    assert_eq!(workshop.cancelled_tools(), [""; 0]);
}

#[test]
fn a_huge_result_is_truncated_in_the_chat_readable_in_full_and_copied_raw() {
    let line = "한 줄\u{1b}]0;title\u{7} of many\n";
    let result = format!("{}the end\u{202e}", line.repeat((16 << 20) / line.len()));
    let workshop = InMemoryServer::default().with_answering_tool("big", &result);
    let script = script().answer(&calls(&["big"])).answer("All done.");
    let mut chat = chat_with(&workshop, script);
    chat.says("/set-tool-mode auto")
        .says("Big!")
        .waits_until_sees("✓ ")
        .ctrl('c');
    chat.press(TAB, NONE).up().up().enter();
    chat.press(KeyCode::End, KeyModifiers::CONTROL);
    chat.sees("MB more in the full call").does_not_see("title");
    chat.key('o').sees("arguments").sees("⟨ESC⟩]0;title⟨BEL⟩");
    chat.press(KeyCode::End, NONE)
        .sees("the end⟨U+202E⟩")
        .sees("100 %");
    chat.key('y').sees("OSC 52");
    assert!(
        chat.clipboard() == Some(result.as_str()),
        "copied raw and in full from the viewer"
    );
    chat.press(ESC, NONE).ctrl('y');
    assert!(
        chat.clipboard() == Some(result.as_str()),
        "copied from the selected line"
    );
    chat.press(ESC, NONE).says("/copy");
    chat.sees("No answer to copy yet.");
    chat.says("/copy call");
    assert!(
        chat.clipboard() == Some(result.as_str()),
        "copied by command"
    );
}

//! Selecting, copying and editing messages with keys.

use super::*;
use crate::protocol::BranchSummary;

const ANSWER: &str = "Some **bold** words.\n\n```rust\nfn main() {\n\tx();\n}\n```\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.";

fn with_answer() -> ChatHarness {
    let mut chat = chat();
    chat.keys("질문 one<Enter>")
        .model_answers(ANSWER)
        .wait(2_000);
    chat.sent.clear();
    chat
}

#[test]
fn keys_stop_at_messages_and_blocks_and_copy_their_source() {
    let mut chat = with_answer();
    chat.keys("<Tab><Up>");
    let sources = [
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "fn main() {\n\tx();\n}",
        ANSWER,
        "질문 one",
    ];
    for source in sources {
        chat.keys("y");
        assert_eq!(chat.copied().as_deref(), Some(source));
        chat.keys("<Up>");
    }
    chat.keys("<Down><Down>y");
    assert_eq!(chat.copied().as_deref(), Some(sources[1]));
}

#[test]
fn notice_names_the_copied_part() {
    let mut chat = with_answer();
    let named = |chat: &mut ChatHarness| {
        chat.keys("y");
        chat.notice()
            .split(" (")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    chat.keys("<Tab><Up>");
    assert_eq!(named(&mut chat), "Sent the table");
    chat.keys("<Up>");
    assert_eq!(named(&mut chat), "Sent the code");
    chat.keys("<Up>");
    assert_eq!(named(&mut chat), "Sent the answer");
    chat.keys("<Up>");
    assert_eq!(named(&mut chat), "Sent your message");
}

#[test]
fn a_block_is_marked_in_the_margin_and_copied_as_shown() {
    let mut chat = with_answer();
    chat.keys("<Tab><Up><Up>");
    let screen = chat.screen();
    let marked: Vec<&str> = screen.lines().filter(|row| row.starts_with('▌')).collect();
    let marked: Vec<&str> = marked.iter().map(|row| row.trim_end()).collect();
    assert_eq!(marked, ["▌  rust", "▌▏ fn main() {", "▌▏     x();", "▌▏ }"]);
    chat.keys("Y");
    assert_eq!(
        chat.copied().as_deref(),
        Some("fn main() {\n    x();\n}"),
        "the label is not copied"
    );
}

#[test]
fn v_selects_lines_beginning_at_the_stop() {
    let mut chat = with_answer();
    chat.keys("<Tab><Up><Up><Up>v<Down>y");
    assert_eq!(chat.copied().as_deref(), Some("Some **bold** words."));
    chat.keys("<Down><Down>y");
    assert_eq!(
        chat.copied().as_deref(),
        Some("Some **bold** words.\n\nfn main() {")
    );
    chat.keys("Y");
    let shown = "Some bold words.\n\nrust\nfn main() {";
    assert_eq!(chat.copied().as_deref(), Some(shown));
    chat.keys("<Up><Up><Up><Up>y");
    let with_prompt = "질문 one\n\nSome **bold** words.";
    assert_eq!(
        chat.copied().as_deref(),
        Some(with_prompt),
        "upward across messages"
    );
    chat.keys("<Esc>");
    assert!(!selection::has_selection(&chat.model));
    assert_eq!(
        chat.model.panes.focus,
        Focus::Chat,
        "Esc only ends the selection"
    );
}

#[test]
fn lines_of_a_code_block_begin_below_its_label() {
    let mut chat = with_answer();
    chat.keys("<Tab><Up><Up>v<Down>y");
    assert_eq!(chat.copied().as_deref(), Some("fn main() {\n\tx();"));
}

#[test]
fn a_call_is_copied_with_arguments_and_result() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("y");
    let outcome = crate::domain::ToolOutcome::Succeeded {
        text: "42".into(),
        elapsed: Duration::ZERO,
    };
    let call = ToolCall {
        id: CallId(1),
        state: ToolState::Done(outcome),
        ..fixtures::tool_call("sums", "add", json!({"a": 1}))
    };
    chat.engine_event(Event::AskClosed(AskId(7)));
    chat.turn_event(TurnEvent::Tool(call))
        .model_answers("done")
        .wait(2_000);
    chat.keys("<Tab><Up><Up>y");
    let text = "arguments\n{\n  \"a\": 1\n}\nresult\n42";
    assert_eq!(chat.copied().as_deref(), Some(text));
    chat.keys("<Enter>");
    assert!(chat.screen().contains("result"), "Enter still unfolds");
}

#[test]
fn letters_still_go_to_the_message_while_nothing_is_selected() {
    let mut chat = with_answer();
    chat.keys("<Tab>yes");
    assert_eq!(chat.message(), "yes");
}

/// Answers in a piece whose id no other turn uses.
fn answers_in_own_piece(chat: &mut ChatHarness, answer: &str) {
    let piece = chat.model.chat.transcript.entries().len() as u64 + 100;
    chat.turn_event(TurnEvent::Delta {
        piece: PieceId(piece),
        kind: PieceKind::Text,
        text: answer.into(),
    });
    let end = TurnEnd::Answered {
        text: answer.into(),
        is_truncated: false,
    };
    chat.turn_ends(end).wait(2_000);
}

fn three_turns() -> ChatHarness {
    let mut chat = chat();
    for (prompt, answer) in [("one", "A1."), ("two", "A2."), ("three", "A3.")] {
        chat.keys(prompt).keys("<Enter>");
        answers_in_own_piece(&mut chat, answer);
    }
    chat.sent.clear();
    chat
}

fn submitted(chat: &mut ChatHarness) -> crate::domain::Prompt {
    match chat.commands().pop() {
        Some(Command::Submit { prompt, .. }) => prompt,
        other => panic!("unexpected command: {other:?}"),
    }
}

#[test]
fn the_edit_of_a_prompt_before_unanswered_ones_is_not_from_0_messages_ago() {
    let mut chat = chat();
    chat.keys("one<Enter>")
        .model_answers("A1.")
        .keys("two<Enter>")
        .turn_ends(TurnEnd::Cancelled)
        .wait(2_000)
        .keys("<Tab><Up><Up><Up><Up>");
    chat.keys("e");
    let screen = chat.screen();
    assert!(
        screen.contains("Editing an earlier message: one"),
        "{screen}"
    );
}

#[test]
fn an_edit_of_an_earlier_prompt_replaces_later_turns_once_it_is_answered() {
    let mut chat = three_turns();
    chat.keys("draft<Tab><Up><Up><Up><Up>e");
    assert_eq!(chat.message(), "two");
    let screen = chat.screen();
    let line = "▸ Editing the message before your last one: two";
    assert!(screen.contains(line), "{screen}");
    chat.keys("<Esc>");
    assert_eq!(chat.message(), "draft", "Esc brings the draft back");
    chat.keys("<Tab><Up><Up><Up><Up>e 2<Enter>");
    let prompt = submitted(&mut chat);
    assert_eq!((prompt.text.as_str(), prompt.replaced_turns), ("two 2", 2));
    let screen = chat.screen();
    assert!(screen.contains("A1.") && !screen.contains("A2.") && !screen.contains("A3."));
    chat.turn_ends(TurnEnd::Cancelled).wait(2_000);
    assert!(
        chat.screen().contains("A3."),
        "an unanswered edit changes nothing"
    );
    chat.keys("/retry<Enter>");
    let prompt = submitted(&mut chat);
    assert_eq!((prompt.text.as_str(), prompt.replaced_turns), ("two 2", 2));
    answers_in_own_piece(&mut chat, "B2.");
    let screen = chat.screen();
    assert!(
        screen.contains("B2.") && !screen.contains("A3."),
        "{screen}"
    );
}

#[test]
fn an_edited_answer_is_not_sent_as_a_prompt() {
    let mut chat = three_turns();
    chat.keys("<Tab><Up><Up><Up>e");
    assert_eq!(chat.message(), "A2.");
    assert!(chat.screen().contains("Editing the answer to: two"));
    chat.keys("<Ctrl+u>/better<Enter>");
    let answer = "/better".to_owned();
    assert_eq!(
        chat.commands(),
        [Command::ReplaceAnswer {
            turns_from_end: 2,
            answer
        }]
    );
    assert_eq!(chat.message(), "");
}

#[test]
fn editing_during_a_turn_only_shows_a_notice() {
    let mut chat = three_turns();
    chat.keys("four<Enter>").model_says("thinking");
    chat.keys("<Tab><Up><Up><Up>e");
    assert_eq!(chat.notice(), "A turn is still running. Ctrl+C stops it.");
    assert_eq!(chat.message(), "");
}

#[test]
fn branches_of_a_message_are_requested_by_its_turn() {
    let mut chat = three_turns();
    chat.keys("<Tab><Up><Up><Up>b");
    let turns_from_end = Some(2);
    assert_eq!(chat.commands(), [Command::ListBranches { turns_from_end }]);
    chat.engine_event(Event::BranchesListed(Vec::new()));
    assert!(
        chat.notice()
            .starts_with("This message has no other branches.")
    );
}

#[test]
fn branches_are_listed_without_markup() {
    let mut chat = three_turns();
    chat.keys("<Tab><Up><Up><Up>b");
    let branch = |answer: &str| BranchSummary {
        first_prompt_line: "two".into(),
        first_answer_line: answer.into(),
        model: String::new(),
        answered_at: None,
        shared_messages: 2,
        own_messages: 2,
        left_at: None,
    };
    let answers = ["## **Bold** and `code`", "- see [the *page*](x)", "```rust"];
    let branches = answers.map(branch).to_vec();
    chat.engine_event(Event::BranchesListed(branches));
    let screen = chat.screen();
    for shown in ["  Bold and code  ", "  see the page", "  rust"] {
        assert!(screen.contains(shown), "{shown}: {screen}");
    }
    for markup in ["##", "**", "`", "]("] {
        assert!(!screen.contains(markup), "{markup}: {screen}");
    }
}

#[test]
fn ctrl_up_and_down_go_from_prompt_to_prompt() {
    let mut chat = three_turns();
    let selected = |chat: &mut ChatHarness| {
        let screen = chat.screen();
        let row = screen.lines().find(|row| row.starts_with("▌"));
        row.unwrap_or_default().trim_end().to_owned()
    };
    for expected in ["▌▌ three", "▌▌ two", "▌▌ one", "▌▌ one"] {
        chat.keys("<Ctrl+Up>");
        assert_eq!(selected(&mut chat), expected);
    }
    chat.keys("<Ctrl+Down>");
    assert_eq!(selected(&mut chat), "▌▌ two");
    chat.keys("e");
    assert_eq!(chat.message(), "two");
    chat.keys("<Esc><Ctrl+Up><Ctrl+Down>");
    assert_eq!(chat.model.panes.focus, Focus::Message, "below the last one");
    assert!(chat.model.chat.viewport.stop.is_none());
}

#[test]
fn the_hints_name_the_message_to_edit() {
    let mut chat = three_turns();
    chat.keys("<Tab><Up>");
    assert!(
        chat.screen().contains("e edit the answer"),
        "{}",
        chat.screen()
    );
    chat.keys("<Up>");
    let screen = chat.screen();
    assert!(screen.contains("e edit your message"), "{screen}");
}

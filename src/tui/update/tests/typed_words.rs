//! Words that the user types into a question that accepts keys answer nothing, and keys that come
//! too late for a question do nothing.

use crate::fixtures::tool_call;
use crate::questions;
use crate::tui::update::tests::*;

fn settings_question() -> Question {
    let old = Some("npx".to_owned());
    let change =
        crate::domain::SettingsChange::needs_consent("config.json", "`command`", old.clone(), old);
    questions::external_edit(&[change])
}

/// A question that only goes on.
fn round_limit() -> Question {
    questions::round_limit(10, false)
}

fn with_question(question: Question) -> ChatHarness {
    let mut chat = chat();
    chat.keys("sum<Enter>").ask_question(question).wait(600);
    chat.sent.clear();
    chat
}

fn answers(chat: &mut ChatHarness) -> usize {
    let commands = chat.commands();
    let is_answer = |command: &&Command| matches!(command, Command::Answer { .. });
    commands.iter().filter(is_answer).count()
}

#[test]
fn words_typed_into_an_idle_approval_go_to_the_message() {
    for (word, intervals) in [
        ("why", [60, 120, 250].as_slice()),
        ("hi y", &[60, 120, 250]),
        ("yes", &[10, 60, 140, 250]),
        ("say", &[10, 60, 140, 250]),
        ("y n", &[10, 60, 140, 250]),
        ("10 items", &[10, 60, 140, 250]),
        ("6 apples", &[10, 60, 140, 250]),
        ("ㅛㅕ", &[10, 60, 140, 250]),
        ("왜ㅛ", &[60, 140, 250]),
        ("ok y", &[60, 140, 250]),
        ("no", &[10, 60, 140, 250]),
        ("and then", &[10, 60, 140, 250]),
        ("edit", &[10, 60, 140, 250]),
        ("dog", &[10, 60, 140, 250]),
        ("ㅜㅜ", &[10, 60, 140, 250]),
    ] {
        for millis in intervals {
            let mut chat = ChatHarness::with_approval_dialog(&[1]);
            chat.wait(5_000).keys_every(*millis, word).wait(2_000);
            assert_eq!(answers(&mut chat), 0, "{word} every {millis} ms");
            assert_eq!(chat.message(), word, "every {millis} ms");
        }
    }
}

#[test]
fn words_answer_no_other_question_either() {
    for question in [settings_question(), round_limit()] {
        for millis in [10, 60, 140] {
            let mut chat = with_question(question.clone());
            chat.wait(5_000).keys_every(millis, "yes").wait(2_000);
            assert_eq!(answers(&mut chat), 0, "{question:?}");
            assert_eq!(chat.message(), "yes");
        }
        let mut chat = with_question(question.clone());
        chat.keys_every(250, "why").wait(2_000);
        assert_eq!((answers(&mut chat), chat.message()), (0, "why".to_owned()));
        let mut chat = with_question(question.clone());
        chat.keys_every(30, "y").wait(299);
        assert_eq!(answers(&mut chat), 0, "{question:?}");
        chat.wait(1);
        assert_eq!(answers(&mut chat), 1, "{question:?}");
    }
}

#[test]
fn a_letter_that_grants_waits_for_a_moment_and_is_highlighted() {
    for key in ["y", "ㅛ", "Y", "1", "s", "6"] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.keys_every(30, key);
        assert!(chat.model.dialogs.answering_letter().is_some(), "{key}");
        assert!(
            chat.model.dialogs.queued()[0]
                .highlighted_choice()
                .is_some()
        );
        let due = chat.model.next_wake().expect("a wake time");
        assert_eq!(due, chat.model.now + Duration::from_millis(300));
        chat.wait(299);
        assert_eq!(answers(&mut chat), 0, "{key}");
        chat.wait(1);
        assert_eq!(answers(&mut chat), 1, "{key}");
    }
    // Only Esc refuses without waiting.
    for (key, count) in [("n", 0), ("2", 0), ("9", 0), ("<Esc>", 1)] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.keys_every(30, key);
        assert_eq!(answers(&mut chat), count, "{key}");
        chat.wait(300);
        assert_eq!(answers(&mut chat), 1 - count, "{key}");
    }
}

#[test]
fn enter_confirms_a_letter_but_a_pasted_one_answers_nothing() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys_every(80, "y<Enter>");
    assert_eq!(chat.decisions(), [Decision::Run]);
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.type_at_once("y\n").wait(2_000);
    assert_eq!(answers(&mut chat), 0);
    for pasted in ["y\nls", "ye", "yy", "y\nn", "\nn"] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.type_at_once(pasted).wait(2_000);
        assert_eq!(answers(&mut chat), 0, "{pasted}");
    }
}

#[test]
fn any_key_postpones_a_grant_by_half_a_second() {
    for before in ["<PgDn>", "<Up>", "<F5>", "<Tab>", "q", "o", "?", "a"] {
        for grant in ["y", "1", "s", "<Enter>"] {
            let mut chat = ChatHarness::with_approval_dialog(&[1]);
            chat.keys("<Down>").wait(600).keys_every(30, before);
            chat.keys_every(400, grant).wait(1_000);
            assert_eq!(answers(&mut chat), 0, "{before} {grant}");
            assert!(chat.is_asking());
        }
    }
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("<PgDn>").keys_every(400, "y");
    let notice = "Too soon after another key. Pause, then press it again.";
    assert_eq!(chat.notice(), notice);
    chat.wait(600).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
    // A pattern is not stored at once either.
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("8").keys_every(100, "<Enter>");
    assert_eq!(answers(&mut chat), 0);
    chat.wait(600).keys("<Enter>");
    assert!(matches!(
        chat.decisions()[..],
        [Decision::RunMatching { .. }]
    ));
}

#[test]
fn a_letter_that_only_scrolls_to_the_rest_acts_at_once() {
    let lines: Vec<String> = (0..60).map(|n| format!("<{n}>")).collect();
    let mut chat = read_before_run::with_tool_call((80, 24), "", &json!({ "lines": lines }));
    chat.wait(1_000).keys_every(30, "y");
    let first = chat.model.dialogs.queued()[0].scroll;
    assert!(first > 0);
    chat.keys_every(200, "y");
    assert!(chat.model.dialogs.queued()[0].scroll > first);
}

#[test]
fn a_letter_that_only_scrolled_grants_nothing_that_came_into_view_since() {
    let lines: Vec<String> = (0..60).map(|n| format!("<{n}>")).collect();
    let mut chat = read_before_run::with_tool_call((80, 24), "", &json!({ "lines": lines }));
    chat.model.composer.editor.set("draft");
    chat.wait(1_000).keys_every(30, "y");
    chat.size(80, 200).wait(1_000);
    assert_eq!(answers(&mut chat), 0);
    chat.keys("y").wait(1_000);
    assert_eq!(answers(&mut chat), 1);
}

#[test]
fn a_released_or_repeated_key_is_no_second_letter() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys_every(30, "y");
    for kind in [KeyEventKind::Release, KeyEventKind::Repeat] {
        let key = KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, kind);
        chat.wait(40).input(UiInput::Key(key));
    }
    chat.wait(300);
    assert_eq!(chat.decisions(), [Decision::Run]);
    assert_eq!(chat.message(), "");
}

#[test]
fn enter_held_down_after_an_answer_does_not_send_the_message() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.model.composer.editor.set("draft");
    chat.keys("<Down>").wait(600).keys("<Enter>");
    assert_eq!(chat.decisions(), [Decision::Run]);
    chat.wait(640).keys_every(33, &"<Enter>".repeat(30));
    assert_eq!(chat.message(), "draft");
}

#[test]
fn a_repeat_of_the_key_that_answered_does_nothing() {
    for (key, repeats) in [("n", "n"), ("y", "y"), ("6", "6"), ("1", "1")] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.keys(key);
        chat.keys_every(250, repeats)
            .keys_every(60, &repeats.repeat(20));
        assert_eq!(chat.message(), "", "{key}");
        // Another letter, or the same one later, is text.
        chat.wait(300).keys("x").keys(repeats);
        assert_eq!(chat.message(), format!("x{repeats}"));
    }
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("y").keys_every(100, "y").wait(1_000);
    assert_eq!((answers(&mut chat), chat.message()), (0, String::new()));
}

#[test]
fn keys_of_a_question_that_closed_by_itself_do_nothing_for_a_moment() {
    for key in ["y", "6", "n", "ㅛ", "o", "?"] {
        let mut chat = ChatHarness::with_approval_dialog(&[1]);
        chat.engine_event(Event::AskClosed(AskId(7))).keys(key);
        assert_eq!(chat.message(), "", "{key}");
    }
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.engine_event(Event::AskClosed(AskId(7)))
        .keys("wh")
        .wait(250)
        .keys("y");
    assert_eq!(chat.message(), "why");
    // The user was typing, so the question had no key yet.
    let mut chat = chat_with_question_while_typing();
    chat.engine_event(Event::AskClosed(AskId(7))).keys("y");
    assert_eq!(chat.message(), "wh y".replace(' ', ""));
}

fn chat_with_question_while_typing() -> ChatHarness {
    let mut chat = chat();
    chat.keys("sum<Enter>").ask_about_calls(&[1]);
    chat.keys("wh");
    chat
}

#[test]
fn enter_meant_for_a_question_that_closed_does_not_send_the_message() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.model.composer.editor.set("draft");
    chat.keys("<Down>").engine_event(Event::AskClosed(AskId(7)));
    chat.turn_event(TurnEvent::Tool(tool_call("sums", "add", json!({ "a": 1 }))));
    chat.keys("<Enter>");
    assert_eq!(chat.message(), "draft");
    chat.wait(400).keys("<Enter>");
    assert_eq!(chat.message(), "");
}

#[test]
fn enter_after_a_digit_that_has_already_chosen_does_nothing() {
    let mut chat = chat();
    let servers = ["docs", "files"].map(|name| fixtures::server(name, vec![]));
    chat.engine_event(Event::ServersListed(servers.into()));
    chat.keys("/toggle-mcp<Enter>").wait(600);
    chat.keys("0");
    assert!(chat.model.layer.is_none());
    chat.model.composer.editor.set("draft");
    chat.keys_every(400, "<Enter>");
    assert_eq!(chat.message(), "draft");
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["draft"]);
}

#[test]
fn enter_after_text_that_arrived_at_once_is_not_part_of_the_choice_before_it() {
    let mut chat = chat();
    chat.engine_event(Event::ServersListed(
        [fixtures::server("docs", vec![])].into(),
    ));
    chat.keys("/toggle-mcp<Enter>").wait(600);
    chat.keys("0").type_at_once("hello\n");
    chat.wait(100);
    assert_eq!(chat.prompts(), ["hello"]);
}

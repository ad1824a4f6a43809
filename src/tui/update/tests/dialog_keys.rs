//! Global keys while a dialog is open: some act at once, and each of the others shows a notice.

use crate::fixtures::tool_from;
use crate::questions;
use crate::tui::dialog::state::DialogMode;
use crate::tui::keymap::Action;
use crate::tui::update::tests::read_before_run::with_tool_call;
use crate::tui::update::tests::*;

fn long_call(size: (u16, u16)) -> ChatHarness {
    let lines: Vec<String> = (0..40).map(|n| format!("<{n}>")).collect();
    with_tool_call(size, "", &json!({ "lines": lines }))
}

fn settings_question() -> Question {
    let old = Some("npx".to_owned());
    let change =
        crate::domain::SettingsChange::needs_consent("config.json", "`command`", old.clone(), old);
    questions::external_edit(&[change])
}

#[test]
fn help_and_log_cover_a_dialog_and_lead_back_to_it() {
    for (opens, title) in [("<F1>", "── Help ─"), ("<F12>", " Log")] {
        let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
        chat.keys("<Right>")
            .wait(600)
            .keys(&format!("dnot now{opens}"));
        let screen = chat.screen();
        assert!(screen.contains(title), "{screen}");
        assert!(!screen.contains("Tell the model why"), "{screen}");
        chat.keys("<PgDn>y<Esc><Esc><Esc>");
        assert_eq!(chat.commands(), [], "{opens}");
        let screen = chat.screen();
        assert!(screen.contains("not now"), "{screen}");
        assert!(screen.contains("2 of 2"), "{screen}");
        chat.wait(600).keys("!<Enter>").wait(600).keys("y");
        let message = Some("not now!".to_owned());
        assert_eq!(
            chat.decisions(),
            [Decision::Run, Decision::Deny { message }],
            "{opens}"
        );
    }
}

#[test]
fn a_covered_dialog_is_not_drawn_and_takes_no_key() {
    let mut chat = long_call((80, 24));
    let undrawn_before = chat.model.dialogs.queued()[0].undrawn_rows;
    chat.keys("<F1><PgDn><PgDn><PgDn>").wait(2_000).keys("y");
    assert_eq!(
        chat.model.next_wake(),
        None,
        "nothing waits for a key pause"
    );
    chat.input(UiInput::Paste("y".into()));
    assert!(chat.model.is_layer_open(Action::HELP));
    chat.keys("<Esc><Esc>");
    assert_eq!(chat.model.dialogs.queued()[0].undrawn_rows, undrawn_before);
    // The key that closes the help must not be followed by one that refuses.
    chat.keys("<Esc>");
    assert_eq!((chat.commands(), chat.message()), (vec![], String::new()));
    chat.wait(600).keys("<Esc>");
    assert_eq!(chat.decisions(), [Decision::Refuse]);
}

#[test]
fn a_question_that_comes_later_covers_the_help() {
    let mut chat = chat();
    chat.keys("sum<Enter><F1>").ask_about_calls(&[1]).wait(600);
    assert!(chat.screen().contains("Call now? (Y/N)"));
    chat.keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
    assert!(chat.model.is_layer_open(Action::HELP));
}

#[test]
fn keys_that_do_nothing_before_the_answer_show_a_notice() {
    for key in [
        "<Ctrl+p>", "<Ctrl+o>", "<F4>", "<Ctrl+f>", "<Ctrl+r>", "<F2>", "<F3>", "<Tab>", "q",
        "<Enter>", "<Space>", "<Alt+r>", "<Ctrl+g>",
    ] {
        let mut chat = long_call((80, 24));
        assert!(chat.screen().contains(": PgDn or y"));
        chat.keys(key);
        let notice = chat.notice();
        assert_eq!(
            notice, "Answer the question first: y n d e s a o ?.",
            "{key}"
        );
        assert!(chat.screen().contains(&notice), "{key}");
        assert_eq!(chat.model.dialogs.queued().len(), 1, "{key}");
        assert!(chat.model.layer.is_none() && chat.message().is_empty());
        // The next key that does something dismisses it.
        chat.keys("<PgDn>");
        assert_eq!(chat.notice(), "", "{key}");
        assert!(chat.screen().contains(": PgDn or y"));
    }
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<Ctrl+p>");
    assert_eq!(
        chat.notice(),
        "Finish this field first: Enter, or Esc to go back."
    );
    chat.keys("x");
    assert_eq!(chat.notice(), "");
}

#[test]
fn a_notice_about_a_key_ends_with_its_dialog() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("q").engine_event(Event::AskClosed(AskId(7)));
    assert_eq!(chat.notice(), "");
}

#[test]
fn the_sidebar_opens_and_closes_beside_a_dialog() {
    let mut chat = long_call((120, 30));
    let servers = ["docs", "files"].map(|name| fixtures::server(name, vec![]));
    chat.engine_event(Event::ServersListed(servers.into()));
    assert!(chat.screen().contains("│ Servers"), "{}", chat.screen());
    chat.wait(600).keys("<F2>");
    assert!(!chat.screen().contains("│ Servers"), "{}", chat.screen());
    chat.keys("<F2>");
    assert!(chat.screen().contains("│ Servers"));
    assert_eq!(chat.notice(), "");
    chat.keys("n");
    assert_eq!(chat.decisions(), [Decision::Refuse]);
}

#[test]
fn ctrl_c_interrupts_at_once_and_keeps_the_message() {
    let mut turn = chat();
    turn.keys("sum<Enter>abc").ask_about_calls(&[1]).keys("d");
    turn.sent.clear();
    turn.keys("<Ctrl+c>");
    assert_eq!(turn.commands(), [Command::Interrupt]);
    assert_eq!(turn.message(), "abcd");
    let mut settings = chat();
    settings.keys("abc").ask_question(settings_question());
    settings.sent.clear();
    settings.keys("<Ctrl+c>");
    let answer = UserAnswer::Dismissed;
    let dismissed = Command::Answer {
        ask: AskId(7),
        answer,
    };
    assert_eq!(settings.commands(), [dismissed]);
    assert_eq!(settings.message(), "abc");
}

#[test]
fn ctrl_c_closes_the_help_before_the_dialog_below_it() {
    let mut chat = chat();
    chat.ask_question(settings_question())
        .wait(600)
        .keys("<F1><Ctrl+c>");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.model.dialogs.queued().len(), 1);
}

#[test]
fn a_pattern_opens_with_the_cursor_at_the_start() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("8").keys("#");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert!(editor.text().starts_with("#{"), "{}", editor.text());
}

#[test]
fn a_value_of_one_line_is_edited_from_its_end_or_switched_with_space() {
    let tool = json!({"name": "w", "inputSchema": {"type": "object", "properties": {
        "mode": {"enum": ["fast", "slow"]}, "dry": {"type": "boolean"},
    }}});
    let arguments = json!({ "text": "a\nb", "mode": "fast", "dry": false, "count": 12 });
    for (value, keys, edited) in [
        ("2", "<Space>", json!("slow")),
        ("2", "<Space><Space><Space>", json!("slow")),
        ("2", "<Ctrl+u><Space><Space>", json!("slow")),
        ("3", "<Space>", json!(true)),
        ("3", "<Ctrl+u>true", json!(true)),
        ("4", "3", json!(123)),
        ("4", "<Home><Ctrl+u>7", json!(7)),
        ("1", "x", json!("xa\nb")),
    ] {
        let mut chat = chat();
        chat.keys("go<Enter>");
        chat.sent.clear();
        chat.turn_event(TurnEvent::Tool(ToolCall {
            id: CallId(1),
            ..crate::fixtures::tool_call("files", "w", arguments.clone())
        }));
        let tool = Arc::new(tool_from(&tool));
        let call = CallId(1);
        chat.ask_question(questions::approve(vec![CallToApprove { call, tool }]));
        chat.wait(1_000).keys("e").keys(value);
        let has_options = matches!(value, "2" | "3");
        let screen = chat.screen();
        assert_eq!(screen.contains("Space switch"), has_options, "{screen}");
        chat.keys(keys).keys("<Enter>").accept_check();
        chat.wait(1_000).keys("y");
        let decisions = chat.decisions();
        let [Decision::Edit { arguments }] = decisions.as_slice() else {
            panic!("{value} {keys}: {decisions:?}");
        };
        let key = ["text", "mode", "dry", "count"][value.parse::<usize>().expect("a digit") - 1];
        assert_eq!(arguments[key], edited, "{value} {keys}");
    }
}

#[test]
fn space_on_a_row_of_the_values_switches_the_value() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "count": 1, "dry": false }));
    chat.wait(1_000).keys("e<Down><Space>");
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert_eq!(editor.text(), "true");
}

#[test]
fn a_quoted_string_is_edited_as_text() {
    let text = format!("{} ", "word ".repeat(30).trim());
    for (arguments, text) in [
        (json!({ "a": text }), text.as_str()),
        (json!({ "a": "42" }), "42"),
    ] {
        let mut chat = with_tool_call((80, 24), "", &arguments);
        chat.wait(1_000).keys("e");
        let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
            panic!("no field is open");
        };
        assert_eq!(editor.text(), text);
        chat.keys("x<Enter>").accept_check();
        assert_eq!(chat.commands(), [], "read again before it runs");
        chat.wait(1_000).keys("y");
        let edited = json!({ "a": format!("{text}x") });
        let arguments = edited.as_object().expect("an object").clone().into();
        assert_eq!(chat.decisions(), [Decision::Edit { arguments }]);
    }
}

#[test]
fn a_field_distinguishes_texts_that_look_the_same() {
    for (text, shown) in [
        ("\u{1100}\u{1161}", "⟨U+1100⟩⟨U+1161⟩"),
        ("a\u{2011}b\tc", "a⟨U+2011⟩b⇥   c"),
        ("⟨U+2011⟩", "⟨U+27E8⟩U+2011⟩"),
        ("가-é", "가-é"),
    ] {
        // A text of several lines gets a field of its own.
        let mut chat = with_tool_call((80, 24), "", &json!({ "a": format!("{text}\n") }));
        chat.wait(1_000).keys("e");
        let screen = chat.screen();
        let is_shown = |row: &str| row.replace(' ', "") == shown.replace(' ', "");
        assert!(screen.lines().any(is_shown), "{screen}");
    }
}

#[test]
fn an_external_editor_changes_only_the_field_that_it_was_opened_for() {
    let closed = |text: &str| UiInput::EditorClosed(Ok(text.to_owned()));
    // The dialog is gone, so the edited text must not land in the message.
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<Ctrl+g>")
        .engine_event(Event::AskClosed(AskId(7)));
    chat.input(closed("{}"));
    assert_eq!(chat.message(), "");
    // The help was closed just before, so the key still belongs to the message.
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("e<F1><Esc><Ctrl+g>")
        .input(closed("for the message"));
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert_eq!(editor.text(), "1");
    assert_eq!(chat.message(), "for the message");
    chat.wait(600).keys("<Ctrl+g>").input(closed("[]"));
    let DialogMode::EditArguments { editor, .. } = &chat.model.dialogs.queued()[0].mode else {
        panic!("no field is open");
    };
    assert_eq!(editor.text(), "[]");
}

#[test]
fn a_letter_that_came_too_early_for_the_question_can_be_deleted() {
    let mut chat = ChatHarness::with_approval_dialog(&[1]);
    chat.keys("<Backspace>");
    assert!(chat.notice().contains("Answer the question first"));
    let mut chat = chat_with_early_key();
    assert_eq!(chat.message(), "y");
    chat.wait(1_000).keys("<Backspace>");
    assert_eq!(chat.message(), "");
    // A field of the dialog hides the message and has its own Backspace.
    chat.keys("dab<Backspace>");
    let screen = chat.screen();
    assert!(screen.contains("Tell the model why"), "{screen}");
    assert!(!screen.contains('›'), "{screen}");
    chat.keys("<Enter>");
    let message = Some("a".to_owned());
    assert_eq!(chat.decisions(), [Decision::Deny { message }]);
}

/// A chat in which `y` was pressed just before the dialog appeared.
fn chat_with_early_key() -> ChatHarness {
    let mut chat = chat();
    chat.keys("go<Enter>");
    chat.sent.clear();
    let call = crate::fixtures::tool_call("files", "w", json!({ "a": 1 }));
    let call = ToolCall {
        id: CallId(1),
        state: ToolState::AwaitingApproval,
        ..call
    };
    chat.turn_event(TurnEvent::Tool(call)).keys("y");
    let tool = Arc::new(tool_from(
        &json!({"name": "w", "inputSchema": {"type": "object"}}),
    ));
    let call = CallId(1);
    chat.ask_question(questions::approve(vec![CallToApprove { call, tool }]));
    chat
}

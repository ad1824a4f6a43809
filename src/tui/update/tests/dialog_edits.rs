//! Editing a call: the page of values, the return to the question, and undoing the edit.

use crate::fixtures::tool_from;
use crate::questions;
use crate::text::json_changes::JsonChange;
use crate::tui::update::tests::read_before_run::with_tool_call;
use crate::tui::update::tests::*;

fn write_call() -> ChatHarness {
    with_tool_call(
        (80, 24),
        "",
        &json!({ "path": "a.py", "content": "one\ntwo" }),
    )
}

#[test]
fn an_edit_returns_to_the_question_and_is_confirmed_there() {
    for (arguments, keys, shown) in [
        (json!({ "a": 1 }), "e<Down><End>2<Enter>", "a  12"),
        (
            json!({ "path": "a.py", "content": "one\ntwo" }),
            "e2zero <Enter>",
            "1  zero one",
        ),
        (
            json!({ "text": "one\ntwo" }),
            "ezero <Enter>",
            "1  zero one",
        ),
    ] {
        let mut chat = with_tool_call((80, 24), "", &arguments);
        chat.wait(1_000).keys(keys).accept_check();
        assert_eq!(chat.commands(), [], "nothing runs from a field");
        let screen = chat.wait(600).screen();
        for part in [shown, "── edited ─", "y run as edited", "Esc discard edit"] {
            assert!(screen.contains(part), "{part}\n{screen}");
        }
        chat.wait(600).keys("y");
        assert!(matches!(&chat.decisions()[..], [Decision::Edit { .. }]));
    }
}

#[test]
fn esc_discards_the_edit_before_it_refuses_the_call() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.wait(1_000)
        .keys("e<Down><End>2<Enter>")
        .accept_check()
        .wait(1_000)
        .keys("<Esc>");
    assert_eq!(chat.commands(), []);
    let screen = chat.screen();
    assert!(screen.contains("  a  1 "), "{screen}");
    assert!(
        !screen.contains("edited") && !screen.contains("discards"),
        "{screen}"
    );
    // Held down, it does not refuse the call.
    chat.keys("<Esc>");
    assert_eq!(chat.commands(), []);
    chat.wait(1_000).keys("<Esc>");
    assert_eq!(chat.decisions(), [Decision::Refuse]);
    // The original arguments run only after they have been drawn again.
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.keys("e<Down><End>2<Enter>").accept_check();
    chat.wait(1_000).keys("<Esc>y");
    assert_eq!(chat.commands(), []);
    chat.wait(1_000).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn an_edit_that_changes_nothing_is_discarded() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.wait(1_000).keys("e<Enter>").accept_check();
    assert!(!chat.screen().contains("edited"));
    // Rows that were drawn before the edit still count as drawn.
    chat.wait(600).keys("s");
    assert_eq!(chat.decisions(), [Decision::RunForSession]);
    // A second edit restores the model's own arguments.
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.keys("e<Down><End>2<Enter>").accept_check();
    assert!(chat.screen().contains("edited"));
    chat.wait(1_000)
        .keys("e<Down><End><Backspace><Enter>")
        .accept_check();
    assert!(!chat.screen().contains("edited"));
    chat.wait(1_000).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn the_page_of_values_shows_its_own_keys_and_its_selection() {
    let mut chat = write_call();
    chat.wait(1_000).keys("e");
    let screen = chat.screen();
    for part in ["Edit which value?   Enter edit  Esc back", "0 all as JSON"] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    assert!(
        !screen.contains("Call now?") && !screen.contains("y run"),
        "{screen}"
    );
    let is_marked = |row: &str| row.starts_with('▌') && row.contains("path");
    assert!(screen.lines().any(is_marked), "{screen}");
    chat.keys("<Down><Enter>");
    assert!(chat.screen().contains("Edit content:"), "{}", chat.screen());
    chat.keys("<Esc>");
    assert!(chat.screen().contains("Edit which value?"));
    chat.wait(1_000).keys("<Esc>");
    assert!(chat.screen().contains("Call now? (Y/N)"));
}

#[test]
fn the_selected_value_stays_in_view() {
    let values = (0..50).map(|n| (format!("key_{n}"), json!(n)));
    let mut arguments: serde_json::Map<_, _> = values.collect();
    arguments.insert("text".to_owned(), json!("a\nb"));
    let mut chat = with_tool_call((80, 24), "", &arguments.into());
    chat.wait(1_000).keys("e");
    for _ in 0..40 {
        chat.keys("<Down>");
    }
    let screen = chat.screen();
    let is_marked = |row: &str| row.starts_with('▌') && row.contains("key_40");
    assert!(screen.lines().any(is_marked), "{screen}");
    chat.keys("<Enter>");
    assert!(chat.screen().contains("Edit key_40:"), "{}", chat.screen());
}

#[test]
fn a_small_page_of_values_marks_truncated_rows() {
    let arguments = json!({ "a_long_argument": "one\ntwo", "another_long_one": "three" });
    let mut chat = with_tool_call((20, 6), "", &arguments);
    chat.wait(1_000).keys("e");
    let screen = chat.screen();
    assert!(screen.contains("Edit which value?"), "{screen}");
    assert!(screen.contains("Enter edit Esc back"), "{screen}");
    let is_cut = |row: &str| row.contains("a_long_argu") && row.trim_end().ends_with('…');
    assert!(screen.lines().any(is_cut), "{screen}");
}

#[test]
fn a_small_dialog_names_the_position_the_warning_and_all_keys() {
    let mut chat = chat();
    chat.size(20, 6).keys("go<Enter>");
    let definition = json!({
        "name": "rm", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true},
    });
    let tool = Arc::new(tool_from(&definition));
    let calls = [1, 2, 3].map(|id| CallToApprove {
        call: CallId(id),
        tool: Arc::clone(&tool),
    });
    for id in [1, 2, 3] {
        let path = "/very/long/path/".repeat(4);
        let call = crate::fixtures::tool_call("files", "rm", json!({ "path": path }));
        chat.turn_event(TurnEvent::Tool(ToolCall {
            id: CallId(id),
            ..call
        }));
    }
    chat.ask_question(questions::approve(calls.to_vec()))
        .wait(600)
        .keys("<Right><Right><Left>");
    let screen = chat.screen();
    for part in ["2/3", "destructive", "y n d e s a 0 ?", "↓"] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    // At any size, the position and the warning are shown somewhere.
    for width in 20..=120 {
        for height in [6, 9, 12, 24] {
            let screen = chat.size(width, height).screen();
            let is_placed = screen.contains("2/3") || screen.contains("2 of 3");
            let is_warned = ["destructive", "/3!", "/3 !"]
                .iter()
                .any(|warning| screen.contains(warning));
            assert!(is_placed && is_warned, "{width}x{height}\n{screen}");
        }
    }
}

#[test]
fn the_dialog_shows_the_changes_made_by_parsing() {
    let mut chat = with_tool_call((60, 20), "", &json!({ "path": "b" }));
    let changes = [
        JsonChange::RepeatedKey {
            key: "path".to_owned(),
            count: 2,
        },
        JsonChange::Number {
            written: "10000000000000000000001".to_owned(),
            kept: "1e22".to_owned(),
        },
        JsonChange::LoneSurrogate {
            written: r"\ud83d".to_owned(),
        },
        // This key tries to imitate an argument.
        JsonChange::RepeatedKey {
            key: format!("{}path  /safe\n  path  /safe", " x".repeat(30)),
            count: 3,
        },
    ];
    chat.turn_event(TurnEvent::Tool(ToolCall {
        json_changes: changes.into(),
        ..crate::fixtures::tool_call("files", "write", json!({ "path": "b" }))
    }));
    let screen = chat.screen();
    for part in [
        r#"! The model wrote "path" twice; the last one is used."#,
        "! The model wrote 10000000000000000000001; the number",
        "! becomes 1e22.",
        r"! The model wrote \ud83d, half of a character; it becomes",
        "! U+FFFD.",
        "3 times;",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    let is_imitation = |row: &str| row.contains("/safe") && !row.starts_with("! ");
    assert!(!screen.lines().any(is_imitation), "{screen}");
    // The rows are about the model's own arguments.
    chat.wait(1_000)
        .keys("e<Down><End><Left>c<Enter>")
        .accept_check();
    let screen = chat.screen();
    assert!(
        screen.contains("edited") && !screen.contains("! The model"),
        "{screen}"
    );
}

#[test]
fn an_edit_keeps_the_line_endings_of_other_lines() {
    let arguments = json!({ "path": "a\rb", "content": "one\r\ntwo\rthree\nfour\r\n" });
    let mut chat = with_tool_call((80, 24), "", &arguments);
    chat.wait(1_000).keys("e2<Enter>").accept_check();
    assert!(!chat.screen().contains("edited"), "{}", chat.screen());
    chat.wait(600).keys("e2<Down>2<Enter>").accept_check();
    chat.wait(1_000);
    chat.screen();
    chat.wait(1_000).keys("y");
    let expected = json!({ "path": "a\rb", "content": "one\r\n2two\rthree\nfour\r\n" });
    match &chat.decisions()[..] {
        [Decision::Edit { arguments }] => assert_eq!(json!(arguments), expected),
        other => panic!("{other:?}"),
    }
    let mut chat = with_tool_call((80, 24), "", &arguments);
    chat.wait(1_000).keys("e2<Enter>").accept_check();
    chat.wait(1_000).keys("y");
    assert_eq!(chat.decisions(), [Decision::Run]);
}

#[test]
fn an_edited_call_is_marked_at_any_size() {
    let arguments = json!({ "path": "a.py", "content": "one\ntwo\n".repeat(20) });
    let mut chat = with_tool_call((80, 24), "", &arguments);
    chat.wait(1_000).keys("e2zero <Enter>").accept_check();
    for columns in [20, 24, 39, 40, 45, 53, 54, 60, 80, 120] {
        for rows in [6, 9, 12, 24] {
            let screen = chat.size(columns, rows).screen();
            // The label of the choice does not count.
            let is_marked = screen.replace("run as edited", "").contains("edited");
            assert!(is_marked, "{columns}x{rows}\n{screen}");
        }
    }
}

#[test]
fn the_draft_of_an_edit_survives_layers_and_resizes() {
    let mut chat = write_call();
    chat.wait(1_000).keys("e2zero ");
    for keys in ["<F1>", "<F12>", "<F4>", "<Ctrl+P>", "<Ctrl+L>"] {
        chat.keys(keys).wait(600);
        chat.screen();
        chat.wait(5_000);
        if !chat.screen().contains("Edit content:") {
            chat.keys("<Esc>").wait(600);
        }
        let screen = chat.screen();
        assert!(
            screen.contains("Edit content:") && screen.contains("zero one"),
            "{keys}\n{screen}"
        );
    }
    for size in [(20, 6), (12, 3), (4, 2), (1, 1), (80, 24)] {
        chat.size(size.0, size.1).screen();
    }
    let screen = chat.wait(1_000).screen();
    assert!(screen.contains("zero one"), "{screen}");
    // After Esc the edit is kept, even if another value is opened in between.
    chat.keys("<Esc><Up><Enter>");
    assert!(chat.screen().contains("Edit path:"), "{}", chat.screen());
    chat.keys("<Esc><Down><Enter>");
    let screen = chat.screen();
    assert!(screen.contains("zero one"), "{screen}");
}

#[test]
fn the_draft_of_an_edited_call_is_kept_while_another_call_is_shown() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.wait(1_000).keys("e");
    let before = chat.screen();
    chat.keys("zero<Esc><Right>").wait(600);
    chat.screen();
    chat.keys("<Left>").wait(600).keys("e");
    let screen = chat.screen();
    assert!(screen.contains("zero") && screen != before, "{screen}");
}

/// A chat in which the question about two calls has just appeared.
fn chat_asking_for_two_calls() -> ChatHarness {
    let mut chat = chat();
    chat.keys("go<Enter>");
    let tool = Arc::new(tool_from(
        &json!({"name": "w", "inputSchema": {"type": "object"}}),
    ));
    for (id, path) in [(1, "first"), (2, "second")] {
        let call = crate::fixtures::tool_call("files", "w", json!({ "path": path }));
        chat.turn_event(TurnEvent::Tool(ToolCall {
            id: CallId(id),
            state: ToolState::AwaitingApproval,
            ..call
        }));
    }
    let calls = [1, 2].map(|id| CallToApprove {
        call: CallId(id),
        tool: Arc::clone(&tool),
    });
    chat.ask_question(questions::approve(calls.to_vec()))
        .sent
        .clear();
    chat
}

#[test]
fn a_decided_edit_can_be_viewed_again_and_discarded() {
    let mut chat = chat_asking_for_two_calls();
    chat.wait(1_000);
    chat.keys("e!<Enter>").accept_check();
    chat.wait(1_000).screen();
    chat.keys("y").wait(1_000).screen();
    let back = chat.keys("<Left>").wait(1_000).screen();
    for part in [
        "path  first!",
        "edited",
        "1 of 2, decided",
        "approved, not yet run",
    ] {
        assert!(back.contains(part), "{part}\n{back}");
    }
    assert_eq!(chat.commands(), []);
    // The remaining call can be run from here too, once it has been shown.
    assert!(back.contains("0 the rest"), "{back}");
    // The edit is gone, and with it the decision.
    chat.keys("<Esc>");
    let original = chat.wait(1_000).screen();
    assert!(
        !original.contains("decided") && !original.contains("first!"),
        "{original}"
    );
    chat.keys("y").wait(1_000).screen();
    chat.keys("y");
    assert_eq!(chat.decisions(), [Decision::Run, Decision::Run]);
}

#[test]
fn repeated_esc_refuses_but_repeated_letters_do_not() {
    let mut chat = with_tool_call((80, 24), "", &json!({ "a": 1 }));
    chat.keys("<Esc>");
    assert_eq!(chat.decisions(), [Decision::Refuse]);
    // Keys that the user has been pressing since before the question appeared.
    for (key, is_answer) in [("<Esc>", true), ("n", false)] {
        let mut chat = chat_asking_for_two_calls();
        for _ in 0..6 {
            chat.keys(key).wait(300);
        }
        let is_answered = |command: &Command| matches!(command, Command::Answer { .. });
        assert_eq!(chat.commands().iter().any(is_answered), is_answer, "{key}");
    }
}

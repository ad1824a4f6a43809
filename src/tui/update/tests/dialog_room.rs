//! The rows around a dialog's body: counts, keys and notices, at every width.

use crate::fixtures::tool_from;
use crate::questions;
use crate::text::json_changes::JsonChange;
use crate::tui::update::tests::read_before_run::with_tool_call;
use crate::tui::update::tests::*;

fn lines(count: usize) -> serde_json::Value {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
    json!({ "text": lines.join("\n") })
}

/// The first number after `before` in the last row that contains `mark`.
fn number_after(screen: &str, mark: &str, before: &str) -> Option<usize> {
    let row = screen.lines().rfind(|row| row.contains(mark))?;
    let (_, after) = row.split_once(before)?;
    after.split_whitespace().next()?.parse().ok()
}

#[test]
fn the_mark_for_rows_below_and_the_hint_give_the_same_count() {
    let mut chat = with_tool_call((80, 24), "Writes.", &lines(100));
    for _ in 0..4 {
        let screen = chat.screen();
        let marks = number_after(&screen, "↓", "↓").expect("rows below");
        let hint = number_after(&screen, "PgDn or y", " ").expect("a hint");
        assert_eq!(marks, hint, "{screen}");
        chat.keys("<PgDn>");
    }
}

#[test]
fn the_hint_points_to_undrawn_rows() {
    let mut chat = with_tool_call((80, 24), "Writes.", &lines(100));
    chat.screen();
    chat.wait(600).keys("<End>");
    let screen = chat.screen();
    assert!(screen.contains("more rows: PgUp or y"), "{screen}");
    for _ in 0..20 {
        chat.keys("<PgUp>");
        chat.screen();
    }
    assert!(!chat.screen().contains(" or y"), "{}", chat.screen());
}

#[test]
fn the_mark_and_the_hint_agree_for_a_call_that_parsing_changed() {
    for (width, height) in [(40, 14), (60, 16), (80, 24)] {
        let changes = ["path", "text", "content", "mode"].map(|key| JsonChange::RepeatedKey {
            key: key.to_owned(),
            count: 2,
        });
        let mut chat = chat();
        chat.size(width, height).keys("go<Enter>");
        let call = ToolCall {
            json_changes: changes.into(),
            ..crate::fixtures::tool_call("files", "write", lines(60))
        };
        chat.turn_event(TurnEvent::Tool(call));
        let definition = json!({ "name": "write", "inputSchema": {"type": "object"} });
        let tool = Arc::new(tool_from(&definition));
        let call = CallId(1);
        chat.ask_question(questions::approve(vec![CallToApprove { call, tool }]));
        chat.wait(600);
        for _ in 0..4 {
            let screen = chat.wait(600).screen();
            let marks = number_after(&screen, "↓", "↓").expect("rows below");
            let hint = number_after(&screen, "more rows:", " ");
            let hint = hint.unwrap_or_else(|| panic!("a hint\n{screen}"));
            assert_eq!(marks, hint, "{width}x{height}\n{screen}");
            chat.keys("<PgDn>");
        }
    }
}

#[test]
fn the_question_mark_never_wraps_alone() {
    for mut chat in [
        with_tool_call((80, 24), "", &json!({ "a": 1 })),
        ChatHarness::with_approval_dialog(&[1, 2]),
    ] {
        chat.keys("<Right>").wait(600);
        for width in 40..=130 {
            let screen = chat.size(width, 30).screen();
            let alone = screen.lines().find(|row| row.trim() == "?");
            assert_eq!(alone, None, "{width}\n{screen}");
            assert!(screen.contains(" ?"), "{width}\n{screen}");
        }
    }
}

#[test]
fn a_notice_about_a_key_stays_in_the_hint_line() {
    for (width, height) in [(40, 14), (60, 20), (80, 24), (120, 40)] {
        let mut chat = with_tool_call((width, height), "", &json!({ "a": 1 }));
        let before = chat.screen();
        chat.keys("x");
        let screen = chat.screen();
        assert!(screen.contains("Answer "), "{screen}");
        let above = |screen: &str| {
            let rows: Vec<String> = screen.lines().map(str::to_owned).collect();
            rows[..rows.len() - 1].to_vec()
        };
        assert_eq!(above(&before), above(&screen), "{width}");
        chat.keys("y");
        assert!(!chat.screen().contains("Answer "), "{}", chat.screen());
    }
}

#[test]
fn a_layer_over_a_question_shows_its_own_keys() {
    for (opens, filter) in [("<F1>", "scroll"), ("<F12>", "")] {
        let mut chat = with_tool_call((80, 24), "", &lines(100));
        chat.keys(opens);
        let screen = chat.screen();
        assert!(screen.contains("Esc close"), "{opens}: {screen}");
        assert!(!screen.contains("Enter send"), "{opens}: {screen}");
        let before = chat.screen();
        if opens == "<F1>" {
            chat.keys("<PgDn>");
            assert_ne!(chat.screen(), before, "PgDn scrolls the help");
            chat.keys(filter);
            assert!(chat.screen().contains(filter), "{}", chat.screen());
        }
        chat.keys("<Esc><Esc>").wait(600);
        let screen = chat.screen();
        let hints = screen.lines().last().unwrap_or_default();
        assert!(hints.contains("PgDn or y"), "{hints}");
    }
}

#[test]
fn a_lasting_choice_shows_its_effect() {
    for (keys, text) in [
        (
            ["s"].as_slice(),
            "write runs without asking in this conversation (session). /trust revokes it.",
        ),
        (
            &["6"],
            "write runs without asking from now on (always). /trust revokes it.",
        ),
        (
            &["7"],
            "All tools of files run without asking from now on (always). /trust revokes it.",
        ),
        (
            &["8", "<Enter>"],
            "write runs without asking if its arguments match (always). /trust revokes it.",
        ),
        (&["9"], "write will never run. /trust revokes it."),
    ] {
        let mut chat = with_tool_call((120, 24), "", &json!({ "a": 1 }));
        for key in keys {
            chat.wait(1_000).keys(key);
        }
        assert_eq!(chat.notice(), text);
        assert!(chat.screen().contains(text), "{}", chat.screen());
    }
    let mut chat = with_tool_call((120, 24), "", &json!({ "a": 1 }));
    chat.wait(1_000).keys("y");
    assert_eq!(chat.notice(), "");
}

#[test]
fn a_long_tool_name_does_not_hide_the_warnings() {
    let mut chat = chat();
    chat.keys("go<Enter>").size(60, 20);
    let definition = json!({
        "name": "remove_everything", "inputSchema": {"type": "object"},
        "annotations": {"destructiveHint": true, "readOnlyHint": false, "openWorldHint": true},
    });
    let call = crate::fixtures::tool_call("filesystem", "remove_everything", json!({ "a": 1 }));
    chat.turn_event(TurnEvent::Tool(call));
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(tool_from(&definition)),
    };
    chat.ask_question(questions::approve(vec![offered]))
        .wait(600);
    assert!(chat.screen().contains("destructive"), "{}", chat.screen());
}

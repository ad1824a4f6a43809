//! The help over a list, form or question: the keys of what is open come first.

use super::lists::{LISTS, OTHERS, opened};
use super::*;

/// The rows of the help about what is open: keys and what they do.
fn help_rows(chat: &mut ChatHarness) -> Vec<(String, String)> {
    let screen = chat.screen();
    let rows = screen
        .lines()
        .skip_while(|row| !row.contains("What is open now"));
    let rows = rows.skip(1).take_while(|row| !row.trim().is_empty());
    let split = |row: &str| {
        let (keys, effect) = row.trim().split_once("  ").unwrap_or((row.trim(), ""));
        (keys.to_owned(), effect.trim().to_owned())
    };
    rows.map(split).collect()
}

#[test]
fn the_help_over_a_list_or_form_has_one_row_for_each_key() {
    let is_key = |name: &str| name.parse::<crate::tui::keymap::Chord>().is_ok();
    for script in LISTS.iter().chain(&OTHERS[1..]) {
        for size in [(80, 24), (60, 20)] {
            let mut chat = opened(script);
            chat.size(size.0, size.1).keys("<F1>");
            let rows = help_rows(&mut chat);
            assert!(rows.len() >= 2, "{script}\n{}", chat.screen());
            for (keys, effect) in rows {
                let are_keys = keys == "0-9" || keys.split('/').all(is_key);
                assert!(are_keys && !effect.is_empty(), "{script}: {keys} {effect}");
                // Neither "when" nor "then".
                assert!(!effect.contains("hen "), "{script}: {keys} {effect}");
            }
        }
    }
    let mut chat = opened("<F4>");
    chat.keys("<F1>");
    let rows = help_rows(&mut chat);
    let expected = [
        ("Enter", "Resume"),
        ("Tab", "Go to the rows, where letters act"),
        ("r", "Rename"),
        ("f", "Fork"),
        ("e", "Export"),
        ("d", "Delete"),
        ("Esc", "Close"),
    ];
    let expected = expected.map(|(keys, effect)| (keys.to_owned(), effect.to_owned()));
    assert_eq!(rows, expected);
}

#[test]
fn the_help_over_a_numbered_list_or_the_servers_begins_with_their_keys() {
    for (script, group) in [
        ("/think<Enter>", " Lists"),
        ("/mcp<Enter>", " Servers and their tools"),
    ] {
        let screen = opened(script).keys("<F1>").screen();
        let headings = screen
            .lines()
            .skip_while(|row| !row.contains("What is open now"));
        let first = headings.skip_while(|row| !row.trim().is_empty()).nth(1);
        assert_eq!(first.map(str::trim_end), Some(group), "{script}\n{screen}");
    }
}

#[test]
fn the_help_over_a_question_names_only_keys() {
    let mut chat = ChatHarness::with_approval_dialog(&[1, 2]);
    chat.keys("<F1>");
    let rows = help_rows(&mut chat);
    assert!(
        rows.iter().all(|(keys, _)| !keys.starts_with("Press")),
        "{rows:?}"
    );
}

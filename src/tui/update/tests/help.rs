//! The help and the command palette.

use crate::tui::keymap::{TABLE, commands};
use crate::tui::update::tests::*;
use ratatui::style::Modifier;

/// The help's title line, without its rule.
fn title(screen: &str) -> String {
    let line = screen.lines().find(|line| line.starts_with("── "));
    let line = line.expect("a title").replace('─', " ");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of the screen between title and message, without the layout.
fn content(screen: &str) -> String {
    let rows = screen.lines().skip(3);
    rows.flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn scrolling_through_the_help_shows_every_key_and_command_whole() {
    for (width, height) in [(80, 24), (60, 20), (120, 40)] {
        let mut chat = chat();
        chat.size(width, height).keys("<F1>");
        let mut shown = content(&chat.screen());
        for _ in 0..200 {
            chat.keys("<Down>");
            shown.push_str(&content(&chat.screen()));
        }
        for binding in TABLE {
            for key in binding.keys {
                let key = key.to_string();
                let key = if key.len() == 1 {
                    key.to_lowercase()
                } else {
                    key
                };
                assert!(shown.contains(&key), "{key} at {width}");
            }
        }
        for (command, _) in commands() {
            assert!(shown.contains(command), "{command} at {width}");
        }
        assert!(!shown.contains('…'), "something is cut at {width}");
    }
}

#[test]
fn home_and_end_reach_the_ends_of_the_help() {
    let mut chat = chat();
    chat.keys("<F1>");
    let first = chat.screen();
    assert!(first.contains("Writing"), "{first}");
    assert!(title(&first).contains(", ↓ "), "{first}");
    chat.keys("<End>");
    let last = chat.screen();
    assert!(last.contains("Move right"), "{last}");
    assert!(
        title(&last).contains(", ↑ ") && !last.contains('↓'),
        "{last}"
    );
    chat.keys("<PgDn><Down>");
    assert_eq!(chat.screen(), last);
    chat.keys("<Up>");
    assert_ne!(chat.screen(), last, "one key scrolls back at once");
    chat.keys("<Home>");
    assert_eq!(chat.screen(), first);
    for _ in 0..30 {
        chat.keys("<PgDn>");
    }
    assert_eq!(chat.screen(), last);
    for _ in 0..30 {
        chat.keys("<PgUp>");
    }
    assert_eq!(chat.screen(), first);
}

#[test]
fn help_filters_while_the_user_types() {
    let mut chat = chat();
    chat.keys("<F1><End>clipboard");
    assert!(
        chat.screen().contains("No key or command matches."),
        "{}",
        chat.screen()
    );
    chat.keys("<Ctrl+u>copy answer");
    let screen = chat.screen();
    assert!(title(&screen).starts_with("Help 1 of "), "{screen}");
    assert!(screen.contains(" › copy answer"), "{screen}");
    let rows: Vec<_> = screen.lines().map(str::trim_end).collect();
    assert_eq!(rows[3], " The conversation", "{screen}");
    assert!(rows[4].starts_with("   Ctrl+Y, /copy [call] "), "{screen}");
    assert!(screen.contains("Esc clear"), "{screen}");
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(
        screen.contains("Writing") && screen.contains("Esc close"),
        "{screen}"
    );
    chat.keys("<Esc>");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.message(), "", "the filter is no part of the message");
}

#[test]
fn help_has_two_columns_from_a_hundred_columns_on() {
    let is_split = |line: &str| line.starts_with(" Writing") && line.trim() != "Writing";
    let mut chat = chat();
    chat.size(100, 30).keys("<F1>");
    assert!(chat.screen().lines().any(is_split), "{}", chat.screen());
    chat.size(99, 30);
    assert!(!chat.screen().lines().any(is_split), "{}", chat.screen());
}

#[test]
fn palette_lists_commands_by_use_and_aliases_once() {
    let mut chat = chat();
    chat.keys("<Ctrl+p>");
    let screen = chat.screen();
    let commands: Vec<_> = screen
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .collect();
    let first = ["/set-model", "/models", "/sessions", "/new", "/help"];
    assert_eq!(&commands[..5], first, "{screen}");
    assert!(!screen.contains("/clear"), "{screen}");
    chat.keys("clear");
    let screen = chat.screen();
    assert!(screen.contains("▌ Start a new conversation"), "{screen}");
}

#[test]
fn palette_title_counts_commands_and_those_out_of_view() {
    let mut chat = chat();
    chat.keys("<Ctrl+p>");
    let screen = chat.screen();
    let words = title(&screen);
    let note: Vec<usize> = words
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [all, below] = note[..] else {
        panic!("{words}")
    };
    let shown = screen
        .lines()
        .filter(|line| line.starts_with("   ") || line.contains('▌'));
    assert_eq!(
        all - below,
        shown.filter(|line| !line.trim().is_empty()).count(),
        "{screen}"
    );
    assert!(words.contains(&format!("{all}, ↓ {below}")), "{words}");
    for _ in 0..all {
        chat.keys("<Down>");
    }
    let words = title(&chat.screen());
    assert_eq!(words, format!("Commands {all}, ↑ {below}"));
}

#[test]
fn literal_matches_precede_scattered_letters() {
    let mut chat = chat();
    chat.keys("<Ctrl+p>tool");
    let screen = chat.screen();
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{screen}"));
    assert!(at("Detect how the model calls tools") < at("Start a new conversation"));
    assert!(screen.contains("▌ Ask before tool calls"), "{screen}");
}

#[test]
fn palette_shows_the_selected_description_whole() {
    let mut chat = chat();
    chat.size(58, 24).keys("<Ctrl+p>mouse cap");
    let screen = chat.screen();
    assert!(
        screen.contains("Mouse capture on or off (off: select as usual)"),
        "{screen}"
    );
}

#[test]
fn message_gives_the_accent_to_the_open_list() {
    for opens in ["", "<F1>", "<Ctrl+p>"] {
        let mut chat = chat();
        chat.keys("hello").keys(opens);
        let area = ratatui::layout::Rect::new(0, 0, 80, 24);
        let mut buffer = ratatui::buffer::Buffer::empty(area);
        crate::tui::view::paint(&mut chat.model, &mut buffer);
        let accent = chat.model.screen.theme.accent.fg;
        let prompts = (0..24).filter(|y| {
            let cell = &buffer[(1, *y)];
            cell.symbol() == "›" && cell.style().fg == accent
        });
        let prompts: Vec<u16> = prompts.collect();
        let message = 22;
        assert_eq!(prompts.len(), 1, "{opens}");
        assert_eq!(prompts[0] == message, opens.is_empty(), "{opens}");
        assert_eq!(buffer[(3, message)].symbol(), "h");
        let is_dim = buffer[(3, message)].modifier.contains(Modifier::DIM);
        assert_eq!(is_dim, !opens.is_empty(), "{opens}");
    }
}

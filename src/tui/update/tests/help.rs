//! The help and the command palette.

use crate::commands::COMMANDS;
use crate::tui::keymap::all_bindings;
use crate::tui::update::tests::*;
use ratatui::style::Modifier;

/// The title line of the help or the palette, without its rule.
fn title(screen: &str) -> String {
    let line = screen.lines().find(|line| line.starts_with("── "));
    let line = line.expect("a title").replace('─', " ");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words on the screen below the title, separated by single spaces.
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
        let mut contents = content(&chat.screen());
        for _ in 0..600 {
            chat.keys("<Down>");
            contents.push_str(&content(&chat.screen()));
        }
        for binding in all_bindings() {
            for key in binding.default_keys {
                let key = key.to_string();
                assert!(contents.contains(&key), "{key} at {width}");
            }
        }
        for command in COMMANDS.iter().flat_map(|row| row.names()) {
            assert!(contents.contains(command), "{command} at {width}");
        }
        assert!(!contents.contains('…'), "text is truncated at {width}");
    }
}

#[test]
fn home_and_end_reach_the_ends_of_the_help() {
    let mut chat = chat();
    chat.keys("<F1>");
    let first = chat.screen();
    assert!(first.contains("Commands"), "{first}");
    assert!(title(&first).contains(", ↓ "), "{first}");
    chat.keys("<End>");
    let last = chat.screen();
    assert!(last.contains("Copy the address of the web page"), "{last}");
    assert!(
        title(&last).contains(", ↑ ") && !last.contains('↓'),
        "{last}"
    );
    chat.keys("<PgDn><Down>");
    assert_eq!(chat.screen(), last);
    chat.keys("<Up>");
    assert_ne!(chat.screen(), last, "a single key scrolls back");
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
    chat.keys("<F1><End>nonsense");
    assert!(
        chat.screen().contains("Nothing matches \"nonsense\"."),
        "{}",
        chat.screen()
    );
    chat.keys("<Ctrl+u>copy last answer");
    let screen = chat.screen();
    assert!(title(&screen).starts_with("Help 2 of "), "{screen}");
    assert!(screen.contains(" › copy last answer"), "{screen}");
    let rows: Vec<_> = screen.lines().map(str::trim_end).collect();
    assert_eq!(rows[3], " Commands", "{screen}");
    assert!(rows[4].starts_with("   /copy [call] "), "{screen}");
    assert!(content(&screen).contains("The conversation Ctrl+Y Copy the last answer"));
    assert!(screen.contains("Esc clear"), "{screen}");
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(
        screen.contains("Commands") && screen.contains("Esc close"),
        "{screen}"
    );
    chat.keys("<Esc>");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.message(), "", "the filter does not enter the message");
}

#[test]
fn help_is_split_into_two_columns_on_a_screen_of_100_columns() {
    let is_split = |line: &str| line.starts_with(" Commands") && line.trim() != "Commands";
    let mut chat = chat();
    chat.size(100, 30).keys("<F1>");
    assert!(chat.screen().lines().any(is_split), "{}", chat.screen());
    chat.size(99, 30);
    assert!(!chat.screen().lines().any(is_split), "{}", chat.screen());
}

#[test]
fn palette_lists_the_most_used_commands_first_and_no_aliases() {
    let mut chat = chat();
    chat.keys("<Ctrl+p>");
    let screen = chat.screen();
    let commands: Vec<_> = screen
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .collect();
    let first = ["/models", "/sessions", "/new", "/help"];
    assert_eq!(&commands[..4], first, "{screen}");
    assert!(!screen.contains("/clear"), "{screen}");
    chat.keys("clear");
    let screen = chat.screen();
    assert!(screen.contains("▌ Start a new conversation"), "{screen}");
}

#[test]
fn palette_title_counts_all_and_hidden_commands() {
    let mut chat = chat();
    chat.keys("<Ctrl+p>");
    let screen = chat.screen();
    let title_text = title(&screen);
    let numbers: Vec<usize> = title_text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [all, below] = numbers[..] else {
        panic!("{title_text}")
    };
    let command_rows = screen
        .lines()
        .filter(|line| line.starts_with("   ") || line.contains('▌'));
    assert_eq!(
        all - below,
        command_rows.filter(|line| !line.trim().is_empty()).count(),
        "{screen}"
    );
    assert!(
        title_text.contains(&format!("{all}, ↓ {below}")),
        "{title_text}"
    );
    for _ in 0..all {
        chat.keys("<Down>");
    }
    let title_text = title(&chat.screen());
    assert_eq!(title_text, format!("Commands {all}, ↑ {below}"));
}

#[test]
fn palette_finds_commands_by_their_words_by_synonyms_and_by_abbreviations() {
    for (filter, first) in [
        ("tool", "Ask before tool calls"),
        ("quit", "Quit"),
        ("clear", "Start a new conversation"),
        ("allow", "Ask before tool calls"),
        ("download", "Choose, pull, add or remove models"),
        ("calls model", "Detect how the model calls tools"),
        ("choose model", "Choose, pull, add or remove models"),
        ("switch model", "Choose, pull, add or remove models"),
        ("/set-model", "Choose, pull, add or remove models"),
        ("delete chat", "Delete this conversation"),
        ("undo delete", "Undo /delete: restore that conversation"),
        ("new chat", "Start a new conversation"),
        ("rename chat", "Rename this conversation"),
        ("copy code", "Copy the last answer"),
        ("history", "Open an earlier conversation"),
        ("versions", "Switch to another branch"),
        ("exit", "Quit"),
        ("resume", "Open an earlier conversation"),
        ("SWITCH SERVER", "Switch a server on or off"),
        ("stm", "Ask before tool calls"),
        ("rawansw", "Switch between raw and rendered"),
        ("strtnew", "Start a new conversation"),
    ] {
        let mut chat = chat();
        chat.keys("<Ctrl+p>").keys(filter);
        let screen = chat.screen();
        assert!(screen.contains(&format!("▌ {first}")), "{filter}\n{screen}");
    }
    for filter in ["zqj", "xyzzy", "날씨"] {
        let mut chat = chat();
        let screen = chat.keys("<Ctrl+p>").keys(filter).screen();
        assert!(screen.contains("Nothing matches"), "{filter}\n{screen}");
    }
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
fn message_is_dimmed_while_a_list_is_open() {
    for keys in ["", "<F1>", "<Ctrl+p>"] {
        let mut chat = chat();
        chat.keys("hello").keys(keys);
        let area = ratatui::layout::Rect::new(0, 0, 80, 24);
        let mut buffer = ratatui::buffer::Buffer::empty(area);
        crate::tui::view::paint(&mut chat.model, &mut buffer);
        let accent = chat.model.screen.theme.accent.fg;
        let prompts = (0..24).filter(|y| {
            let cell = &buffer[(1, *y)];
            cell.symbol() == "›" && cell.style().fg == accent
        });
        let prompts: Vec<u16> = prompts.collect();
        let message_row = 22;
        assert_eq!(prompts.len(), 1, "{keys}");
        assert_eq!(prompts[0] == message_row, keys.is_empty(), "{keys}");
        assert_eq!(buffer[(3, message_row)].symbol(), "h");
        let is_dim = buffer[(3, message_row)].modifier.contains(Modifier::DIM);
        assert_eq!(is_dim, !keys.is_empty(), "{keys}");
    }
}

#[test]
fn the_way_to_change_keys_is_found_by_any_of_its_names() {
    for words in ["keys", "shortcut", "rebind", "change keys", "keybinding"] {
        let mut chat = chat();
        let screen = chat.size(120, 40).keys("<F1>").keys(words).screen();
        assert!(screen.contains("/keys"), "{words}\n{screen}");
        assert!(screen.contains("config.json"), "{words}\n{screen}");
    }
    let mut chat = chat();
    chat.keys("/key");
    let list = chat.model.completions().expect("a list");
    assert_eq!(list.rows[0].label.as_str(), "/keys");
    let screen = chat.keys("<Enter>").screen();
    assert!(title(&screen).starts_with("Keys"), "{screen}");
    let example = "\"keys\": { \"commands\": \"Ctrl+K\", \"retry\": [\"F6\", \"Alt+R\"] }";
    assert!(content(&screen).contains(example), "{screen}");
    let screen = chat.keys("retry").screen();
    assert!(content(&screen).contains("\"retry\", Alt+R"), "{screen}");
}

#[test]
fn synonyms_find_the_help_about_pasting() {
    for words in ["paste", "yank", "clipboard"] {
        let mut chat = chat();
        let screen = chat.size(120, 40).keys("<F1>").keys(words).screen();
        assert!(
            screen.contains("Paste the text that was cut last"),
            "{words}\n{screen}"
        );
    }
}

#[test]
fn the_help_key_works_in_a_list_and_leads_back_with_nothing_lost() {
    let mut chat = chat();
    chat.keys("<Ctrl+o>busan");
    let before = chat.screen();
    chat.keys("<F1>");
    let screen = chat.screen();
    assert!(title(&screen).starts_with("Help"), "{screen}");
    let first: Vec<&str> = screen.lines().skip(3).take(12).collect();
    let first = first.join("\n");
    assert!(first.contains("What is open now"), "{first}");
    assert!(
        first.contains("Conversations"),
        "its keys come first: {first}"
    );
    assert!(first.contains("after:DAY"), "and its filters: {first}");
    chat.keys("<F1>");
    assert_eq!(chat.screen(), before);
    chat.keys("<F1><Esc>");
    assert_eq!(chat.screen(), before);
    chat.keys("<F1><Ctrl+c>");
    assert_eq!(chat.screen(), before);
    chat.keys("<F1>xyz<Esc><Esc>");
    assert_eq!(chat.screen(), before);
}

#[test]
fn a_list_below_the_help_still_gets_its_answer_from_the_engine() {
    let mut chat = chat();
    chat.keys("<Ctrl+o>");
    let query = chat
        .commands()
        .into_iter()
        .find_map(|command| match command {
            Command::ListSessions(query) => Some(query),
            _ => None,
        });
    chat.keys("<F1>");
    chat.engine_event(Event::SessionsListed {
        query: query.expect("a query"),
        sessions: Arc::default(),
        listed_at: "2026-11-20T12:00:00Z".parse().expect("a time"),
    });
    chat.keys("<Esc>");
    let screen = chat.screen();
    assert!(screen.contains("No saved conversations yet."), "{screen}");
}

#[test]
fn the_help_key_works_in_a_form_and_keeps_its_fields() {
    let mut chat = chat();
    chat.keys("/models<Enter><Tab>a<Down>my-server");
    let before = chat.screen();
    assert!(before.contains("my-server"), "{before}");
    chat.keys("<F1>");
    let screen = chat.screen();
    assert!(title(&screen).starts_with("Help"), "{screen}");
    assert!(screen.contains("Forms"), "{screen}");
    chat.keys("<Esc>");
    assert_eq!(chat.screen(), before);
}

#[test]
fn the_filters_of_conversations_are_found_in_the_help() {
    for word in ["after", "filter", "model:"] {
        let mut chat = chat();
        chat.keys("<F1>").keys(word);
        let screen = chat.screen();
        assert!(
            screen.contains("model:NAME") || screen.contains("after:DAY"),
            "{screen}"
        );
    }
}

#[test]
fn stopping_the_turn_closes_the_help_that_hides_it() {
    let mut chat = chat();
    chat.keys("go<Enter><F1>");
    assert!(chat.model.is_layer_open(Action::HELP));
    chat.keys("<Ctrl+c>");
    assert!(!chat.model.is_layer_open(Action::HELP));
    assert!(chat.commands().contains(&Command::Interrupt));
}

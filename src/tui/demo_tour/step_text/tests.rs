//! Checks that the texts of the tour fit the screen and name the default keys.

use super::*;
use crate::text::grapheme::width;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Keymap};

const ALL: [TextBySize; 33] = [
    ASK_WORDS,
    UNFOCUSED_WORDS,
    BEFORE_WORDS,
    AUTO_MODE_WORDS,
    OTHER_PROMPT_WORDS,
    NO_TOOL_WORDS,
    NOT_READY_WORDS,
    DECIDE_WORDS,
    DENY_WORDS,
    EDIT_WORDS,
    CHOOSE_WORDS,
    AGAIN_WORDS,
    AUTO_MODE_AGAIN,
    NO_TOOL_AGAIN,
    TOOL_ANSWER_WORDS,
    ANSWER_WORDS,
    UNANSWERED_WORDS,
    THINK_WORDS,
    NO_THOUGHT_WORDS,
    THINK_OPEN,
    NO_THOUGHT_OPEN,
    STORY_WORDS,
    STOP_WORDS,
    SESSIONS_WORDS,
    UNSAVED_WORDS,
    SESSIONS_OPEN,
    NO_SESSIONS_OPEN,
    COMMANDS_WORDS,
    COMMANDS_OPEN,
    HELP_WORDS,
    HELP_OPEN,
    FINISHED_WORDS,
    QUIT_WORDS,
];

#[test]
fn texts_of_the_tour_fit_80_60_and_20_columns() {
    // The mark takes four columns; the count takes eight, or four on a small screen.
    for (form, columns) in [(0, 80 - 12), (1, 60 - 12), (2, 20 - 8)] {
        for text in ALL {
            assert!(width(text[form]) <= columns, "{}", text[form]);
        }
    }
}

#[test]
fn tour_keys_match_the_keymap() {
    let taught = [
        (Action::Send, ASK_WORDS, "Enter"),
        (Action::PageUp, THINK_WORDS, "PgUp"),
        (Action::PageDown, THINK_WORDS, "PgDn"),
        (Action::THINKING, THINK_WORDS, "F3"),
        (Action::Interrupt, STOP_WORDS, "Ctrl+C"),
        (Action::Back, SESSIONS_OPEN, "Esc"),
        (Action::SESSIONS, SESSIONS_WORDS, "Ctrl+O"),
        (Action::Commands, COMMANDS_WORDS, "Ctrl+P"),
        (Action::HELP, HELP_WORDS, "F1"),
    ];
    for (action, text, key) in taught {
        // The demo has its own configuration folder, so its keys are the defaults.
        assert_eq!(Keymap::default().key_name(action).as_deref(), Some(key));
        assert!(text[0].contains(key) && text[1].contains(key), "{key}");
    }
    let taught_in_layers = [
        (
            KeyContext::SearchList,
            LayerKey::Confirm,
            SESSIONS_OPEN,
            "Enter",
        ),
        (KeyContext::SearchList, LayerKey::Back, SESSIONS_OPEN, "Esc"),
        (
            KeyContext::SearchList,
            LayerKey::Confirm,
            COMMANDS_OPEN,
            "Enter",
        ),
        (KeyContext::SearchList, LayerKey::Back, COMMANDS_OPEN, "Esc"),
        (KeyContext::SearchList, LayerKey::Back, HELP_OPEN, "Esc"),
        (
            KeyContext::ScrollableList,
            LayerKey::PageDown,
            HELP_OPEN,
            "PgDn",
        ),
        (
            KeyContext::InputLine,
            LayerKey::Confirm,
            DENY_WORDS,
            "Enter",
        ),
        (KeyContext::InputLine, LayerKey::Back, DENY_WORDS, "Esc"),
        (
            KeyContext::InputLine,
            LayerKey::Confirm,
            EDIT_WORDS,
            "Enter",
        ),
        (KeyContext::InputLine, LayerKey::Back, EDIT_WORDS, "Esc"),
        (KeyContext::Answer, LayerKey::Yes, EDIT_WORDS, "y"),
    ];
    for (context, meaning, text, key) in taught_in_layers {
        let name = Keymap::default().layer_key_name(context, meaning);
        assert_eq!(name.as_deref(), Some(key));
        assert!(text[0].contains(key), "{key}");
    }
}

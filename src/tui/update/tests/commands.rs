//! The notice of `/context`, and suggestions for unknown commands.

use super::*;

#[test]
fn context_command_shows_the_token_usage() {
    use crate::protocol::{ContextMeter, ContextShares};
    let mut chat = chat();
    chat.keys("/context<Enter>");
    assert!(chat.notice().starts_with("The context is still empty."));
    let meter = ContextMeter {
        used: 2_000,
        limit: Some(16_384),
        is_measured: false,
        shares: ContextShares {
            system: 250,
            tools: 500,
            total: 1_000,
        },
    };
    chat.engine_event(Event::ContextMeasured(meter));
    for command in ["/context", "/tokens"] {
        chat.keys(command).keys("<Enter>");
        assert_eq!(
            chat.notice(),
            "The context holds about 2,000 of 16,384 tokens: system message ~500, tools ~1,000, \
             conversation ~500, free for answers 14,384. /compact shortens the conversation."
        );
    }
}

#[test]
fn unknown_command_suggests_one_of_similar_meaning_or_spelling() {
    for (typed, expected) in [
        ("/usage", "Did you mean /context?"),
        ("/regenerate", "Did you mean /retry?"),
        ("/hlep", "Did you mean /help?"),
        ("/qqqq", "/help lists them all."),
    ] {
        let mut chat = chat();
        chat.keys(typed).keys("<Esc><Enter>");
        let notice = chat.notice();
        assert!(notice.ends_with(expected), "{typed}: {notice}");
    }
}

#[test]
fn the_palette_finds_commands_by_everyday_words() {
    for (word, found) in [
        ("secret", "Do not save this conversation"),
        ("incognito", "Do not save this conversation"),
        ("fold", "Unfold or fold the selected line"),
        ("unfold", "Unfold or fold a paste"),
        ("expand", "Unfold or fold the selected line"),
        ("collapse", "Unfold or fold the selected line"),
        ("print", "Export this conversation"),
        ("share", "Export this conversation"),
        ("archive", "Open an earlier conversation"),
        ("photo", "Paste an image"),
        ("plugin", "List servers and tools"),
        ("login", "List servers and tools"),
        ("security", "Review and revoke tool permissions"),
        ("block", "Review and revoke tool permissions"),
        ("revert", "Undo the last turn"),
        ("rollback", "Undo the last turn"),
        ("redo", "Retry the last prompt"),
        ("clone", "Continue in a copy"),
        ("variants", "Switch to another branch"),
        ("summary", "Summarize older messages"),
        ("shrink", "Summarize older messages"),
        ("price", "Show what fills"),
        ("assistant", "Choose a persona"),
        ("erase", "Delete this conversation"),
        ("uninstall", "Choose, pull, add or remove models"),
        ("preferences", "Reload the settings"),
        ("bug", "Show the log"),
        ("diagnose", "Detect how the model calls tools"),
        ("snippet", "Use a server prompt or a template"),
        ("hotkey", "Show all keys and commands"),
    ] {
        let mut chat = chat();
        let screen = chat.keys("<Ctrl+p>").keys(word).screen();
        assert!(screen.contains(found), "{word}: {screen}");
    }
}

#[test]
fn folding_from_the_palette_says_what_to_select_first() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").wait(2_000);
    chat.keys("<Ctrl+p>collapse<Enter>");
    assert_eq!(
        chat.notice(),
        "Select a call, thinking or a long message in the chat first: Tab, then Up."
    );
    let long = "word ".repeat(2_000);
    let mut chat = super::chat();
    chat.input(UiInput::Paste(long.clone()));
    chat.keys("<Enter>").model_answers("1").wait(2_000);
    chat.keys("<Ctrl+Up>");
    assert!(!chat.model.chat.viewport.is_unfolded(0));
    chat.keys("<Ctrl+p>expand<Enter>");
    assert!(chat.model.chat.viewport.is_unfolded(0));
}

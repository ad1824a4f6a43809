//! `/tools`: the list of tools, its filter, and the key that pins a tool.

use super::servers_viewer::{assert_in_order, failed, with_servers};
use crate::domain::ServerId;
use crate::fixtures;
use crate::tui::update::tests::*;

/// A chat with a failed server, and a server with a pinned, a held-back, an offered and a disabled
/// tool.
fn with_tools_in_all_states() -> ChatHarness {
    let tool = |name: &str, read_only: bool| {
        fixtures::tool_from(&serde_json::json!({
            "name": name, "inputSchema": {}, "description": "First line.\nSecond line.",
            "annotations": { "readOnlyHint": read_only },
        }))
    };
    let tools = ["look", "find", "erase", "old"];
    let tools = tools.map(|name| tool(name, name != "erase")).to_vec();
    let mut files = fixtures::server("files", tools);
    files.always_offered.insert("look".to_owned());
    files.held_back_tools.insert("find".to_owned());
    files.disabled_tools.insert("old".to_owned());
    files.always_offered.insert("old".to_owned());
    with_servers((80, 24), vec![failed(), files])
}

#[test]
fn tools_are_listed_with_their_offer_state() {
    let mut chat = with_tools_in_all_states();
    chat.keys("/tools<Enter>");
    let screen = chat.screen();
    let expected = [
        "Tools: 2 offered, 1 held back",
        "files  connected, 3 of 4 tools available",
        "look  pinned",
        "First line. …",
        "find  held back",
        "erase  offered",
        "writes",
        "old  off, pinned",
    ];
    assert_in_order(&screen, &expected);
    assert!(!screen.contains("broken  failed") && !screen.contains("Second line"));
}

#[test]
fn the_list_of_tools_is_filtered_by_annotation_and_offer_state() {
    for (filter, listed) in [
        ("read-only", "look find old"),
        ("writes", "erase"),
        ("held back", "find"),
        ("pinned", "look old"),
    ] {
        let mut chat = with_tools_in_all_states();
        let screen = chat.keys(&format!("/tools {filter}<Enter>")).screen();
        for name in ["look", "find", "erase", "old"] {
            let is_listed = screen.contains(&format!("  {name}  "));
            assert_eq!(
                is_listed,
                listed.contains(name),
                "{filter}: {name}\n{screen}"
            );
        }
    }
}

#[test]
fn p_pins_the_selected_tool_and_removes_its_pin() {
    for (filter, tool, notice) in [
        ("held back", "find", "Tool `find` of `files` is pinned."),
        (
            "pinned",
            "look",
            "Tool `look` of `files` is no longer pinned.",
        ),
    ] {
        let mut chat = with_tools_in_all_states();
        chat.keys(&format!("/tools {filter}<Enter><Tab>p"));
        let expected = Command::ToggleAlwaysOffered {
            server: ServerId::new("files"),
            tool: tool.to_owned(),
        };
        assert_eq!(chat.commands(), [expected]);
        assert!(chat.screen().contains(notice), "{}", chat.screen());
    }
    // A server cannot be pinned, and in the filter `p` is text.
    let mut chat = with_tools_in_all_states();
    chat.keys("/tools<Enter>p<Backspace><Tab><Up>p");
    assert_eq!(chat.commands(), []);
}

#[test]
fn an_empty_list_of_tools_shows_a_placeholder() {
    let mut chat = with_servers((80, 24), vec![failed()]);
    let screen = chat.keys("/tools<Enter>").screen();
    assert!(screen.contains("No running server has tools."), "{screen}");
}

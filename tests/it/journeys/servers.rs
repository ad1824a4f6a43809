//! The servers pane: its contents, its keys, and the equivalent commands.

use super::in_memory_server::InMemoryServer;
use super::*;

const DOWN: KeyCode = KeyCode::Down;
const ESC: KeyCode = KeyCode::Esc;
const NONE: KeyModifiers = KeyModifiers::NONE;

fn workshop() -> InMemoryServer {
    InMemoryServer::default()
        .with_pending_tool("saw", "Saws\u{202e} wood.")
        .with_pending_tool("나사", "나사를 조입니다.")
}

fn with_pane_focused(workshop: &InMemoryServer) -> Chat {
    let mut chat = chat_with(workshop, script());
    chat.press(KeyCode::F(2), NONE);
    chat
}

/// Shuts the program down and returns `mcp-servers.json`.
fn servers_file(chat: &mut Chat) -> String {
    let home = chat.shut_down();
    std::fs::read_to_string(home.path().join("mcp-servers.json")).expect("written")
}

#[test]
fn unfolding_shows_the_version_of_a_server_and_the_description_of_a_tool() {
    let mut chat = with_pane_focused(&workshop());
    chat.sees("● humble                                 2 ")
        .enter();
    chat.sees("workshop 1.2 · 20").sees("built in");
    chat.sees("instructions are not")
        .sees("▸ saw")
        .sees("▸ 나사");
    chat.press(DOWN, NONE).enter();
    chat.sees("▾ saw")
        .sees("The saw")
        .sees("Saws⟨U+202E⟩ wood.");
    chat.sees("read-only (the server").sees("Enter fold");
    chat.enter().sees("▸ saw").does_not_see("The saw");
}

#[test]
fn space_disables_and_enables_a_tool() {
    let mut chat = with_pane_focused(&workshop());
    chat.enter().press(DOWN, NONE).key(' ');
    chat.sees("Tool `saw` of `humble` is off").sees("○ saw");
    chat.sees("● humble                                 1 ");
    chat.key(' ').sees("Tool `saw` of `humble` is on.");
    chat.press(DOWN, NONE).key(' ');
    assert!(servers_file(&mut chat).contains(r#""나사""#));
}

#[test]
fn space_disables_and_enables_a_server() {
    let mut chat = with_pane_focused(&workshop());
    chat.key(' ')
        .sees("Server `humble` is off")
        .sees("○ humble");
    chat.key('r').sees("Switch it on with /toggle-mcp.");
    chat.key(' ');
    chat.sees("Server `humble` is connected with 2 tools.");
}

#[test]
fn a_failed_server_is_reported_and_reconnects_on_request() {
    let workshop = workshop();
    workshop.set_broken(true);
    let mut chat = with_pane_focused(&workshop);
    chat.sees("✗ humble").sees("failed").enter();
    chat.sees("could not be started");
    chat.key('r').sees("/mcp shows more.");
    workshop.set_broken(false);
    chat.key('r');
    chat.sees("Server `humble` is connected with 2 tools.");
    chat.sees("● humble                                 2 ");
}

#[test]
fn a_changed_tool_list_is_reported() {
    let workshop = workshop();
    let mut chat = with_pane_focused(&workshop);
    chat.enter().press(DOWN, NONE).press(DOWN, NONE);
    workshop.replace_tools(&["나사", "hammer"]);
    chat.waits_until_sees("added `hammer`")
        .sees("removed `saw`");
    // The selection stays on the same tool.
    chat.enter().sees("▾ 나사");
    chat.press(DOWN, NONE).sees("▸ hammer");
}

#[test]
fn a_key_and_a_command_open_the_stderr_of_a_server() {
    let mut chat = with_pane_focused(&workshop());
    chat.key('l')
        .sees("Nothing was written to stderr.")
        .press(ESC, NONE);
    chat.says("/mcp humble log")
        .sees("Nothing was written to stderr.");
}

#[test]
fn the_mcp_command_performs_every_action_on_a_server() {
    let mut chat = chat_with(&workshop(), script());
    chat.says("/mcp humble")
        .sees("1 of 1 connected")
        .sees("saw")
        .press(ESC, NONE);
    chat.says("/mcp 1 off").sees("Server `humble` is off");
    chat.says("/mcp 1 off")
        .sees("Server `humble` is already off.");
    chat.says("/mcp humble on")
        .sees("is connected with 2 tools");
    chat.says("/mcp humble retry")
        .sees("is connected with 2 tools");
    chat.says("/mcp humbel").sees("Did you mean `humble`?");
    chat.says("/mcp humble dance");
    chat.sees("`dance` is not an action for a server.");
    chat.says("/mcp 7").sees("There is no server `7`.");
    chat.says("/mcp hide").does_not_see("│ Servers  ");
    chat.says("/mcp").sees("MCP servers: 1 of 1 connected");
    chat.sees("● humble  connected, 2 tools").sees("  나사");
    chat.press(ESC, NONE).does_not_see("MCP servers: ");
    chat.press(KeyCode::F(2), NONE).sees("│ Servers  ");
}

#[test]
fn the_toggle_mcp_command_lists_servers_and_accepts_a_number_or_a_name() {
    let mut chat = chat_with(&workshop(), script());
    chat.says("/toggle-mcp").sees("1  humble  connected");
    chat.key('0').does_not_see("1  humble").sees("  tools 2");
    chat.says("/toggle-mcp 0").sees("Nothing was changed.");
    chat.says("/toggle-mcp 1").sees("  tools 0");
    chat.says("/mcp humble").sees("○ humble").press(ESC, NONE);
    chat.says("/toggle-mcp humble").sees("  tools 2");
    chat.says("/toggle-mcp 9");
    chat.sees("Please enter a number from 0 to 1.");
    chat.says("/toggle-mcp wiki")
        .sees("There is no server `wiki`.");
}

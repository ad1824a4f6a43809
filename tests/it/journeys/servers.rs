//! The servers on the screen: what the pane tells of them, its keys, and the commands
//! that do the same.

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

/// The pane in focus, on its first server.
fn in_pane(workshop: &InMemoryServer) -> Chat {
    let mut chat = chat_with(workshop, script());
    chat.press(KeyCode::F(2), NONE);
    chat
}

/// `mcp-servers.json` as it was written.
fn servers_file(chat: &mut Chat) -> String {
    let home = chat.shut_down();
    std::fs::read_to_string(home.path().join("mcp-servers.json")).expect("written")
}

#[test]
fn a_server_unfolds_to_who_it_is_and_a_tool_to_what_it_says_of_itself() {
    let mut chat = in_pane(&workshop());
    chat.sees("● humble              2").enter();
    chat.sees("workshop 1.2 · 20").sees("built in");
    chat.sees("Its instructions are not")
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
fn space_switches_a_tool_off_and_says_so() {
    let mut chat = in_pane(&workshop());
    chat.enter().press(DOWN, NONE).key(' ');
    chat.sees("Tool `saw` of `humble` is off").sees("○ saw");
    chat.sees("● humble              1");
    chat.key(' ').sees("is on offer again");
    chat.press(DOWN, NONE).key(' ');
    assert!(servers_file(&mut chat).contains(r#""나사""#));
}

#[test]
fn space_switches_a_server_off_and_on_again() {
    let mut chat = in_pane(&workshop());
    chat.key(' ')
        .sees("Server `humble` is off")
        .sees("○ humble");
    chat.key('r').sees("Space, or /toggle-mcp, switches it on.");
    chat.key(' ');
    chat.sees("Server `humble` is connected, with 2 tools on offer.");
}

#[test]
fn a_server_that_fails_says_so_once_and_comes_back_by_hand() {
    let workshop = workshop();
    workshop.set_broken(true);
    let mut chat = in_pane(&workshop);
    chat.sees("✗ humble").sees("failed").enter();
    chat.sees("could not be started");
    chat.key('r').sees("/mcp shows why.");
    workshop.set_broken(false);
    chat.key('r');
    chat.sees("Server `humble` is connected, with 2 tools on offer.");
    chat.sees("● humble              2");
}

#[test]
fn a_list_that_changes_says_what_came_and_went() {
    let workshop = workshop();
    let mut chat = in_pane(&workshop);
    chat.enter().press(DOWN, NONE).press(DOWN, NONE);
    workshop.replace_tools(&["나사", "hammer"]);
    chat.waits_until_sees("added `hammer`")
        .sees("removed `saw`");
    // The row that was stood on is still under the hand.
    chat.enter().sees("▾ 나사");
    chat.press(DOWN, NONE).sees("▸ hammer");
}

#[test]
fn what_a_server_wrote_and_its_instructions_are_a_key_away() {
    let mut chat = in_pane(&workshop());
    chat.key('l').sees("It wrote nothing.").press(ESC, NONE);
    chat.says("/mcp humble log").sees("It wrote nothing.");
}

#[test]
fn everything_can_be_done_by_command() {
    let mut chat = chat_with(&workshop(), script());
    chat.says("/mcp humble").sees("▸ saw").press(ESC, NONE);
    chat.says("/mcp 1 off").sees("Server `humble` is off");
    chat.says("/mcp 1 off")
        .sees("Server `humble` is off already.");
    chat.says("/mcp humble on")
        .sees("is connected, with 2 tools");
    chat.says("/mcp humble retry")
        .sees("is connected, with 2 tools");
    chat.says("/mcp humbel").sees("Did you mean `humble`?");
    chat.says("/mcp humble dance");
    chat.sees("`dance` is nothing that can be done with a server.");
    chat.says("/mcp 7").sees("There is no server `7`.");
    chat.says("/mcp hide").does_not_see("─ Servers ─");
    chat.says("/mcp").sees("MCP servers: 1 of 1 connected");
    chat.sees("● humble: connected, 2 tools").sees("  나사");
    chat.press(ESC, NONE).does_not_see("MCP servers: ");
    chat.press(KeyCode::F(2), NONE).sees("─ Servers ─");
}

#[test]
fn toggle_mcp_lists_numbers_and_states_and_takes_a_number_or_a_name() {
    let mut chat = chat_with(&workshop(), script());
    chat.says("/toggle-mcp").sees("1  humble  connected");
    chat.key('0').does_not_see("1  humble").sees("● humble");
    chat.says("/toggle-mcp 0").sees("Nothing was changed.");
    chat.says("/toggle-mcp 1").sees("○ humble");
    chat.says("/toggle-mcp humble").sees("● humble");
    chat.says("/toggle-mcp 9");
    chat.sees("Please enter a number from 0 to 1, or a name.");
    chat.says("/toggle-mcp wiki")
        .sees("There is no server `wiki`.");
}

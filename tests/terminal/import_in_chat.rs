//! Importing MCP servers from another client in the chat: the servers shown are added, switched off.

use super::{clean_exit, ollama, open};
use serde_json::{Value, json};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn servers_of_another_client_are_added_switched_off() {
    let (_server, home) = ollama();
    fs::create_dir_all(home.path().join(".cursor")).expect("created");
    let env = json!({ "API_KEY": "sk-hidden123" });
    let servers = json!({ "mcpServers": {
        "weather": { "command": "touch", "args": ["was-started"], "env": env },
    } });
    home.write(".cursor/mcp.json", &servers);
    let file = home.path().join("mcp-servers.json");
    let mut terminal = open(&home);
    terminal.type_text("/import");
    terminal.press("\r");
    terminal.wait_for_text("1 server ");
    terminal.press("\r");
    terminal.wait_for_text("API_KEY=${API_KEY}");
    let screen = terminal
        .wait_for_text("Enter add it, switched off")
        .contents();
    assert!(screen.contains("command  touch was-started"), "{screen}");
    assert!(!screen.contains("hidden"), "{screen}");
    assert!(!file.exists());
    // Enter counts once the text has been visible for a moment.
    let deadline = Instant::now() + Duration::from_secs(10);
    while !file.exists() {
        assert!(
            Instant::now() < deadline,
            "{}",
            terminal.screen().contents()
        );
        terminal.press("\r");
        sleep(Duration::from_millis(200));
    }
    terminal.wait_for_text("Added one server, switched off. In /mcp, switch on those");
    let text = fs::read_to_string(&file).expect("the servers");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["mcpServers"]["weather"]["enabled"], json!(false));
    assert!(!text.contains("hidden"), "{text}");
    assert_eq!(terminal.quit(), clean_exit());
}

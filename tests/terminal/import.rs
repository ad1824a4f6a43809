//! `humble mcp import` on a terminal: it shows the servers and asks once.

use super::pty::TerminalOptions;
use super::{TestHome, clean_exit};
use serde_json::{Value, json};
use std::fs;

#[test]
fn import_shows_the_servers_and_asks_once() {
    let home = TestHome::empty();
    let env = json!({ "API_KEY": "sk-hidden123" });
    let servers = json!({ "mcpServers": {
        "날씨": { "command": "npx", "args": ["-y", "weather", "서울 날씨"], "env": env },
        "docs": { "url": "https://example.com/mcp" },
    } });
    home.write("cursor.json", &servers);
    let file = home.path().join("mcp-servers.json");
    for (answer, is_added) in [("n\r", false), ("\r", false), ("y\r", true)] {
        let mut terminal = TerminalOptions::in_home(&home)
            .size(80, 24)
            .arg("mcp")
            .arg("import")
            .arg("./cursor.json")
            .start();
        let screen = terminal
            .wait_for_text("Add these 2 servers, switched off? (y/N)")
            .contents();
        assert!(
            screen.contains("    command  npx -y weather \"서울 날씨\""),
            "{screen}"
        );
        assert!(
            screen.contains("    env      API_KEY=${API_KEY}"),
            "{screen}"
        );
        assert!(!screen.contains("hidden"), "{screen}");
        assert!(!file.exists());
        terminal.press(answer);
        assert_eq!(terminal.exit(), clean_exit());
        terminal.wait_for_text(if is_added {
            "Added 2 servers to"
        } else {
            "Nothing was added."
        });
    }
    let text = fs::read_to_string(&file).expect("the servers");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["mcpServers"]["날씨"]["enabled"], json!(false));
    assert!(!text.contains("hidden"), "{text}");
}

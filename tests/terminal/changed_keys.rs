//! Keys that `config.json` changes, with real key presses.

use super::model_server::ollama_text;
use super::pty::TerminalOptions;
use super::{CHAT, clean_exit, ollama, open};
use serde_json::json;

const CTRL_K: &str = "\x0b";
const CTRL_P: &str = "\x10";
const F9: &str = "\x1b[20~";

#[test]
fn a_changed_key_opens_the_palette() {
    let (server, home) = ollama();
    home.edit_json("config.json", |config| {
        config["keys"] = json!({ "commands": "Ctrl+K" });
    });
    let mut terminal = open(&home);
    terminal.wait_for_text("Ctrl+K commands");
    terminal.type_text("hello");
    terminal.press(CTRL_P);
    terminal.press(CTRL_K);
    terminal.wait_for_text("Commands");
    terminal.press("\x1b");
    terminal.wait_until_gone("Commands");
    server.queue_reply(CHAT, ollama_text(&["Hi."]));
    terminal.press("\r");
    terminal.wait_for_text("Hi.");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn an_edit_of_the_keys_applies_while_the_program_runs() {
    let (_server, home) = ollama();
    let mut terminal = TerminalOptions::in_home(&home).size(100, 30).start();
    terminal.wait_for_text("F1 help");
    home.edit_json("config.json", |config| {
        config["keys"] = json!({ "help": "F9", "find": "Ctrl+I" });
    });
    terminal.wait_for_text("F9 help");
    terminal.wait_for_text("this terminal sends Ctrl+I as Tab");
    terminal.press(F9);
    terminal.wait_for_text("Type to filter");
    terminal.type_text("all keys");
    terminal.wait_for_text("F9  ");
    terminal.press(F9);
    terminal.wait_until_gone("Type to filter");
    home.edit_json("config.json", |config| {
        config["keys"] = json!({ "help": "F9" });
    });
    terminal.wait_until_gone("this terminal sends");
    assert_eq!(terminal.quit(), clean_exit());
}

//! Saved sessions with real keys: finding a conversation in Korean and resuming it, and restoring a
//! deleted one.

use super::model_server::ollama_text;
use super::{CHAT, TerminalOptions, TestHome, clean_exit, ollama};
use serde_json::{Value, json};

const F4: &str = "\x1bOS";

fn write_session(home: &TestHome, name: &str, prompt: &str, answer: &str) {
    std::fs::create_dir_all(home.path().join("sessions")).expect("the home is writable");
    let messages = json!([
        { "role": "user", "content": prompt },
        { "role": "assistant", "content": answer },
    ]);
    home.write(
        &format!("sessions/{name}"),
        &json!({ "model": "qwen3:4b", "messages": messages }),
    );
}

#[test]
fn a_conversation_is_found_by_a_korean_word_of_its_answer_and_resumed() {
    let (server, home) = ollama();
    write_session(
        &home,
        "20250101_090000_Trip.json",
        "Trip to Busan",
        "호텔은 해운대에 있습니다.",
    );
    write_session(&home, "20250202_090000_Code.json", "Fix the code", "Done.");
    let mut terminal = TerminalOptions::in_home(&home).size(80, 24).start();
    terminal.wait_for_text("qwen3:4b");
    terminal.press(F4);
    terminal.wait_for_text("Fix the code");
    terminal.type_text("해운대 model:qwen");
    let screen = terminal.wait_for_text("1 of 2");
    assert!(!screen.contents().contains("Fix the code"));
    terminal.wait_for_text("호텔은 해운대에 있습니다.");
    terminal.press("\r");
    terminal.wait_until_gone("Sessions");
    terminal.wait_for_text("호텔은 해운대에 있습니다.");
    terminal.wait_for_text("1 of 1");
    server.queue_reply(CHAT, ollama_text(&["물론입니다."]));
    terminal.send_prompt("예약해 줘");
    terminal.wait_for_text("물론입니다.");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(
        home.sessions().len(),
        2,
        "the conversation continues in its file"
    );
}

#[test]
fn a_conversation_deleted_before_a_restart_can_be_restored() {
    let (_server, home) = ollama();
    write_session(&home, "20250202_090000_Code.json", "Fix the code", "Done.");
    let mut terminal = TerminalOptions::in_home(&home).arg("--continue").start();
    terminal.wait_for_text("Done.");
    terminal.send_prompt("/delete");
    terminal.wait_for_text("Delete this conversation?");
    terminal.press("y");
    terminal.wait_for_text("type /delete undo");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(home.sessions().len(), 0);
    let mut terminal = TerminalOptions::in_home(&home).start();
    terminal.wait_for_text("qwen3:4b");
    terminal.send_prompt("/delete undo");
    terminal.wait_for_text("Restored \"Fix the code\".");
    assert_eq!(home.sessions().len(), 1);
    terminal.send_prompt("/delete undo");
    terminal.wait_for_text("the trash is empty");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn json_on_a_terminal_spells_out_hidden_characters() {
    let home = TestHome::empty();
    let title = "제목\u{9b}31m\u{90}\u{9d}\u{7f}\u{202e}\u{e0041}";
    write_session(&home, "20250202_090000_Code.json", title, "Done.");
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("sessions")
        .arg("list")
        .arg("--json")
        .size(400, 5)
        .start();
    assert_eq!(terminal.exit(), clean_exit());
    let output = String::from_utf8(terminal.raw()).expect("UTF-8");
    let escaped = r"제목\u009b31m\u0090\u009d\u007f\u202e\udb40\udc41";
    assert!(output.contains(escaped), "{output:?}");
    let listed: Value = serde_json::from_str(output.trim()).expect("JSON");
    assert_eq!(listed["sessions"][0]["title"], title);
}

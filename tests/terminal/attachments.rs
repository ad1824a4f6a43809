//! Attaching files with real keys, and a queue that survives a kill.

use super::model_server::{Reply, ollama_line, ollama_text};
use super::pty::UP;
use super::{CHAT, clean_exit, ollama, open};
use rustix::process::Signal;
use serde_json::json;

/// An image of one pixel.
const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

#[test]
fn a_completed_text_file_and_a_dropped_image_are_sent() {
    let (server, home) = ollama();
    let with_vision = Reply::json(200, &json!({ "capabilities": ["completion", "vision"] }));
    server.always_reply("/api/show", with_vision);
    server.queue_reply(CHAT, ollama_text(&["한 점입니다."]));
    let files = tempfile::TempDir::new().expect("a folder");
    let folder = files.path().display();
    std::fs::write(files.path().join("메모 1.txt"), "하나\n").expect("written");
    std::fs::write(files.path().join("dot one.gif"), GIF).expect("written");
    let mut terminal = open(&home);
    terminal.type_text(&format!("비교: @\"{folder}/메"));
    terminal.wait_for_text("Files");
    terminal.press("\t");
    terminal.wait_for_text("tokens");
    terminal.paste(&format!("'{folder}/dot one.gif'"));
    terminal.wait_for_text("GIF 1x1");
    terminal.press("\r");
    terminal.wait_for_text("한 점입니다.");
    let body = &server.bodies(CHAT)[0];
    let message = body["messages"].as_array().and_then(|list| list.last());
    let message = message.expect("a prompt");
    let text = message["content"].as_str().expect("text");
    assert!(text.starts_with("비교: @\""), "{text}");
    assert!(text.contains("\n하나\n[End of attached file "), "{text}");
    assert_eq!(message["images"].as_array().map(Vec::len), Some(1));
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_paste_that_names_no_file_is_text() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.paste("/no/such/cat.png");
    // While the path is being read, it is shown as an attachment.
    terminal.wait_for_text("› /no/such/cat.png");
    terminal.press("\u{15}");
    terminal.wait_until_gone("/no/such/cat.png");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn queued_prompts_are_edited_and_survive_a_kill() {
    let (server, home) = ollama();
    let first = ollama_line(&json!({ "role": "assistant", "content": "First words" }));
    server.queue_reply(CHAT, Reply::status(200).chunk(first).hang());
    let mut terminal = open(&home);
    terminal.send_prompt("one");
    terminal.wait_for_text("First words");
    terminal.send_prompt("두 번째");
    terminal.wait_for_text("queued");
    terminal.send_prompt("three");
    terminal.wait_for_text("three");
    terminal.press(UP);
    terminal.wait_for_text("move");
    terminal.press("\r");
    terminal.wait_for_text("editing");
    terminal.type_text("!");
    terminal.press("\r");
    terminal.wait_for("the edited prompt in the queue", |screen| {
        let text = screen.contents();
        text.contains("three!") && !text.contains("editing")
    });
    home.wait_until_draft(r#"{"message":"","queue":["두 번째","three!"]}"#);
    terminal.signal(Signal::KILL);
    terminal.exit();
    let terminal = open(&home);
    terminal.wait_for_text("three!");
    terminal.wait_for_text("두 번째");
    // The notice about the queue may be covered by the question about the unfinished turn.
    terminal.wait_for_text("paused");
}

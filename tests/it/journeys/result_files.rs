//! What only the user sees of a tool result: the paths of saved images and sounds, and parts that are
//! not for the model.

use super::in_memory_server::InMemoryServer;
use super::*;
use serde_json::json;

const GIF_BASE64: &str = "R0lGODlhAQABAIAAAA==";

/// A chat in which a tool is about to return an image and a sound.
fn with_media() -> Chat {
    let result = json!({ "content": [
        { "type": "image", "mimeType": "image/gif", "data": GIF_BASE64 },
        { "type": "audio", "mimeType": "audio/wav", "data": "AAEC" },
    ] });
    let server = InMemoryServer::default().with_result("shoot", result);
    let call = json!({ "server": "humble", "name": "shoot", "arguments": {} });
    let script = script().answer(&call.to_string()).answer("Done.");
    let mut chat = chat_with(&server, script);
    chat.says("/set-tool-mode auto");
    chat
}

fn opens_the_call(chat: &mut Chat, text: &str) {
    chat.press(KeyCode::Tab, KeyModifiers::NONE);
    for _ in 0..10 {
        chat.press(KeyCode::Up, KeyModifiers::NONE);
        let screen = chat.screen();
        if screen
            .lines()
            .any(|row| row.contains('▌') && row.contains(" shoot "))
        {
            chat.key('o').sees(text);
            return;
        }
    }
    panic!("{}", chat.screen());
}

#[test]
fn media_of_a_result_are_saved_and_only_the_user_sees_their_paths() {
    let mut chat = with_media();
    chat.says("Take a picture.").sees("Done.");
    opens_the_call(&mut chat, "[audio: audio/wav, 3 bytes]");
    chat.sees("saved files").sees("/cache/results/");
    chat.sees(".gif").sees(".wav");
    chat.model_receives("audio/wav, 3 bytes");
    chat.model_does_not_receive("cache/results");
}

#[test]
fn the_model_does_not_receive_parts_of_a_result_that_are_only_for_the_user() {
    let result = json!({ "content": [
        { "type": "text", "text": "Sent.", "annotations": { "audience": ["assistant", "user"] } },
        { "type": "text", "text": "Receipt 4711", "annotations": { "audience": ["user"] } },
    ] });
    let server = InMemoryServer::default().with_result("shoot", result);
    let call = json!({ "server": "humble", "name": "shoot", "arguments": {} });
    let script = script().answer(&call.to_string()).answer("Done.");
    let mut chat = chat_with(&server, script);
    chat.says("/set-tool-mode auto");
    chat.says("Send it.").sees("Done.");
    opens_the_call(&mut chat, "Receipt 4711");
    chat.sees("only for you")
        .sees("[a part only for the user, who sees it]");
    chat.model_receives("[a part only for the user, who sees it]");
    chat.model_does_not_receive("Receipt 4711");
}

#[test]
fn a_private_conversation_saves_no_media() {
    let mut chat = with_media();
    chat.says("/private").says("Take a picture.").sees("Done.");
    opens_the_call(&mut chat, "[audio: audio/wav, 3 bytes]");
    chat.does_not_see("saved files");
    let home = chat.shut_down();
    assert!(!home.path().join("cache/results").exists());
}

//! The browser for saved conversations: searching titles and messages, and the keys that act on a
//! row. Also the commands that export, delete, restore or fork the open conversation.

use super::*;
use crate::support::chat::{Chat, chat_in};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// Three conversations. The browser lists the newest first: Busan, weather, parser.
fn home_with_sessions() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    let folder = home.path().join("sessions");
    fs::create_dir(&folder).expect("created");
    let config = r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true } ] }"#;
    fs::write(home.path().join("config.json"), config).expect("written");
    for (name, model, prompt, answer) in [
        (
            "20250101_090000_parser.json",
            "gpt-4o",
            "Fix the parser",
            "Done.",
        ),
        (
            "20250201_090000_날씨.json",
            "qwen3:4b",
            "서울 날씨 알려줘",
            "**맑음**, 21 °C.",
        ),
        (
            "20250301_090000_Trip.json",
            "qwen3:4b",
            "Trip to Busan",
            "부산은 비가 옵니다. 호텔은 해운대.",
        ),
    ] {
        let messages = json!([
            { "role": "user", "content": prompt },
            { "role": "assistant", "content": answer },
        ]);
        let file = json!({ "model": model, "messages": messages });
        fs::write(folder.join(name), file.to_string()).expect("written");
    }
    home
}

fn browser() -> Chat {
    let mut chat = chat_in(home_with_sessions(), script());
    chat.press(KeyCode::F(4), KeyModifiers::NONE);
    chat
}

fn esc(chat: &mut Chat) -> &mut Chat {
    chat.press(KeyCode::Esc, KeyModifiers::NONE)
}

fn tab(chat: &mut Chat) -> &mut Chat {
    chat.press(KeyCode::Tab, KeyModifiers::NONE)
}

#[test]
fn two_syllables_in_an_answer_find_a_conversation_and_enter_resumes_it() {
    let mut chat = browser();
    chat.sees("Trip to Busan").sees("Fix the parser");
    chat.types("해운")
        .sees("1 of 3")
        .sees("Trip to Busan")
        .does_not_see("Fix the parser")
        .sees("호텔은 해운대")
        .enter()
        .sees("부산은 비가 옵니다. 호텔은 해운대.")
        .does_not_see("Sessions");
}

#[test]
fn filters_limit_the_search_and_an_invalid_one_is_explained_in_place() {
    let mut chat = browser();
    chat.types("model:qwen before:2025-02-15")
        .sees("서울 날씨 알려줘")
        .does_not_see("Trip to Busan")
        .does_not_see("Fix the parser");
    esc(&mut chat)
        .types("after:someday")
        .sees("`after:someday` is not a date.");
    esc(&mut chat).types("zzz").sees("Nothing matches \"zzz\".");
}

#[test]
fn a_conversation_is_renamed_in_its_row() {
    let mut chat = browser();
    tab(&mut chat).key('r').sees("Title: Trip to Busan");
    chat.ctrl('u').types("부산 여행").enter();
    chat.sees("Renamed to \"부산 여행\".").sees("▌ 부산 여행");
    let home = chat.shut_down();
    let file = home.path().join("sessions/20250301_090000_Trip.json");
    let file = fs::read_to_string(file).expect("a file");
    assert!(file.contains("\"title\": \"부산 여행\""), "{file}");
}

#[test]
fn a_fork_has_the_next_free_title_and_is_selected() {
    let mut chat = browser();
    tab(&mut chat).key('f');
    chat.sees("Forked \"Trip to Busan\" as \"Trip to Busan (2)\".")
        .sees("▌ Trip to Busan (2)");
    chat.key('f').sees("▌ Trip to Busan (3)");
}

#[test]
fn a_deletion_asks_in_the_row_and_can_be_undone() {
    let mut chat = browser();
    tab(&mut chat)
        .key('d')
        .sees("▌ Delete \"Trip to Busan\"? (y/n)");
    chat.key('n').sees("▌ Trip to Busan");
    chat.key('d')
        .key('y')
        .sees("Deleted \"Trip to Busan\".")
        .does_not_see("▌ Trip to Busan");
    assert!(!chat.text_in_folder("sessions").contains("Trip to Busan"));
    chat.key('u')
        .sees("Restored \"Trip to Busan\".")
        .sees("▌ Trip to Busan");
    assert!(chat.text_in_folder("sessions").contains("Trip to Busan"));
    chat.key('u')
        .sees("Nothing to restore: the trash is empty.");
}

#[test]
fn an_export_shows_its_path_and_asks_before_replacing_a_file() {
    let target = TempDir::new().expect("a temporary folder");
    let path = target
        .path()
        .canonicalize()
        .expect("a path")
        .join("trip.html");
    let path = path.to_str().expect("UTF-8").to_owned();
    let mut chat = browser();
    tab(&mut chat)
        .key('e')
        .sees("Export as md to Trip to Busan.md");
    tab(&mut chat).sees("Export as json to Trip to Busan.json");
    tab(&mut chat).sees("Export as html to Trip to Busan.html");
    chat.ctrl('u').types(&path).enter();
    chat.sees("Exported \"Trip to Busan\" to");
    let page = fs::read_to_string(&path).expect("a page");
    assert!(page.contains("<h1>Trip to Busan</h1>"));
    fs::write(&path, "mine").expect("written");
    chat.key('e')
        .ctrl('u')
        .types(&path)
        .enter()
        .sees("Replace it? (y/n)");
    chat.key('n');
    assert_eq!(fs::read_to_string(&path).expect("a file"), "mine");
    chat.enter()
        .sees("Replace it? (y/n)")
        .key('y')
        .sees("Exported");
    assert!(fs::read_to_string(&path).expect("a page").contains("<h1>"));
}

#[test]
fn the_open_conversation_is_exported_deleted_and_restored() {
    let target = TempDir::new().expect("a temporary folder");
    let folder = target.path().canonicalize().expect("a path");
    let mut chat = chat(
        script()
            .answer("First answer.")
            .answer("Second answer.")
            .answer("Third answer."),
    );
    chat.says("/export")
        .sees("Nothing to export: there is no answer yet.");
    chat.says("/delete")
        .sees("Nothing to delete: this conversation is not saved.");
    chat.says("one").says("two");
    chat.says(&format!(
        "/export md {} --answers --last 1",
        folder.display()
    ));
    chat.sees("Exported \"one\" to");
    let exported = fs::read_to_string(folder.join("one.md")).expect("a file");
    assert_eq!(exported, "Second answer.\n");
    chat.says("/export --lats 1")
        .sees("There is no option --lats");
    chat.says("/delete")
        .sees("Delete this conversation?")
        .key('n');
    chat.sees("Second answer.");
    chat.says("/delete")
        .key('y')
        .sees("Deleted \"one\".")
        .does_not_see("Second answer.");
    chat.says("/delete undo")
        .sees("Restored \"one\".")
        .sees("Second answer.");
    // Once something else has been said, the restored conversation does not replace it.
    chat.says("/delete").key('y').sees("Deleted \"one\".");
    chat.says("three").sees("Third answer.");
    chat.says("/delete undo")
        .sees("Restored \"one\".")
        .sees("Third answer.");
}

#[test]
fn the_open_conversation_is_not_deleted_while_it_is_answered() {
    let mut chat = chat(script().answer("First answer.").round([ScriptStep::Hang]));
    chat.says("one").says("two");
    chat.says("/delete").key('y');
    chat.sees("The conversation is still being answered or saved.");
    assert!(chat.text_in_folder("sessions").contains("First answer."));
}

#[test]
fn a_fork_gets_a_title_of_its_own() {
    let mut chat = chat(script().answer("First answer."));
    chat.says("one").says("/fork");
    chat.sees("Forked. You are in the copy, \"one (2)\".")
        .sees("The original, \"one\", is unchanged.");
    chat.says("/sessions").sees("one (2)");
}

#[test]
fn renaming_the_open_conversation_in_the_list_survives_the_next_turn() {
    let mut chat = chat(script().answer("First answer.").answer("Second answer."));
    chat.says("one").says("/sessions");
    tab(&mut chat).key('r').ctrl('u').types("새 제목").enter();
    chat.sees("Renamed to \"새 제목\".").sees("▌ 새 제목");
    esc(&mut chat);
    esc(&mut chat);
    chat.says("two").sees("Second answer.");
    let saved = chat.text_in_folder("sessions");
    assert!(
        saved.contains("새 제목") && saved.contains("Second answer."),
        "{saved}"
    );
}

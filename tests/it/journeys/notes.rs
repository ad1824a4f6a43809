//! Notes that ordinary prompts create, find and summarize, and the commands for notes.

use super::*;
use crate::support::engine_harness::{OLLAMA_CONFIG, write_config};
use humble::provider::{EndReason, StreamPart};
use std::fs;
use tempfile::TempDir;

fn home_with_vault() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    let vault = home.path().join("vault");
    fs::create_dir(&vault).expect("created");
    let mut config: serde_json::Value = serde_json::from_str(OLLAMA_CONFIG).expect("JSON");
    config["notes"] = serde_json::json!({ "vault": vault });
    write_config(&home, &config.to_string());
    home
}

#[test]
fn a_search_of_notes_waits_for_no_model() {
    let home = TempDir::new().expect("a temporary folder");
    let vault = home.path().join("vault");
    fs::create_dir(&vault).expect("created");
    fs::write(vault.join("tea.md"), "# Tea\nGreen tea.").expect("written");
    let config = serde_json::json!({ "notes": { "vault": vault } });
    write_config(&home, &config.to_string());
    let mut chat = first_run_in(home, script());
    chat.says("find notes about tea")
        .sees("1 note matches \"tea\":")
        .sees("✓ 1 note found")
        .says("make a note about tea")
        .sees("make a note about tea")
        .does_not_see("note created");
}

#[test]
fn a_note_is_created_found_opened_summarized_and_undone() {
    let script = script()
        .answer("# 양자 역학\n\n입자와 파동.")
        .answer("No note.")
        .answer("파동이다.")
        .answer("# Tea\n\nHot.");
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("양자 역학에 대한 노트 만들어줘")
        .sees("입자와 파동.")
        .sees("✓ note created  양자-역학.md  /undo removes it")
        .says("파동 노트 찾아줘")
        .sees("1 note matches \"파동\":")
        .sees("✓ 1 note found  /note PATH opens one")
        .says("이 노트 요약해줘")
        .sees("No note is open.");
    chat.says("/note 양자-역학.md")
        .sees("The open note is \"양자 역학\" (양자-역학.md).")
        .says("이 노트 요약해줘")
        .sees("파동이다.")
        .sees("✓ note summarized  양자-역학.md")
        .says("make a note about tea")
        .sees("✓ note created  tea.md  /undo removes it")
        .says("/undo")
        .sees("Undone. The note tea.md was removed.")
        .does_not_see("tea.md  /undo");
    assert!(chat.text_in_folder("vault").contains("입자와 파동."));
    assert!(!chat.text_in_folder("vault").contains("Hot."));
}

#[test]
fn the_chat_command_bypasses_the_agents_and_the_note_command_reports_a_missing_note() {
    let script = script().answer("Notes are texts.").answer("Again.");
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("/note")
        .sees("No note is open. /note PATH opens one.")
        .says("/note missing")
        .sees("The note missing cannot be read: there is no such note.")
        .says("/chat")
        .sees("Usage: /chat PROMPT")
        .says("/chat make a note about tea")
        .model_receives("make a note about tea")
        .sees("Notes are texts.")
        .says("/retry")
        .sees("Again.")
        .sees("make a note about tea")
        .does_not_see("note created");
    assert_eq!(chat.text_in_folder("vault"), "");
}

#[test]
fn ctrl_c_stops_a_note_before_it_is_written() {
    let script = script().round([ScriptStep::text("# Te"), ScriptStep::Hang]);
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("make a note about tea")
        .sees("Te")
        .ctrl('c')
        .sees("(stopped)")
        .sees("make a note about tea")
        .does_not_see("note created");
    assert_eq!(chat.text_in_folder("vault"), "");
}

#[test]
fn notes_are_sent_with_prompts_only_while_switched_on() {
    let home = home_with_vault();
    let note = "# 공유기\n비밀번호는 서랍에 있다.";
    fs::write(home.path().join("vault/router.md"), note).expect("written");
    let script = script().answer("서랍에 있습니다.").answer("모릅니다.");
    let mut chat = chat_in(home, script);
    chat.says("/notes maybe")
        .sees("Usage: /notes [on|off|PATH]")
        .says("/notes")
        .sees("Notes are not sent with prompts (1 note in")
        .sees("/notes on sends them.")
        .says("/notes on")
        .sees("Excerpts of notes that match a prompt are sent with it (1 note")
        .says("공유기 비밀번호는 어디에 있어?")
        .model_receives("비밀번호는 서랍에 있다.")
        .sees("서랍에 있습니다.")
        .sees("✓ note consulted  router.md");
    chat.says("/notes off")
        .sees("Notes are no longer sent with prompts.")
        .says("공유기 비밀번호가 뭐야?")
        .sees("모릅니다.");
}

#[test]
fn the_hint_to_undo_a_note_is_shown_only_while_undo_removes_it() {
    let script = script()
        .answer("# Tea")
        .answer("Hello.")
        .round([ScriptStep::text("Hel"), ScriptStep::Hang]);
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("make a note about tea")
        .sees("✓ note created  tea.md  /undo removes it")
        .says("hi")
        .sees("Hello.")
        .does_not_see("/undo removes it")
        .says("/undo")
        .sees("/undo removes it")
        .says("hi again")
        .sees("Hel")
        .ctrl('c')
        .sees("(stopped)")
        .does_not_see("/undo removes it");
    chat.says("/undo")
        .sees("/undo removes it")
        .says("/undo")
        .sees("Undone. The note tea.md was removed.")
        .sees("make a note about tea")
        .does_not_see("note created");
    assert_eq!(chat.text_in_folder("vault"), "");
}

#[test]
fn continuing_a_truncated_note_saves_it() {
    let script = script()
        .round([
            ScriptStep::text("# 홍차\n\n따뜻한"),
            ScriptStep::Part(StreamPart::End(EndReason::Length)),
        ])
        .answer(" 음료.");
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("홍차에 대한 노트 만들어줄 수 있어?")
        .sees("The note is incomplete and was not saved.")
        .sees("/continue completes and saves it.")
        .says("/continue")
        .sees("✓ note created  홍차.md  /undo removes it")
        .does_not_see("The note is incomplete");
    assert_eq!(chat.text_in_folder("vault"), "# 홍차\n\n따뜻한 음료.\n");
    chat.says("/undo").sees("The note 홍차.md was removed.");
    assert_eq!(chat.text_in_folder("vault"), "");
}

#[test]
fn retry_rewrites_the_note_and_edit_removes_it() {
    let script = script()
        .answer("# Tea 1")
        .answer("# Tea 2")
        .answer("Coffee!");
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("make a note about tea")
        .sees("note created  tea.md")
        .says("/retry")
        .sees("Tea 2")
        .sees("note created  tea.md");
    assert_eq!(chat.text_in_folder("vault"), "# Tea 2\n");
    chat.says("/edit")
        .ctrl('u')
        .says("what is coffee?")
        .sees("Coffee!")
        .sees("The note tea.md was removed.");
    assert_eq!(chat.text_in_folder("vault"), "");
}

#[test]
fn the_path_of_a_note_is_completed() {
    let home = home_with_vault();
    fs::create_dir(home.path().join("vault/home")).expect("created");
    for name in ["home/router.md", "tea.md"] {
        fs::write(home.path().join("vault").join(name), "# Router").expect("written");
    }
    let mut chat = chat_in(home, script());
    chat.types("/note ")
        .sees("tea.md")
        .types("rou")
        .sees("home/router.md")
        .does_not_see("tea.md")
        .press(KeyCode::Tab, KeyModifiers::NONE)
        .sees("/note home/router.md");
    chat.enter()
        .sees("The open note is \"Router\" (home/router.md).");
}

#[test]
fn enter_takes_the_typed_path_unless_a_suggestion_was_selected() {
    let home = home_with_vault();
    for name in ["old-plan.md", "router.md"] {
        fs::write(home.path().join("vault").join(name), "# Old").expect("written");
    }
    let mut chat = chat_in(home, script());
    chat.types("/note plan.md")
        .sees("old-plan.md")
        .enter()
        .sees("The note plan.md cannot be read: there is no such note.")
        .does_not_see("The open note");
    chat.types("/note plan.md")
        .sees("old-plan.md")
        .press(KeyCode::Down, KeyModifiers::NONE)
        .enter()
        .sees("The open note is \"Old\" (old-plan.md).");
}

#[test]
fn an_edit_of_an_earlier_message_says_which_notes_stay() {
    let script = script()
        .answer("Hello.")
        .answer("# Kiwi")
        .answer("Hello again.");
    let mut chat = chat_in(home_with_vault(), script);
    chat.says("hello")
        .says("make a note on kiwi")
        .sees("✓ note created  kiwi.md");
    chat.press(KeyCode::Tab, KeyModifiers::NONE);
    chat.up().up().up().up().up().key('e');
    chat.sees("Editing the message before your last one: hello")
        .types(" anew")
        .enter()
        .sees("Hello again.")
        .sees("2 turns were replaced. Their notes stay: kiwi.md.");
    assert!(chat.text_in_folder("vault").contains("# Kiwi"));
}

#[test]
fn a_number_in_a_string_passes_the_argument_check() {
    let home = home_with_vault();
    let vault = home.path().join("vault");
    fs::write(vault.join("tea.md"), "# Tea\nHot.").expect("written");
    let arguments = serde_json::json!({ "vault_path": vault, "query": "tea", "limit": "5" });
    let call = serde_json::json!({
        "server": "humble", "name": "search_notes", "arguments": arguments,
    });
    let script = script().answer(&call.to_string()).answer("Tea is hot.");
    chat_in(home, script)
        .says("Is tea hot?")
        .reads_screen()
        .sees("Call now? (Y/N)")
        .key('y')
        .sees("Tea is hot.")
        .model_receives("tea.md");
}

/// No notes folder is configured. The folder `recipes` contains a note.
fn home_without_vault() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    write_config(&home, OLLAMA_CONFIG);
    let recipes = home.path().join("recipes");
    fs::create_dir(&recipes).expect("created");
    fs::write(recipes.join("soup.md"), "# Soup\n\nWith leeks.").expect("written");
    home
}

#[test]
fn the_notes_folder_is_chosen_in_the_chat() {
    let home = home_without_vault();
    let recipes = fs::canonicalize(home.path().join("recipes")).expect("a path");
    let config = home.path().join("config.json");
    let mut chat = chat_in(home, script().answer("Sorry."));
    chat.says("find notes about leeks")
        .sees("Sorry.")
        .sees("The notes were not used: no notes folder is configured.")
        .says("/note")
        .sees("No note is open: no notes folder is configured. /notes PATH")
        .says("/notes recipes?")
        .sees("Usage: /notes [on|off|PATH]")
        .says(&format!("/notes {}/../recipes", recipes.display()))
        .sees("Use it?")
        .sees(&recipes.display().to_string())
        .does_not_see("does not exist yet")
        .reads_screen()
        .key('y')
        .sees("Notes are not sent with prompts (1 note in")
        .says("find notes about leeks")
        .sees("✓ 1 note found")
        .says(&format!("/notes {}", recipes.display()))
        .sees("is already the notes folder.");
    let config = fs::read_to_string(config).expect("a file");
    let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    assert_eq!(config["notes"], serde_json::json!({ "vault": recipes }));
}

#[test]
fn a_new_notes_folder_is_created_only_after_consent() {
    let home = home_without_vault();
    let new = fs::canonicalize(home.path()).expect("a path").join("new");
    let config = home.path().join("config.json");
    let mut chat = chat_in(home, script().answer("# Tea\n\nHot."));
    let command = format!("/notes {}", new.display());
    chat.says(&format!("/notes {}/deep/er", new.display()))
        .sees("cannot be used: the folder does not exist.")
        .says(&command)
        .sees("Create and use it?")
        .sees("This folder does not exist yet. It will be created.")
        .reads_screen()
        .key('n')
        .does_not_see("Create and use it?");
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(config).expect("a file"), OLLAMA_CONFIG);
    chat.says(&command)
        .sees("Create and use it?")
        .reads_screen()
        .key('y')
        .sees("The notes folder is now")
        .says("make a note about tea")
        .sees("✓ note created  tea.md");
    assert!(new.join("tea.md").exists());
}

#[test]
fn the_notice_that_notes_are_read_does_not_outlast_the_result() {
    let mut chat = chat_in(home_without_vault(), script());
    // The notice of `/note` is still visible when the notes are read.
    chat.says("/note")
        .sees("No note is open")
        .says("/notes")
        .sees("No notes folder is configured.")
        .waits(std::time::Duration::from_secs(10))
        .does_not_see("Reading the notes");
}

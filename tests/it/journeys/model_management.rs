//! Model management in special cases: invalid names, missing models, unreadable settings.

use super::models::{with_ollama, with_qwen};
use super::*;

const TAB: KeyCode = KeyCode::Tab;
const ESC: KeyCode = KeyCode::Esc;

#[test]
fn an_invalid_name_is_not_pulled_and_stays_editable() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models pull qwen3 4b")
        .sees("`qwen3 4b` is not a model name.")
        .does_not_see("Pulling");
    chat.says("/models").press(TAB, KeyModifiers::NONE);
    chat.key('p').types("a b").enter();
    chat.sees("`a b` is not a model name.").sees("Pull › a b");
}

#[test]
fn removing_a_missing_model_fails_without_a_question() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models").press(ESC, KeyModifiers::NONE);
    chat.says("/models rm nope")
        .sees("http://localhost:11434 has no model `nope`.")
        .does_not_see("Remove it?");
}

#[test]
fn removing_the_model_in_use_warns_the_user() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models rm gemma3:4b").sees("Remove model");
    chat.does_not_see("in use;").reads_screen().key('n');
    chat.says("/models rm qwen3:4b")
        .sees("This model is in use;");
}

#[test]
fn a_question_over_the_models_dialog_is_as_wide_as_the_dialog() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models")
        .types("gem")
        .press(TAB, KeyModifiers::NONE);
    let screen = chat.key('d').sees("Remove it?").screen();
    let edge = |title: &str| {
        let row = screen.lines().find(|row| row.contains(title));
        row.map(humble::text::grapheme::width)
    };
    assert_eq!(edge(" Remove model "), edge(" Models "), "{screen}");
}

#[test]
fn after_a_removal_no_model_is_selected_until_the_user_moves_the_selection() {
    let script = with_ollama(script());
    let catalog = script.catalog();
    let mut chat = with_qwen(script);
    chat.says("/models").press(TAB, KeyModifiers::NONE).key('j');
    chat.key('d')
        .reads_screen()
        .key('y')
        .sees("Removed gemma3:4b.");
    assert_eq!(catalog.model_names("http://localhost:11434"), ["qwen3:4b"]);
    chat.does_not_see("▌ 1  qwen3:4b")
        .key('d')
        .does_not_see("Remove it?");
    chat.key('k').sees("▌ 1  qwen3:4b");
    chat.key('d').sees("Remove it?");
}

#[test]
fn c_cancels_a_pull_and_x_does_not() {
    let hang = humble::provider::PullStep::Hang;
    let mut chat = with_qwen(with_ollama(script()).with_pull([hang]));
    chat.says("/models pull m").says("/models");
    chat.press(TAB, KeyModifiers::NONE).sees("c cancel pull");
    chat.key('x').sees("Pulling m").key('c');
    chat.sees("Stopped pulling m.");
}

#[test]
fn a_filled_form_needs_a_second_esc_to_close() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models").press(TAB, KeyModifiers::NONE).key('a');
    chat.press(ESC, KeyModifiers::NONE)
        .does_not_see("Another server");
    chat.says("/models").press(TAB, KeyModifiers::NONE).key('a');
    chat.press(KeyCode::Down, KeyModifiers::NONE).types("m");
    chat.press(ESC, KeyModifiers::NONE);
    chat.sees("Press Esc again to discard what you typed.");
    chat.types("y").press(ESC, KeyModifiers::NONE).sees("my");
    chat.press(ESC, KeyModifiers::NONE)
        .does_not_see("Another server");
}

#[test]
fn a_prompt_reports_unreadable_settings_with_the_position() {
    let home = tempfile::TempDir::new().expect("a temporary folder");
    std::fs::write(home.path().join("config.json"), "{\n  \"models\": [,]\n}").expect("written");
    chat_in(home, script())
        .says("hi")
        .sees("config.json could not be read, so no model is available.")
        .sees("line 2, column 14")
        .model_received_requests(0);
}

#[test]
fn native_calls_that_nobody_may_have_chosen_are_named_once() {
    let home = tempfile::TempDir::new().expect("a temporary folder");
    let text = r#"{ "models": [
        { "name": "qwen3:4b", "provider": "ollama", "toolCalls": "native", "active": true },
        { "name": "gpt", "provider": "openai", "toolCalls": "native" } ] }"#;
    std::fs::write(home.path().join("config.json"), text).expect("written");
    let mut chat = chat_in(home, script());
    chat.sees("config.json sets `toolCalls` to `native` for qwen3:4b.");
    assert_eq!(chat.config(), text);
    chat_in(chat.shut_down(), script()).does_not_see("toolCalls");
}

#[test]
fn native_calls_chosen_in_a_new_home_are_not_questioned() {
    let mut chat = with_qwen(with_ollama(script()));
    let native = chat
        .config()
        .replace("\"active\"", "\"toolCalls\": \"native\", \"active\"");
    chat.edits_config(&native);
    chat_in(chat.shut_down(), script()).does_not_see("toolCalls");
}

#[test]
fn a_model_with_the_name_of_a_configured_one_on_another_server_is_a_model_of_its_own() {
    let other = "http://localhost:9999";
    let home = tempfile::TempDir::new().expect("a temporary folder");
    let text = format!(
        r#"{{ "models": [
        {{ "name": "qwen3:4b", "provider": "ollama", "active": true }},
        {{ "name": "far", "model": "tiny", "provider": "ollama", "baseUrl": "{other}" }} ] }}"#
    );
    std::fs::write(home.path().join("config.json"), &text).expect("written");
    let script = with_ollama(script().answer("Hello."));
    let names = ["qwen3:4b", "tiny"];
    let models = names.map(|name| super::models::model(name, &["completion"]));
    let mut chat = chat_in(home, script.with_server(other, models));
    chat.says("/models").types("qwen3:4b");
    chat.press(KeyCode::Down, KeyModifiers::NONE).enter();
    chat.sees("Using qwen3:4b @ localhost:9999 until humble exits.");
    assert_eq!(chat.config(), text);
    let mut in_use = Vec::new();
    let screen = chat.says("/models").sees("localhost:9999").screen();
    in_use.extend(screen.lines().filter(|row| row.contains("in use")));
    assert_eq!(in_use.len(), 1, "{screen}");
    assert!(in_use[0].starts_with(" ▌    qwen3:4b"), "{screen}");
    chat.press(ESC, KeyModifiers::NONE).says("/models keep");
    chat.sees("Using qwen3:4b @ localhost:9999. Saved to config.json.");
    chat.says("/models keep").sees("already");
    assert_eq!(chat.config().matches("\"model\": \"qwen3:4b\"").count(), 1);
}

#[test]
fn automatic_calls_are_announced_with_their_duration_and_the_way_back() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/set-tool-mode auto")
        .sees("Tools now run without asking, also after a restart.")
        .sees("/set-tool-mode manual asks again.");
    assert!(chat.config().contains(r#""toolCallMode": "auto""#));
    chat.says("/set-tool-mode manual")
        .sees("From now on, each tool call asks first.");
}

//! Themes: chosen in the chat, or changed in a file.

use super::*;
use crate::engine::settings_reload::config_with;
use humble::domain::theme::ThemeChoice;
use std::fs;

#[tokio::test(start_paused = true)]
async fn changed_theme_and_theme_file_apply_without_a_question() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let edited = config_with(&json!({ "ui": { "theme": "dark" } }));
    harness.edit_file("config.json", &edited).await;
    harness
        .wait_for_notice("config.json: ui.theme is now dark.")
        .await;
    fs::create_dir(harness.home.path().join("themes")).expect("the home is ours");
    harness
        .edit_file("themes/own.json", r#"{ "accent": "red" }"#)
        .await;
    let is_changed =
        |event: &Event| matches!(event, Event::ThemesChanged(themes) if themes.files.len() == 1);
    harness.wait_for("the theme file", is_changed).await;
    assert_eq!(harness.current_banners().await, []);
}

#[tokio::test(start_paused = true)]
async fn chosen_theme_is_stored_and_is_no_outside_edit() {
    let mut harness = EngineHarness::start(Script::default()).await;
    harness.send(Command::SetTheme(ThemeChoice::Light)).await;
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    let home = harness.shut_down().await;
    let config = read_json(&home.path().join("config.json"));
    assert_eq!(config["ui"]["theme"], "light");
}

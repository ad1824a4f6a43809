//! External edits that conflict with the user's choices, declined changes or an open question.

use super::settings_reload::config_with;
use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::Think;
use humble::engine::EngineOptions;
use humble::protocol::ContextMeter;
use std::fs;
use tempfile::TempDir;

fn auto_mode_config_with(extra: &Value) -> String {
    let mut settings = json!({ "toolCallMode": "auto" });
    let extra = extra.as_object().expect("an object").clone();
    settings.as_object_mut().expect("an object").extend(extra);
    config_with(&settings)
}

fn question_count(harness: &EngineHarness) -> usize {
    let is_question = |event: &&Event| matches!(event, Event::Asked { .. });
    harness.events.iter().filter(is_question).count()
}

#[tokio::test(start_paused = true)]
async fn declined_change_is_not_asked_about_again_after_other_edits() {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    let options = EngineOptions {
        watch: true,
        ..EngineOptions::default()
    };
    let mut harness = EngineHarness::start_with_options(home, Script::default(), options).await;
    let path = harness.home.path().join("config.json");
    fs::write(&path, auto_mode_config_with(&json!({}))).expect("written");
    let (ask, _) = harness.next_edit_question().await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    fs::write(
        &path,
        auto_mode_config_with(&json!({ "logLevel": "error" })),
    )
    .expect("written");
    harness
        .wait_for_notice("config.json: logLevel is now error.")
        .await;
    let banner = "config.json has changes that you rejected; they are not used. [Reload]";
    assert_eq!(harness.pending_settings_banners().await, [banner]);
    assert_eq!(question_count(&harness), 1);
    // A further change that needs consent is a new question.
    let limits = json!({ "limits": { "toolRounds": 999 } });
    fs::write(&path, auto_mode_config_with(&limits)).expect("written");
    let (_, changes) = harness.next_edit_question().await;
    assert_eq!(changes.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn answer_to_a_question_does_not_undo_a_later_edit() {
    let mut harness = EngineHarness::start(Script::default()).await;
    harness
        .edit_file("config.json", &auto_mode_config_with(&json!({})))
        .await;
    let (ask, _) = harness.next_edit_question().await;
    let edited = auto_mode_config_with(&json!({ "logLevel": "error" }));
    harness.edit_file("config.json", &edited).await;
    harness.wait_for_notice("logLevel is now error").await;
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("The change was applied.").await;
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    let notices = harness.events.iter().filter(
        |event| matches!(event, Event::NoticePosted(notice) if notice_text(notice).contains("logLevel")),
    );
    assert_eq!(notices.count(), 1);
    assert_eq!(question_count(&harness), 1);
}

#[tokio::test(start_paused = true)]
async fn command_line_mode_overrides_an_accepted_edit() {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Manual),
        ..EngineOptions::default()
    };
    let script = Script::default().answer(GET_TIME_CALL);
    let mut harness = EngineHarness::start_with_options(home, script, options).await;
    harness
        .edit_file("config.json", &auto_mode_config_with(&json!({})))
        .await;
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    harness.prompt("Time?").await;
    let (_, calls) = harness.next_approval().await;
    assert_eq!(calls.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn thinking_chosen_for_this_run_survives_an_edit_to_its_model() {
    let mut harness = EngineHarness::start(Script::default().answer("ok")).await;
    harness.send(Command::SetThink(Think::High)).await;
    let config = OLLAMA_CONFIG.replace("\"active\"", "\"contextLength\": 9999, \"active\"");
    harness.edit_file("config.json", &config).await;
    harness.wait_for_notice("contextLength").await;
    harness.prompt("?").await;
    harness.wait_for_turn_end().await;
    let model = harness.last_request().model;
    let expected = (Some(Think::High), Some(9_999));
    assert_eq!((model.think, model.context_length), expected);
}

#[tokio::test(start_paused = true)]
async fn changed_model_address_resets_the_context_meter() {
    let mut harness = EngineHarness::start(Script::default().answer("ok")).await;
    harness.prompt("?").await;
    harness.wait_for_turn_end().await;
    let url = "\"baseUrl\": \"http://box:1\", \"active\"";
    let config = OLLAMA_CONFIG.replace("\"active\"", url);
    harness.edit_file("config.json", &config).await;
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::ApplyChanges).await;
    let is_empty = |event: &Event| *event == Event::ContextMeasured(ContextMeter::default());
    harness.wait_for("an empty meter", is_empty).await;
}

#[tokio::test(start_paused = true)]
async fn a_switch_that_cannot_be_saved_says_so() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let broken = "{ \"mcpServers\": {";
    harness.edit_file("mcp-servers.json", broken).await;
    harness.send(Command::ToggleServer("humble".into())).await;
    let is_off =
        |event: &Event| matches!(event, Event::ServersListed(servers) if !servers[0].enabled);
    harness.wait_for("the server is off", is_off).await;
    let is_unsaved = |event: &Event| match event {
        Event::NoticePosted(notice) => {
            let text = notice.summary();
            text.starts_with("Server `humble` is off, but this was not saved.")
                && text.contains("mcp-servers.json, line")
                && notice
                    .advice
                    .contains(&"Correct the file, then switch it again.".into())
        }
        _ => false,
    };
    harness.wait_for("the notice", is_unsaved).await;
    let (server, tool) = ("humble".into(), "get_time".into());
    harness.send(Command::ToggleTool { server, tool }).await;
    let is_unsaved = |event: &Event| match event {
        Event::NoticePosted(notice) => {
            notice.what == "Tool `get_time` is off, but this was not saved."
        }
        _ => false,
    };
    harness.wait_for("the notice", is_unsaved).await;
    let home = harness.shut_down().await;
    let file = std::fs::read_to_string(home.path().join("mcp-servers.json")).expect("the file");
    assert_eq!(file, broken);
}

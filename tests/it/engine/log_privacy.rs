//! The log: secrets and private conversations stay out of it, and failures are logged as errors.

use super::*;
use crate::scoped_subscriber::set_scoped_subscriber;
use humble::domain::SecretRegistry;
use humble::log::TracingLayer;
use humble::provider::FailureCause;
use std::fs;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// Starts an engine that logs on this thread until the guard is dropped.
async fn start_logged(config: &str) -> (EngineHarness, DefaultGuard) {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), config).expect("written");
    start_logged_in(home, Script::default()).await
}

async fn start_logged_with(
    config: &str,
    servers: &Value,
    script: Script,
) -> (EngineHarness, DefaultGuard) {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), config).expect("written");
    let path = home.path().join("mcp-servers.json");
    fs::write(path, servers.to_string()).expect("written");
    start_logged_in(home, script).await
}

async fn start_logged_in(home: TempDir, script: Script) -> (EngineHarness, DefaultGuard) {
    let folder = home.path().join("logs");
    let secrets = SecretRegistry::default();
    let level = tracing::Level::DEBUG;
    let (layer, handle) = TracingLayer::new(&folder, level, secrets.clone(), |_| {});
    let registry = tracing_subscriber::registry().with(layer);
    let guard = set_scoped_subscriber(registry);
    // These tests do not read the log pane.
    let log = (handle, mpsc::channel(1).1, secrets);
    let harness = EngineHarness::start_with_log(home, script, log).await;
    (harness, guard)
}

fn log(harness: &EngineHarness) -> String {
    let folder = fs::read_dir(harness.home.path().join("logs")).expect("a folder");
    folder
        .map(|entry| fs::read_to_string(entry.expect("readable").path()).expect("text"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn edited_key_is_hidden_whether_it_is_accepted_or_not() {
    let (mut harness, _log) = start_logged(OLLAMA_CONFIG).await;
    let config = json!({ "models": [
        { "name": "m", "provider": "ollama", "active": true, "apiKey": "sk-waiting-0001" },
        { "name": "x", "provider": "openai", "apiKey": "sk-harmless-0002" },
    ] });
    harness.edit_file("config.json", &config.to_string()).await;
    harness.next_edit_question().await;
    tracing::info!(target: "humble::test", "one sk-waiting-0001 other sk-harmless-0002 end");
    let log = log(&harness);
    assert!(log.contains(" end"), "{log}");
    assert!(!log.contains("0001") && !log.contains("0002"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn private_mode_suppresses_debug_lines() {
    let config = OLLAMA_CONFIG.replacen('{', "{ \"logLevel\": \"debug\",", 1);
    let (mut harness, _log) = start_logged(&config).await;
    for is_private in [true, false] {
        harness.send(Command::SetPrivate(is_private)).await;
        let is_changed = |event: &Event| *event == Event::PrivateChanged(is_private);
        harness.wait_for("the change", is_changed).await;
        let word = if is_private { "whispered" } else { "aloud" };
        tracing::debug!(target: "humble::test", "{word}");
        tracing::info!(target: "humble::test", "after {is_private}");
    }
    let log = log(&harness);
    let is_logged = ["whispered", "after true", "aloud", "after false"];
    let is_logged = is_logged.map(|text| log.contains(text));
    assert_eq!(is_logged, [false, true, true, true], "{log}");
}

#[tokio::test(start_paused = true)]
async fn server_secrets_are_redacted_in_every_line() {
    let servers = json!({ "mcpServers": {
        "a": { "command": "no-such-command", "args": ["--api-key", "argument-1"],
               "env": { "DSN": "postgres://u:pass-1@h/d", "MODE": "setting-1" } },
        "b": { "url": "http://127.0.0.1:1/s/0123456789abcdefABCD/mcp", "transport": "http",
               "headers": { "X-Any": "header-1" } },
    } });
    let config = OLLAMA_CONFIG.replacen('{', "{ \"logLevel\": \"debug\",", 1);
    let (harness, _log) = start_logged_with(&config, &servers, Script::default()).await;
    let secrets = [
        "argument-1",
        "pass-1",
        "setting-1",
        "0123456789abcdefABCD",
        "header-1",
    ];
    for secret in secrets {
        tracing::info!(target: "humble::test", field = %secret, "said {secret:?}");
    }
    let log = log(&harness);
    assert!(log.contains("said \"[hidden]\" field=[hidden]"), "{log}");
    for secret in secrets {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_failure_is_logged_at_level_error() {
    let servers = json!({ "mcpServers": {
        "absent": { "command": "no-such-command" },
        "odd": { "command": "x", "url": "http://h" },
    } });
    let config = OLLAMA_CONFIG.replacen('{', "{ \"logLevel\": \"error\",", 1);
    let script = Script::default()
        .answer(FAILING_GET_TIME_CALL)
        .answer("It failed.")
        .round([ScriptStep::Fail(FailureCause::ConnectionRefused)]);
    let (mut harness, _log) = start_logged_with(&config, &servers, script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let run = UserAnswer::Calls(vec![(calls[0], Decision::Run)]);
    harness.answer(ask, run).await;
    harness.wait_for_turn_end().await;
    harness.prompt("Again?").await;
    harness.wait_for_turn_end().await;
    let log = log(&harness);
    for line in [
        "ERROR humble::mcp::supervisor: MCP server `absent` failed: ",
        "ERROR humble::mcp::supervisor: MCP server `odd`: it has both",
        "ERROR humble::engine::failures: the tool call failed: ",
        "ERROR humble::engine::failures: the turn failed: ",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

//! Edits by other programs that the user rejected: no process uses them, and the next start asks again.

use super::settings_reload::config_with;
use super::*;
use crate::engine::notice_text::notice_text;
use humble::config::{self, ConfigLoad, Home};
use humble::domain::Banner;
use humble::engine::EngineOptions;
use std::fs;

fn home_of(harness: &EngineHarness) -> Home {
    Home::at(harness.home.path())
}

fn write(home: &TempDir, name: &str, text: &str) {
    fs::write(home.path().join(name), text).expect("written");
}

fn server_ids(home: &Home) -> Vec<String> {
    let servers = config::read_servers(home).value.into_iter();
    servers.map(|server| server.id.to_string()).collect()
}

fn texts(banners: &[Banner]) -> Vec<String> {
    let texts = banners.iter().map(|banner| notice_text(&banner.notice));
    texts.collect()
}

/// The number of records of rejected edits.
fn record_count(home: &TempDir) -> usize {
    match fs::read_to_string(home.path().join("trust.json")) {
        Ok(text) => serde_json::from_str::<Value>(&text).expect("JSON")["rejectedEdits"]
            .as_array()
            .map_or(0, Vec::len),
        Err(_) => 0,
    }
}

/// Starts with `before`, edits the file to `after`, rejects the change and quits.
async fn reject(file: &str, before: Option<&str>, after: &str) -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    write(&home, "config.json", OLLAMA_CONFIG);
    if let Some(before) = before {
        write(&home, file, before);
    }
    let mut harness = start(home);
    harness.edit_file(file, after).await;
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::Stop).await;
    let expected = format!("{file} has changes that you rejected; they are not used. [Reload]");
    assert_eq!(harness.pending_settings_banners().await, [expected]);
    harness.shut_down().await
}

/// Starts without waiting for servers, since a question may come earlier.
fn start(home: TempDir) -> EngineHarness {
    EngineHarness::start_unready(home, Script::default(), EngineOptions::default())
}

/// A server that creates the file `was-here` in `folder` when it starts.
fn marking_server(folder: &TempDir) -> Value {
    json!({ "command": "touch", "args": [folder.path().join("was-here")] })
}

#[tokio::test(start_paused = true)]
async fn a_rejected_server_is_not_started_by_later_runs_until_it_is_accepted() {
    let marks = TempDir::new().expect("a folder");
    let was_started = || marks.path().join("was-here").exists();
    let entry = marking_server(&marks);
    let servers = json!({ "mcpServers": { "x": entry } }).to_string();
    let home = reject("mcp-servers.json", None, &servers).await;
    assert_eq!(record_count(&home), 1);
    let loaded = config::read_servers(&Home::at(home.path()));
    assert_eq!(loaded.value.len(), 1, "only the built-in server");
    assert_eq!(
        texts(&loaded.banners),
        [
            "mcp-servers.json has changes that you rejected, so this is not used: server `x`. \
          [Reload]"
        ]
    );
    // The next start asks again; another rejection changes nothing.
    let mut harness = start(home);
    let (ask, changes) = harness.next_edit_question().await;
    assert_eq!(changes[0].what, "mcp-servers.json: new server `x`, on");
    harness.choose(ask, UserChoice::Stop).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    let home = harness.shut_down().await;
    assert!(!was_started());
    assert_eq!(record_count(&home), 1);
    // A later value has another hash, so it is an edit of the user between two runs.
    let other = servers.replace("touch", "true");
    write(&home, "mcp-servers.json", &other);
    assert_eq!(server_ids(&Home::at(home.path())), ["humble", "x"]);
    write(&home, "mcp-servers.json", &servers);
    let mut harness = start(home);
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    assert_eq!(harness.pending_settings_banners().await, [""; 0]);
    let start = async {
        while !was_started() {
            tokio::task::yield_now().await;
        }
    };
    let start = tokio::time::timeout(Duration::from_secs(60), start).await;
    start.expect("the server starts");
    let home = harness.shut_down().await;
    assert_eq!(record_count(&home), 0);
    assert_eq!(server_ids(&Home::at(home.path())), ["humble", "x"]);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_url_of_a_model_is_not_used_by_later_runs() {
    let config = r#"{ "models": [
        { "name": "m", "provider": "ollama", "active": true, "baseUrl": "http://evil.example" } ] }"#;
    let home = reject("config.json", None, config).await;
    let settings = config::read_settings(&Home::at(home.path()));
    assert_eq!(settings.value.models, []);
    assert_eq!(
        texts(&settings.banners),
        ["config.json has changes that you rejected, so this is not used: model `m`. [Reload]"]
    );
    let mut harness = start(home);
    let (ask, changes) = harness.next_edit_question().await;
    let subjects: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(
        subjects,
        [
            "config.json: new model `m`",
            "config.json: model `m` would be used from now on"
        ]
    );
    assert!(changes[0].after.contains("evil.example"));
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    let home = harness.shut_down().await;
    assert_eq!(
        config::read_settings(&Home::at(home.path()))
            .value
            .models
            .len(),
        1
    );
    assert_eq!(record_count(&home), 0);
}

#[tokio::test(start_paused = true)]
async fn rejected_settings_stay_at_the_earlier_values_even_if_the_default_was_rejected() {
    let before = config_with(&json!({
        "toolCallMode": "manual", "limits": { "toolRounds": 3 },
        "builtIn": { "forecastUrl": "https://mine.example/forecast" },
        "keys": { "answer.yes": "j" },
    }));
    let home = reject(
        "config.json",
        Some(&before),
        &config_with(&json!({ "toolCallMode": "auto", "logLevel": "warn" })),
    )
    .await;
    let settings = config::read_settings(&Home::at(home.path())).value;
    assert_eq!(settings.tool_mode, ToolMode::Manual);
    assert_eq!(settings.limits.tool_rounds, 3);
    let forecast = settings.built_in.forecast_url.map(|url| url.to_string());
    assert_eq!(forecast.as_deref(), Some("https://mine.example/forecast"));
    assert_eq!(settings.keys.entries.len(), 1);
    assert_eq!(settings.log_level, tracing::Level::WARN, "it was harmless");
    let mut harness = start(home);
    let (ask, changes) = harness.next_edit_question().await;
    assert_eq!(changes.len(), 4, "{changes:?}");
    harness.choose(ask, UserChoice::ApplyChanges).await;
    harness.wait_for_notice("applied.").await;
    let home = harness.shut_down().await;
    let settings = config::read_settings(&Home::at(home.path())).value;
    assert_eq!(settings.tool_mode, ToolMode::Auto);
    assert_eq!(settings.built_in.forecast_url, None);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_prompt_leaves_the_earlier_one_in_use() {
    let home = reject("system_prompt.txt", Some("Be kind."), "Obey the file.").await;
    let prompt = config::read_system_prompt(&Home::at(home.path())).value;
    assert_eq!(prompt, "Be kind.");
    let mut harness = EngineHarness::start_unready(
        home,
        Script::default().answer("Yes."),
        EngineOptions::default(),
    );
    let (_, changes) = harness.next_edit_question().await;
    assert_eq!(changes[0].after, "Obey the file.");
    let text = harness.system_message_for("Hi").await;
    assert!(text.starts_with("Be kind."), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_rejected_switch_of_the_built_in_server_leaves_it_off() {
    let entry = json!({ "command": "cat", "enabled": false });
    for on in [
        json!({ "humble": { "enabled": true }, "s": entry }),
        json!({ "s": entry }),
    ] {
        let home = TempDir::new().expect("a temporary folder");
        write(&home, "config.json", OLLAMA_CONFIG);
        let before = json!({ "mcpServers": { "humble": { "enabled": false }, "s": entry } });
        write(&home, "mcp-servers.json", &before.to_string());
        let mut harness = start(home);
        let after = json!({ "mcpServers": on }).to_string();
        harness.edit_file("mcp-servers.json", &after).await;
        let (ask, _) = harness.next_edit_question().await;
        harness.choose(ask, UserChoice::Stop).await;
        assert_eq!(harness.pending_settings_banners().await.len(), 1);
        let home = harness.shut_down().await;
        let servers = config::read_servers(&Home::at(home.path())).value;
        assert_eq!(servers[0].id.as_str(), "humble");
        assert!(!servers[0].enabled, "{after}");
    }
}

async fn wait_until_only_the_built_in_server_is_used(harness: &EngineHarness) {
    let home = home_of(harness);
    let wait = async {
        while server_ids(&home) != ["humble"] {
            tokio::task::yield_now().await;
        }
    };
    let wait = tokio::time::timeout(Duration::from_secs(60), wait).await;
    wait.expect("the record is written in time");
}

#[tokio::test]
async fn other_changes_of_a_rejected_entry_leave_it_rejected() {
    let home = TempDir::new().expect("a temporary folder");
    write(&home, "config.json", OLLAMA_CONFIG);
    let entry = json!({ "command": "cat" });
    let servers = |entry: &Value| json!({ "mcpServers": { "s": entry } }).to_string();
    write(&home, "mcp-servers.json", &servers(&entry));
    let watching = EngineOptions {
        watch: true,
        ..EngineOptions::default()
    };
    let mut harness = EngineHarness::start_unready(home, Script::default(), watching);
    let mut edited = entry.clone();
    edited["command"] = json!("evil");
    let file = harness.home.path().join("mcp-servers.json");
    fs::write(&file, servers(&edited)).expect("written");
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::Stop).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    // Humble writes the file, and the rejected part remains.
    harness.send(Command::ToggleServer("s".into())).await;
    let is_off = |event: &Event| matches!(event, Event::ServersListed(servers) if servers.iter().any(|server| server.id.as_str() == "s" && !server.enabled));
    harness.wait_for("the server is off", is_off).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    while read_json(&file)["mcpServers"]["s"]["enabled"] != false {
        tokio::task::yield_now().await;
    }
    wait_until_only_the_built_in_server_is_used(&harness).await;
    // Another program changes a part that applies at once.
    edited["enabled"] = json!(false);
    edited["description"] = json!("harmless");
    fs::write(&file, servers(&edited)).expect("written");
    assert_eq!(server_ids(&home_of(&harness)), ["humble", "s"]);
    wait_until_only_the_built_in_server_is_used(&harness).await;
    let home = harness.shut_down().await;
    assert_eq!(server_ids(&Home::at(home.path())), ["humble"]);
}

#[tokio::test]
async fn a_half_written_file_leaves_the_rejection_of_its_changes() {
    let home = TempDir::new().expect("a temporary folder");
    write(&home, "config.json", OLLAMA_CONFIG);
    let mut entry = json!({ "command": "cat" });
    let servers = |entry: &Value| json!({ "mcpServers": { "s": entry } }).to_string();
    write(&home, "mcp-servers.json", &servers(&entry));
    let watching = EngineOptions {
        watch: true,
        ..EngineOptions::default()
    };
    let mut harness = EngineHarness::start_unready(home, Script::default(), watching);
    let file = harness.home.path().join("mcp-servers.json");
    entry["command"] = json!("evil");
    fs::write(&file, servers(&entry)).expect("written");
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::Stop).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    // The other program has truncated the file and not yet written it.
    fs::write(&file, "").expect("truncated");
    let is_reported = |event: &Event| matches!(event, Event::BannersChanged(banners) if banners.iter().any(|banner| notice_text(&banner.notice).contains("the file is empty")));
    harness.wait_for("the unusable file", is_reported).await;
    entry["description"] = json!("harmless");
    fs::write(file.with_extension("new"), servers(&entry)).expect("written");
    fs::rename(file.with_extension("new"), &file).expect("renamed");
    wait_until_only_the_built_in_server_is_used(&harness).await;
    let home = harness.shut_down().await;
    assert_eq!(server_ids(&Home::at(home.path())), ["humble"]);
}

#[tokio::test(start_paused = true)]
async fn undoing_a_rejected_edit_removes_its_record() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let auto = config_with(&json!({ "toolCallMode": "auto" }));
    harness.edit_file("config.json", &auto).await;
    let (ask, _) = harness.next_edit_question().await;
    harness.choose(ask, UserChoice::Stop).await;
    assert_eq!(harness.pending_settings_banners().await.len(), 1);
    // The user makes the same change in the program, which is a decision of its own.
    harness.send(Command::SetToolMode(ToolMode::Auto)).await;
    harness
        .wait_for("auto mode", |event| {
            *event == Event::ToolModeChanged(ToolMode::Auto)
        })
        .await;
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    let home = harness.shut_down().await;
    assert_eq!(record_count(&home), 0);
    let settings = config::read_settings(&Home::at(home.path())).value;
    assert_eq!(settings.tool_mode, ToolMode::Auto);
}

#[test]
fn damaged_records_reject_everything_that_they_may_concern() {
    let home = TempDir::new().expect("a temporary folder");
    let config = config_with(&json!({ "toolCallMode": "auto" }));
    write(&home, "config.json", &config);
    let servers = r#"{ "mcpServers": { "x": { "command": "cat" }, "y": { "command": "cat" } } }"#;
    write(&home, "mcp-servers.json", servers);
    let folder = Home::at(home.path());
    let in_use = || {
        let settings = config::read_settings(&folder).value;
        (
            server_ids(&folder)[1..].concat(),
            settings.models.len(),
            settings.tool_mode == ToolMode::Auto,
        )
    };
    let nothing = (String::new(), 0, false);
    let (x, y) = ("mcp-servers.json", "y");
    let cases = [
        (json!({ "rejectedEdits": [] }), ("xy".to_owned(), 1, true)),
        (
            json!({ "rejectedEdits": [{ "file": x, "entry": y, "sha256": 1 }] }),
            ("x".to_owned(), 1, true),
        ),
        (
            json!({ "rejectedEdits": [{ "file": x }] }),
            (String::new(), 1, true),
        ),
        (json!({ "rejectedEdits": [7] }), nothing.clone()),
        (json!({ "rejectedEdits": true }), nothing.clone()),
    ];
    for (trust, expected) in cases {
        write(&home, "trust.json", &trust.to_string());
        assert_eq!(in_use(), expected, "{trust}");
    }
    for text in [
        r#"{ "rejectedEdits": [], "rejectedEdits": [] }"#,
        r#"{ "rejectedEdits": [], "#,
    ] {
        write(&home, "trust.json", text);
        assert_eq!(in_use(), nothing, "{text}");
    }
    write(&home, "trust.json", "{ broken");
    assert_eq!(in_use(), ("xy".to_owned(), 1, true), "nothing was rejected");
}

#[test]
fn more_records_than_the_limit_become_one_for_each_file() {
    let home = TempDir::new().expect("a temporary folder");
    let servers: serde_json::Map<String, Value> = (0..1_001)
        .map(|index| (format!("s{index}"), json!({ "command": "cat" })))
        .collect();
    let file = json!({ "mcpServers": servers }).to_string();
    write(&home, "mcp-servers.json", &file);
    let folder = Home::at(home.path());
    let load = ConfigLoad::as_written(&folder);
    let names = servers.keys();
    let names: Vec<(String, String)> = names
        .map(|name| ("mcp-servers.json".to_owned(), name.clone()))
        .collect();
    let records = load.entries.to_reject(&names, &load.snapshot);
    config::update_trust(&folder, &[config::TrustEdit::RejectEdits(records)]).expect("written");
    assert_eq!(record_count(&home), 1);
    assert_eq!(server_ids(&folder), ["humble"]);
}

#[tokio::test(start_paused = true)]
async fn edits_of_another_process_of_humble_keep_an_entry_rejected() {
    let servers = r#"{ "mcpServers": { "x": { "command": "cat" } } }"#;
    let home = reject("mcp-servers.json", None, servers).await;
    let folder = Home::at(home.path());
    config::set_server_enabled(&folder, &"x".into(), false).expect("written");
    assert_eq!(server_ids(&folder), ["humble"]);
    let file = read_json(&home.path().join("mcp-servers.json"));
    assert_eq!(file["mcpServers"]["x"]["enabled"], false);
    let config = OLLAMA_CONFIG.replace(
        "\"active\"",
        "\"baseUrl\": \"http://evil.example\", \"active\"",
    );
    let home = reject("config.json", None, &config).await;
    let folder = Home::at(home.path());
    let load = ConfigLoad::as_written(&folder);
    let model = load.snapshot.settings.models[0].reference();
    config::set_tool_calls(&folder, &model, humble::domain::Dialect::Native).expect("written");
    assert_eq!(config::read_settings(&folder).value.models, []);
}

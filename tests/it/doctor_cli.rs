//! `humble doctor` and `humble man`: the real binary against scripted servers.

use crate::support::cli::{self, stdout_of};
use crate::support::model_server::{ModelServer, Reply};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use tempfile::TempDir;

fn doctor(home: &TempDir, arguments: &[&str]) -> Output {
    let arguments = [&["doctor"], arguments].concat();
    let mut command = cli::humble(home.path(), &arguments);
    for variable in [
        "OPENAI_API_KEY",
        "OLLAMA_HOST",
        "TMUX",
        "DISPLAY",
        "NO_COLOR",
    ] {
        command.env_remove(variable);
    }
    command
        .envs([("LC_ALL", "C.UTF-8"), ("TERM", "xterm-256color")])
        .output()
        .expect("the program runs")
}

fn write(home: &TempDir, name: &str, value: &Value) {
    std::fs::write(home.path().join(name), value.to_string()).expect("written");
}

fn server_with_model() -> ModelServer {
    let server = ModelServer::start();
    let tags = json!({"models": [{"name": "qwen3:4b", "size": 5}]});
    server.always_reply("/api/tags", Reply::json(200, &tags));
    server
}

/// The outcome and the subject of each check.
fn outcomes(output: &Output) -> Vec<[String; 2]> {
    let lines = stdout_of(output);
    let checks = lines.lines().map(|line| {
        let check: Value = serde_json::from_str(line).expect("one object per line");
        ["outcome", "subject"].map(|key| check[key].as_str().expect("text").to_owned())
    });
    checks.collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<[String; 2]> {
    let pairs = expected.iter();
    pairs
        .map(|(a, b)| [(*a).to_owned(), (*b).to_owned()])
        .collect()
}

#[test]
fn healthy_setup_has_no_problem_and_changes_nothing() {
    let (home, server) = (TempDir::new().expect("folder"), server_with_model());
    let model = json!({"name": "qwen", "model": "qwen3:4b", "provider": "ollama",
                       "baseUrl": server.url(), "active": true});
    write(&home, "config.json", &json!({ "models": [model] }));
    let before = std::fs::read(home.path().join("config.json")).expect("read");
    let output = doctor(&home, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let address = server.url().replace("http://", "");
    let model_server = format!("model server {address}");
    let expected = [
        ("ok", "home folder"),
        ("ok", "config.json"),
        ("skipped", "mcp-servers.json"),
        ("ok", "permissions"),
        ("ok", &model_server),
        ("ok", "model qwen"),
        ("skipped", "notes folder"),
        ("ok", "text encoding"),
        ("skipped", "terminal size"),
        ("ok", "colors"),
        ("ok", "keyboard"),
    ];
    assert_eq!(outcomes(&output)[..expected.len()], pairs(&expected));
    let after = std::fs::read(home.path().join("config.json")).expect("read");
    assert_eq!(before, after);
}

#[test]
fn each_problem_is_named_with_advice_and_without_secrets() {
    let (home, server) = (TempDir::new().expect("folder"), server_with_model());
    let marker = home.path().join("was-started");
    let touch = json!(["-c", format!("touch {}", marker.display())]);
    write(
        &home,
        "config.json",
        &json!({
            "models": [
                {"name": "gone", "provider": "ollama", "baseUrl": server.url(), "active": true},
                {"name": "gpt", "provider": "openai", "apiKey": "sk-hunter2hunter2",
                 "baseUrl": "http://127.0.0.1:9/v1"},
            ],
            "ui": {"ascci": true},
            "notes": {"vault": "/no/such/folder"},
        }),
    );
    write(
        &home,
        "mcp-servers.json",
        &json!({"mcpServers": {
            "missing": {"command": "no-such-program", "args": ["sk-hunter2hunter2"]},
            "off": {"command": "sh", "args": touch, "enabled": false, "disabled": true},
        }}),
    );
    let output = doctor(&home, &[]);
    let text = stdout_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in [
        "warning  config.json",
        "Did you mean `ui.ascii`?",
        "The server does not list gone. Download it with `humble models pull gone`.",
        "problem  model server 127.0.0.1:9/v1",
        "problem  MCP server missing",
        "skipped  MCP server off",
        "problem  notes folder",
        "Create the folder, or change `notes.vault` in config.json.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        !text.contains("hunter2") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert!(!marker.exists(), "a server that is off was started");
}

#[test]
fn unparsable_settings_that_others_may_read_are_not_called_private() {
    let permissions = |mode: u32| {
        let home = TempDir::new().expect("folder");
        let config = home.path().join("config.json");
        std::fs::write(&config, r#"{"models": [{"apiKey": "sk-secret"#).expect("written");
        std::fs::set_permissions(&config, Permissions::from_mode(mode)).expect("a mode");
        let output = doctor(&home, &["--json"]);
        let mut outcomes = outcomes(&output).into_iter();
        let check = outcomes.find(|[_, subject]| subject == "permissions");
        check.map(|[outcome, _]| outcome)
    };
    assert_eq!(permissions(0o644).as_deref(), Some("warning"));
    assert_eq!(permissions(0o600).as_deref(), Some("ok"));
}

#[test]
fn missing_home_folder_is_not_created() {
    let parent = TempDir::new().expect("folder");
    let home = parent.path().join("home");
    let output = cli::run(&home, &["doctor", "--no-tools"]);
    let text = stdout_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("skipped  home folder"), "{text}");
    assert!(text.contains("problem  models"), "{text}");
    assert!(!home.exists());
}

#[test]
fn manual_page_is_roff() {
    let home = TempDir::new().expect("folder");
    let output = cli::run(home.path(), &["man"]);
    let page = stdout_of(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        page.contains(".TH humble 1") && page.contains("HUMBLE DOCTOR"),
        "{page}"
    );
}

#[test]
fn settings_without_effect_are_named_with_the_reason() {
    let (home, server) = (TempDir::new().expect("folder"), server_with_model());
    let model = json!({"name": "qwen3:4b", "provider": "ollama", "baseUrl": server.url(),
        "think": "xhigh", "options": {"temperature": 0.7}});
    write(&home, "config.json", &json!({ "models": [model] }));
    let output = doctor(&home, &["--json", "--no-tools"]);
    let lines = stdout_of(&output);
    let checks = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let about: Vec<Value> = checks
        .filter(|check| check["subject"] == "config.json")
        .collect();
    assert_eq!(about.len(), 1, "{lines}");
    let finding = about[0]["finding"].as_str().unwrap();
    for problem in [
        "`options.temperature` has no effect, because requests use 0.1.",
        "`think` is `xhigh`, which `ollama` does not take; it takes `true`, `false`, `low`, `medium`, `high`, `max`.",
    ] {
        assert!(finding.contains(problem), "{finding}");
    }
    assert_eq!(about[0]["outcome"], "warning");
}

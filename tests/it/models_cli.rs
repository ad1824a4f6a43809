//! `humble models`: the real binary against scripted servers.

use crate::support::cli::{self, stderr_of, stdout_of};
use crate::support::model_server;
use model_server::{ModelServer, Reply, ollama_error};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program, without the API keys and the Ollama address from the environment.
fn humble(home: &Path, arguments: &[&str]) -> Command {
    let mut command = cli::humble(home, arguments);
    for variable in [
        "OPENAI_API_KEY",
        "MISTRAL_API_KEY",
        "ANTHROPIC_API_KEY",
        "OLLAMA_HOST",
    ] {
        command.env_remove(variable);
    }
    command
}

fn run(home: &TempDir, arguments: &[&str]) -> Output {
    humble(home.path(), arguments)
        .output()
        .expect("the program runs")
}

fn home(models: &Value) -> TempDir {
    let home = TempDir::new().expect("temporary folder");
    let text = json!({ "models": models }).to_string();
    std::fs::write(home.path().join("config.json"), text).expect("written");
    home
}

fn server_with_models() -> ModelServer {
    let server = ModelServer::start();
    let tags = json!({"models": [
        {"name": "qwen3:4b", "size": 2497293931u64},
        {"name": "evil\u{1b}[2J", "size": 10},
    ]});
    server.always_reply("/api/tags", Reply::json(200, &tags));
    server
}

#[test]
fn humble_models_rejects_flags_that_select_a_model_or_persona() {
    let home = home(&json!([]));
    for (flag, value) in [("--model", "m"), ("--persona", "weather")] {
        let output = run(&home, &["models", flag, value]);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("`humble models` uses no model itself: remove {flag}.\n");
        assert_eq!(stderr_of(&output), expected);
    }
}

#[test]
fn the_list_shows_configured_models_and_the_models_of_servers() {
    let server = server_with_models();
    let home = home(&json!([
        {"name": "qwen", "model": "qwen3:4b", "provider": "ollama", "baseUrl": server.url(), "active": true},
        {"name": "한글", "provider": "ollama", "baseUrl": server.url()},
    ]));
    let output = run(&home, &["models"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let file = home.path().join("config.json");
    let expected = format!(
        "Configured in {}:\n* qwen  ollama  {url}  active\n  한글  ollama  {url}\n\n{url} (ollama)\n  \
         qwen3:4b  2.5 GB  40960 tokens  completion, tools, thinking\n",
        file.display(),
        url = server.url()
    );
    let text = stdout_of(&output);
    assert_eq!(text[..expected.len()], expected);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(!home.path().join("logs").exists(), "nothing is written");
}

#[test]
fn an_unreachable_server_is_reported_and_the_others_are_listed() {
    let server = server_with_models();
    let home = home(&json!([
        {"name": "gpt", "provider": "openai"},
        {"name": "far", "provider": "mistral", "baseUrl": "http://127.0.0.1:1", "apiKey": "sk-secret-1"},
        {"name": "qwen3:4b", "provider": "ollama", "baseUrl": server.url()},
    ]));
    let output = run(&home, &["models"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout_of(&output);
    for part in [
        "key missing: OPENAI_API_KEY is not set",
        "key present",
        "Nothing listens at http://127.0.0.1:1.",
        "There is no key for `gpt`.",
        "2.5 GB",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("sk-secret"), "{text}");
}

#[test]
fn json_output_of_humble_models_is_one_object_without_api_keys() {
    let server = server_with_models();
    let home = home(&json!([
        {"name": "a", "provider": "ollama", "baseUrl": server.url(), "apiKey": "sk-secret-1", "active": true},
        {"name": "b", "provider": "anthropic"},
    ]));
    let output = run(&home, &["models", "--json"]);
    assert_eq!(output.status.code(), Some(1), "b has no key");
    let value: Value = serde_json::from_str(&stdout_of(&output)).expect("one object");
    let configured = json!([
        {"name": "a", "model": "a", "provider": "ollama", "url": server.url(), "active": true, "key": "present"},
        {"name": "b", "model": "b", "provider": "anthropic", "url": "https://api.anthropic.com/v1", "active": false,
         "key": "missing", "variable": "ANTHROPIC_API_KEY"},
    ]);
    assert_eq!(value["configured"], configured);
    let first = &value["servers"][0]["models"][0];
    assert_eq!(first["name"], "qwen3:4b");
    assert_eq!(first["context_length"], 40960);
    assert_eq!(first["is_loaded"], false);
    assert_eq!(value["servers"][0]["models"][1]["name"], "evil\u{1b}[2J");
    let error = value["servers"][1]["error"].as_str().expect("a sentence");
    assert!(error.contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(!stdout_of(&output).contains("sk-secret"));
}

#[test]
fn without_any_model_the_local_ollama_is_queried() {
    let server = server_with_models();
    let home = TempDir::new().expect("temporary folder");
    let list = |host: String| {
        let mut command = humble(home.path(), &["models"]);
        command
            .env("OLLAMA_HOST", host)
            .output()
            .expect("the program runs")
    };
    let with_ollama = list(server.url());
    assert_eq!(with_ollama.status.code(), Some(0));
    let text = stdout_of(&with_ollama);
    assert!(text.starts_with("No model is configured in "), "{text}");
    assert!(text.contains("`humble demo` needs none."), "{text}");
    assert!(text.contains("  qwen3:4b"), "{text}");
    let without_ollama = list("127.0.0.1:1".to_owned());
    assert_eq!(
        without_ollama.status.code(),
        Some(0),
        "no server is configured"
    );
    assert!(
        stdout_of(&without_ollama).contains("ollama serve"),
        "{without_ollama:?}"
    );
}

#[test]
fn a_pull_reports_its_progress_and_why_it_failed() {
    let server = server_with_models();
    let home = home(&json!([{"name": "m", "provider": "ollama", "baseUrl": server.url()}]));
    let progress = [
        json!({"status": "pulling manifest"}),
        json!({"status": "pulling aa", "digest": "aa", "total": 2_000_000_000u64, "completed": 500_000_000}),
        json!({"status": "success"}),
    ];
    let lines = progress
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    server.queue_reply("/api/pull", Reply::status(200).chunk(lines));
    let output = run(&home, &["models", "pull", "llama3.2:3b"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout_of(&output), "Pulled llama3.2:3b.\n");
    let expected = "pulling manifest\npulling  20 % of 2.0 GB\nsuccess  20 % of 2.0 GB\n";
    assert_eq!(stderr_of(&output), expected);
    let reason = "pull model manifest: file does not exist";
    server.queue_reply(
        "/api/pull",
        Reply::status(200).chunk(format!("{}\n", json!({"error": reason}))),
    );
    let output = run(&home, &["models", "pull", "nope"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = stderr_of(&output);
    assert!(stderr.starts_with("`nope` was not pulled."), "{stderr}");
    assert!(
        stderr.contains(reason) && stderr.contains("ollama.com/library"),
        "{stderr}"
    );
    assert!(!stderr.contains("/retry"), "{stderr}");
}

#[test]
fn humble_models_rm_needs_a_confirmation() {
    let server = server_with_models();
    let home = home(&json!([{"name": "m", "provider": "ollama", "baseUrl": server.url()}]));
    let output = run(&home, &["models", "rm", "old:1b"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("--yes"), "{output:?}");
    assert!(server.bodies("/api/delete").is_empty());
    server.queue_reply("/api/delete", Reply::json(200, &json!({})));
    let output = run(&home, &["models", "rm", "old:1b", "--yes"]);
    assert_eq!(
        (output.status.code(), stdout_of(&output).as_str()),
        (Some(0), "Removed old:1b.\n")
    );
    server.queue_reply("/api/delete", ollama_error(404, "model 'old:1b' not found"));
    let output = run(&home, &["models", "rm", "old:1b", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "`old:1b` was not removed. {} has no such model.\n",
        server.url()
    );
    assert_eq!(stderr_of(&output), expected);
}

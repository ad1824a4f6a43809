//! Servers that are added in the chat, and values of variables that servers lack.

use crate::support::engine_harness::EngineHarness;
use crate::support::hub_harness::test_server_path;
use humble::domain::model::Secret;
use humble::domain::{NewServer, NewServerLaunch, ServerStatus};
use humble::protocol::{Command, Event, NewServerCommand};
use humble::provider::scripted::Script;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const SECRET: &str = "hidden-value-1";

fn new_server(env: Vec<(String, String)>) -> NewServer {
    NewServer {
        name: "new".to_owned(),
        description: None,
        enabled: true,
        launch: NewServerLaunch::Command {
            command: test_server_path(),
            args: Vec::new(),
            env,
            cwd: None,
        },
        values: Vec::new(),
    }
}

fn has_status(event: &Event, is_wanted: impl Fn(&ServerStatus) -> bool) -> bool {
    let is_new =
        |server: &humble::domain::Server| server.id.as_str() == "new" && is_wanted(&server.status);
    match event {
        Event::ServerChanged(server) => is_new(server),
        Event::ServersListed(servers) => servers.iter().any(is_new),
        _ => false,
    }
}

fn entry(home: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(home.join("mcp-servers.json")).expect("the file exists");
    let file: Value = serde_json::from_str(&text).expect("it is JSON");
    file["mcpServers"]["new"].clone()
}

#[tokio::test]
async fn an_added_server_is_connected_and_saved() {
    let mut harness = EngineHarness::start(Script::default()).await;
    harness
        .send(Command::NewServer(NewServerCommand::Add(Box::new(
            new_server(Vec::new()),
        ))))
        .await;
    harness
        .wait_for("the server is connected", |event| {
            has_status(event, |status| *status == ServerStatus::Connected)
        })
        .await;
    let home = harness.shut_down().await;
    let expected = json!({ "command": test_server_path(), "args": [], "enabled": true });
    assert_eq!(entry(home.path()), expected);
}

#[tokio::test]
async fn a_taken_name_is_refused_and_the_file_stays_as_it_is() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let mut server = new_server(Vec::new());
    server.name = "humble".to_owned();
    harness
        .send(Command::NewServer(NewServerCommand::Add(Box::new(server))))
        .await;
    harness
        .wait_for("a notice", |event| {
            matches!(event, Event::NoticePosted(notice) if notice.what.contains("built-in server"))
        })
        .await;
    let home = harness.shut_down().await;
    assert!(!home.path().join("mcp-servers.json").exists());
}

#[tokio::test]
async fn a_server_that_lacks_a_variable_connects_once_its_value_is_stored() {
    let mut harness = EngineHarness::start(Script::default()).await;
    let env = vec![("T".to_owned(), "${HUMBLE_UNSET_TOKEN}".to_owned())];
    harness
        .send(Command::NewServer(NewServerCommand::Add(Box::new(
            new_server(env),
        ))))
        .await;
    harness
        .wait_for("the server lacks a variable", |event| {
            has_status(event, |status| {
                matches!(status, ServerStatus::Misconfigured(_))
            })
        })
        .await;
    let values = vec![("HUMBLE_UNSET_TOKEN".to_owned(), Secret::new(SECRET))];
    let command = NewServerCommand::SetVariables("new".into(), values);
    let command = Command::NewServer(command);
    harness.send(command).await;
    harness
        .wait_for("the server is connected", |event| {
            has_status(event, |status| *status == ServerStatus::Connected)
        })
        .await;
    assert!(!format!("{:?}", harness.events).contains(SECRET));
    let home = harness.shut_down().await;
    let entry = entry(home.path());
    assert_eq!(entry["env"]["T"], "${HUMBLE_UNSET_TOKEN}");
    assert_eq!(entry["variables"], json!({ "HUMBLE_UNSET_TOKEN": SECRET }));
    assert_eq!(entry["enabled"], true);
    let file = home.path().join("mcp-servers.json");
    let mode = file
        .metadata()
        .expect("the file exists")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

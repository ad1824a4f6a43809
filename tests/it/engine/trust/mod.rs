//! Decisions that outlast a call: what a grant covers and where it must not carry over, with a
//! real server that changes.

mod grants;
mod instructions;
mod interleavings;
mod outside_edits;
mod pins;

use super::*;
use crate::engine::shell_server::{called_tools, install, set_instructions, set_tools, tool};
use humble::domain::{ArgumentPattern, Server, ServerStatus, TrustEntry};
use humble::engine::EngineOptions;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A home with a server `fs`, and the options to start it.
struct TrustFixture {
    home: TempDir,
    entry: Value,
}

fn definitions(echo: &str) -> Value {
    json!([tool("echo", echo), tool("write", "Writes.")])
}

impl TrustFixture {
    fn new() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
        let entry = install(&home.path().join("fs"), &definitions("Echoes."));
        let mut fixture = Self { home, entry };
        fixture.edit_server_entry("fs", |_| {});
        fixture
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("fs")
    }

    /// Configures the server under this name, with a changed entry.
    fn edit_server_entry(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        change(&mut self.entry);
        let file = json!({ "mcpServers": { "humble": { "enabled": true }, name: self.entry } });
        fs::write(self.home.path().join("mcp-servers.json"), file.to_string()).expect("written");
    }

    fn called(&self) -> Vec<String> {
        called_tools(&self.folder())
    }

    async fn start(self, script: Script) -> EngineHarness {
        self.start_with_options(script, EngineOptions::default())
            .await
    }

    /// Starts the engine and waits for the server.
    async fn start_with_options(self, script: Script, options: EngineOptions) -> EngineHarness {
        let mut harness = EngineHarness::start_with_options(self.home, script, options).await;
        harness.until_connected().await;
        harness
    }
}

impl EngineHarness {
    /// Waits until the external server has listed its tools.
    async fn until_connected(&mut self) -> Server {
        let is_there = |event: &Event| match event {
            Event::ServerChanged(server) => {
                server.id.as_str() != "humble" && server.status == ServerStatus::Connected
            }
            _ => false,
        };
        let known = self.events.iter().rev().find(|event| is_there(event));
        match known.cloned() {
            Some(Event::ServerChanged(server)) => server,
            _ => match self.wait_for("the server", is_there).await {
                Event::ServerChanged(server) => server,
                _ => unreachable!("just matched"),
            },
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("fs")
    }

    fn find_text(home: TempDir) -> TrustFixture {
        let servers = read(&home.path().join("mcp-servers.json"));
        let servers = servers["mcpServers"].as_object().expect("an object");
        let entry = servers.values().next_back().expect("a server").clone();
        TrustFixture { home, entry }
    }

    /// Sends a prompt and decides on its one call.
    async fn decide_call(&mut self, decision: Decision) {
        self.prompt("Do it.").await;
        let (ask, calls) = self.next_approval().await;
        let decisions = vec![(calls[0], decision)];
        self.answer(ask, UserAnswer::Calls(decisions)).await;
        self.wait_for_turn_end().await;
    }

    /// Sends a prompt; true if its call needed approval, which is denied.
    async fn call_needs_approval(&mut self) -> bool {
        let before = self.events.len();
        self.prompt("Do it.").await;
        let over = |event: &Event| {
            matches!(
                event,
                Event::Asked {
                    question: Ask::ApproveCalls(_),
                    ..
                }
            ) || matches!(event, Event::Turn(_, TurnEvent::Ended { .. }))
        };
        let event = self.wait_for("a question or the end", over).await;
        let Event::Asked { ask, question, .. } = event else {
            return false;
        };
        let Ask::ApproveCalls(calls) = question else {
            unreachable!("just matched")
        };
        let deny =
            |call: &humble::protocol::CallToApprove| (call.call, Decision::Deny { message: None });
        let denied = calls.iter().map(deny).collect();
        self.answer(ask, UserAnswer::Calls(denied)).await;
        self.wait_for_turn_end().await;
        assert!(before < self.events.len());
        true
    }

    /// The newest list of `/trust`.
    fn trusted(&self) -> Vec<TrustEntry> {
        let newest = self.events.iter().rev().find_map(|event| match event {
            Event::TrustChanged(list) => Some(list.to_vec()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    async fn wait_until_trusted(&mut self, what: &str, found: impl Fn(&[TrustEntry]) -> bool) {
        if found(&self.trusted()) {
            return;
        }
        let is_it = |event: &Event| matches!(event, Event::TrustChanged(list) if found(list));
        self.wait_for(what, is_it).await;
    }

    /// Waits until trust.json contains this text; the engine writes in the background.
    async fn wait_until_trust_file_contains(&mut self, needle: &str) {
        self.wait_for_trust_file(|text| text.contains(needle)).await;
    }

    async fn wait_until_trust_file_lacks(&mut self, needle: &str) {
        self.wait_for_trust_file(|text| !text.contains(needle))
            .await;
    }

    async fn wait_for_trust_file(&self, is_so: impl Fn(&str) -> bool) {
        let file = self.home.path().join("trust.json");
        let written = async {
            while !fs::read_to_string(&file).is_ok_and(|text| is_so(&text)) {
                tokio::task::yield_now().await;
            }
        };
        let written = tokio::time::timeout(Duration::from_secs(60), written).await;
        written.expect("trust.json was written in time");
    }

    fn trust_file(&self) -> Value {
        read(&self.home.path().join("trust.json"))
    }
}

/// A call of `tool` with a path, as a model of the prompt dialect writes it.
fn call_of(server: &str, tool: &str, path: &str) -> String {
    json!({ "server": server, "name": tool, "arguments": { "path": path } }).to_string()
}

fn echo() -> String {
    call_of("fs", "echo", "src/a.rs")
}

/// The model calls `echo` on every prompt.
fn echo_script() -> Script {
    Script::responding(|request| {
        let last = request.messages.last();
        let text = match last {
            Some(Message::User(_)) => echo(),
            _ => "Done.".to_owned(),
        };
        vec![ScriptStep::text(&text), ScriptStep::end()]
    })
}

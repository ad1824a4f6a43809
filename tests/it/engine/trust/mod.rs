//! Decisions that outlast a call: the scope of a grant, and the changes that must end it. The tools
//! belong to a real server process whose definitions change.

mod blocked_tools;
mod external_edits;
mod grants;
mod instructions;
mod interleavings;
mod pins;
mod read_only_grants;
mod unsaved_decisions;

use super::*;
use crate::engine::shell_server::{called_tools, install, set_instructions, set_tools, tool};
use humble::domain::{ArgumentPattern, Server, ServerStatus, TrustEntry};
use humble::engine::EngineOptions;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A home with an external server `fs`, and the server's entry in `mcp-servers.json`.
struct TrustFixture {
    home: TempDir,
    entry: Value,
}

fn tool_definitions(echo_description: &str) -> Value {
    json!([tool("echo", echo_description), tool("write", "Writes.")])
}

impl TrustFixture {
    fn new() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
        let entry = install(&home.path().join("fs"), &tool_definitions("Echoes."));
        let mut fixture = Self { home, entry };
        fixture.edit_server_entry("fs", |_| {});
        fixture
    }

    fn from_home(home: TempDir) -> Self {
        let servers = read_json(&home.path().join("mcp-servers.json"));
        let servers = servers["mcpServers"].as_object().expect("an object");
        let entry = servers.values().next_back().expect("a server").clone();
        Self { home, entry }
    }

    fn server_folder(&self) -> PathBuf {
        self.home.path().join("fs")
    }

    fn edit_server_entry(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        change(&mut self.entry);
        let file = json!({ "mcpServers": { "humble": { "enabled": true }, name: self.entry } });
        fs::write(self.home.path().join("mcp-servers.json"), file.to_string()).expect("written");
    }

    async fn start(self, script: Script) -> EngineHarness {
        self.start_with_options(script, EngineOptions::default())
            .await
    }

    async fn start_with_options(self, script: Script, options: EngineOptions) -> EngineHarness {
        let mut harness = EngineHarness::start_with_options(self.home, script, options).await;
        harness.wait_until_connected().await;
        harness
    }
}

impl EngineHarness {
    /// Waits until the external server has listed its tools.
    async fn wait_until_connected(&mut self) -> Server {
        let is_connected = |event: &Event| match event {
            Event::ServerChanged(server) => {
                server.id.as_str() != "humble" && server.status == ServerStatus::Connected
            }
            _ => false,
        };
        let last_change = self.events.iter().rev().find(|event| is_connected(event));
        match last_change.cloned() {
            Some(Event::ServerChanged(server)) => server,
            _ => match self.wait_for("the server", is_connected).await {
                Event::ServerChanged(server) => server,
                _ => unreachable!("just matched"),
            },
        }
    }

    fn server_folder(&self) -> PathBuf {
        self.home.path().join("fs")
    }

    async fn prompt_and_decide(&mut self, decision: Decision) {
        self.prompt("Do it.").await;
        let (ask, calls) = self.next_approval().await;
        let decisions = vec![(calls[0], decision)];
        self.answer(ask, UserAnswer::Calls(decisions)).await;
        self.wait_for_turn_end().await;
    }

    /// Sends a prompt and returns whether its call needed approval, which is then denied.
    async fn call_needs_approval(&mut self) -> bool {
        self.prompt("Do it.").await;
        let is_question_or_end = |event: &Event| {
            matches!(event, Event::Asked { question, .. } if question.kind == "approve")
                || matches!(event, Event::Turn(_, TurnEvent::Ended { .. }))
        };
        let event = self
            .wait_for("a question or the end", is_question_or_end)
            .await;
        let Event::Asked { ask, question, .. } = event else {
            return false;
        };
        let deny =
            |call: &humble::protocol::CallToApprove| (call.call, Decision::Deny { message: None });
        let answers = question.calls().iter().map(deny).collect();
        self.answer(ask, UserAnswer::Calls(answers)).await;
        self.wait_for_turn_end().await;
        true
    }

    fn trust_entries(&self) -> Vec<TrustEntry> {
        let newest = self.events.iter().rev().find_map(|event| match event {
            Event::TrustChanged(entries) => Some(entries.to_vec()),
            _ => None,
        });
        newest.unwrap_or_default()
    }

    async fn wait_for_trust_entries(
        &mut self,
        what: &str,
        is_wanted: impl Fn(&[TrustEntry]) -> bool,
    ) {
        if is_wanted(&self.trust_entries()) {
            return;
        }
        let has_entries =
            |event: &Event| matches!(event, Event::TrustChanged(entries) if is_wanted(entries));
        self.wait_for(what, has_entries).await;
    }

    /// The engine writes the file in the background.
    async fn wait_until_trust_file_contains(&mut self, needle: &str) {
        self.wait_for_trust_file(|text| text.contains(needle)).await;
    }

    async fn wait_until_trust_file_lacks(&mut self, needle: &str) {
        self.wait_for_trust_file(|text| !text.contains(needle))
            .await;
    }

    async fn wait_for_trust_file(&self, is_wanted: impl Fn(&str) -> bool) {
        let file = self.home.path().join("trust.json");
        let wait = async {
            while !fs::read_to_string(&file).is_ok_and(|text| is_wanted(&text)) {
                tokio::task::yield_now().await;
            }
        };
        let wait = tokio::time::timeout(Duration::from_secs(60), wait).await;
        wait.expect("trust.json matches in time");
    }

    fn trust_file(&self) -> Value {
        read_json(&self.home.path().join("trust.json"))
    }
}

/// A call to `tool` with this path, as a model writes it in the prompt dialect.
fn call_text(server: &str, tool: &str, path: &str) -> String {
    json!({ "server": server, "name": tool, "arguments": { "path": path } }).to_string()
}

fn echo_call() -> String {
    call_text("fs", "echo", "src/a.rs")
}

fn echo_script() -> Script {
    Script::responding(|request| {
        let last = request.messages.last();
        let text = match last {
            Some(Message::User(_)) => echo_call(),
            _ => "Done.".to_owned(),
        };
        vec![ScriptStep::text(&text), ScriptStep::end()]
    })
}

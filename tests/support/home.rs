//! A temporary home of the program with settings and servers. A mark in the environment identifies
//! child processes that outlive the program.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";

pub struct TestHome(TempDir);

impl TestHome {
    pub fn empty() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    /// A home with one Ollama model that uses native tool calls.
    pub fn with_ollama(url: &str) -> Self {
        Self::with_model(&json!({
            "name": "qwen3:4b", "provider": "ollama", "baseUrl": url, "toolCalls": "native",
            "active": true,
        }))
    }

    pub fn with_model(model: &Value) -> Self {
        let home = Self::empty();
        home.write("config.json", &json!({ "models": [model] }));
        home
    }

    /// Adds an MCP server with this command line.
    pub fn with_server(self, name: &str, command: &str, args: &[&str]) -> Self {
        let server =
            json!({ "command": command, "args": args, "env": { PROCESS_MARK: self.mark() } });
        let mut file = self
            .json("mcp-servers.json")
            .unwrap_or_else(|| json!({ "mcpServers": {} }));
        file["mcpServers"][name] = server;
        self.write("mcp-servers.json", &file);
        self
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Environment variables for the program.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        let folder = self.path().to_string_lossy().into_owned();
        [(PROCESS_MARK, self.mark()), ("HOME", folder)]
    }

    pub fn write(&self, name: &str, value: &Value) {
        let text = serde_json::to_string_pretty(value).expect("JSON");
        fs::write(self.path().join(name), text).expect("writable home");
    }

    /// Edits an existing settings file.
    pub fn edit_json(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.json(name).expect("the file exists");
        change(&mut value);
        self.write(name, &value);
    }

    fn json(&self, name: &str) -> Option<Value> {
        let text = fs::read_to_string(self.path().join(name)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The saved sessions, sorted by file name.
    pub fn sessions(&self) -> Vec<Value> {
        let mut sessions = Vec::new();
        for path in self.files() {
            let is_session = path
                .parent()
                .is_some_and(|folder| folder.ends_with("sessions"));
            if is_session
                && path
                    .extension()
                    .is_some_and(|extension| extension == "json")
            {
                let text = fs::read_to_string(&path).expect("UTF-8");
                sessions
                    .push(serde_json::from_str(&text).expect("session files are always complete"));
            }
        }
        sessions
    }

    /// Waits until a saved session contains this text and returns that session.
    pub fn wait_until_saved(&self, text: &str) -> Value {
        let escaped_text = json!(text).to_string().trim_matches('"').to_owned();
        let mut saved = None;
        wait_until(&format!("a conversation with `{text}` is saved"), || {
            saved = self
                .sessions()
                .into_iter()
                .find(|session| session.to_string().contains(&escaped_text));
            saved.is_some()
        });
        saved.expect("the wait ended with a session")
    }

    /// Waits until the saved draft is this text.
    pub fn wait_until_draft(&self, text: &str) {
        self.wait_for_draft(text, |draft| draft == text);
    }

    /// Waits until the draft contains this text.
    pub fn wait_until_draft_contains(&self, text: &str) {
        self.wait_for_draft(text, |draft| draft.contains(text));
    }

    fn wait_for_draft(&self, wanted: &str, matches: impl Fn(&str) -> bool) {
        let path = self.path().join("draft");
        let started = Instant::now();
        loop {
            let draft = fs::read_to_string(&path).ok();
            if draft.as_deref().is_some_and(&matches) {
                return;
            }
            assert!(
                started.elapsed() < WAIT_TIMEOUT,
                "the draft is {draft:?}, expected {wanted:?}"
            );
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// All files below the home, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder of the home") {
                let path = entry.expect("a readable folder").path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    files.push(path)
                }
            }
        }
        files.sort();
        files
    }

    /// Waits until every process started from this home has ended.
    pub fn assert_no_process_left(&self) {
        let mut processes = Vec::new();
        wait_until("every process ends", || {
            processes = self.processes();
            processes.is_empty()
        });
    }

    /// The command lines of the processes started from this home. Always empty outside Linux.
    pub fn processes(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let mark = format!("{PROCESS_MARK}={}", self.mark());
        let mut command_lines = Vec::new();
        for folder in entries.flatten().map(|entry| entry.path()) {
            let Ok(environment) = fs::read(folder.join("environ")) else {
                continue;
            };
            if environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
            {
                let line = fs::read(folder.join("cmdline")).unwrap_or_default();
                command_lines.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        command_lines
    }

    fn mark(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}

/// Polls a condition that sends no notification, such as a change in files or processes. `what`
/// describes the condition.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < WAIT_TIMEOUT, "{what}: timed out");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Path of the program built from `tests/support/mcp_server.rs`.
pub fn test_server_path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_humble"));
    let server = program.with_file_name("examples").join("test-mcp-server");
    assert!(
        server.exists(),
        "build it with `--example test-mcp-server` or with all tests"
    );
    server.to_string_lossy().into_owned()
}

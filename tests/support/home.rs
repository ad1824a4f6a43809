//! A scratch home of the program: its settings, its servers, and a mark in the
//! environment of all that is started from it, by which a survivor is found.
#![allow(dead_code, reason = "each test crate uses a part of it")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process may take to notice that its program is gone.
const WAIT_DEADLINE: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";

pub struct TestHome(TempDir);

impl TestHome {
    pub fn empty() -> Self {
        Self(TempDir::new().expect("a scratch folder"))
    }

    /// A home with one model of an Ollama server, which calls tools in Ollama's own field.
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

    /// Adds one MCP server, started with this command line.
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

    /// The variables that the program is started with.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        let folder = self.path().to_string_lossy().into_owned();
        [(PROCESS_MARK, self.mark()), ("HOME", folder)]
    }

    pub fn write(&self, name: &str, value: &Value) {
        let text = serde_json::to_string_pretty(value).expect("JSON");
        fs::write(self.path().join(name), text).expect("the home is ours");
    }

    /// Rewrites a file of settings that is there.
    pub fn edit_json(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.json(name).expect("the file is there");
        change(&mut value);
        self.write(name, &value);
    }

    fn json(&self, name: &str) -> Option<Value> {
        let text = fs::read_to_string(self.path().join(name)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The conversations that were saved, by file name.
    pub fn sessions(&self) -> Vec<Value> {
        let mut found = Vec::new();
        for path in self.files() {
            let is_session = path
                .parent()
                .is_some_and(|folder| folder.ends_with("sessions"));
            if is_session && path.extension().is_some_and(|ending| ending == "json") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                found.push(serde_json::from_str(&text).expect("a session is whole at any moment"));
            }
        }
        found
    }

    /// Waits until this text is part of a saved conversation; that conversation.
    pub fn wait_until_saved(&self, text: &str) -> Value {
        let wanted = json!(text).to_string();
        let wanted = wanted.trim_matches('"').to_owned();
        let mut found = None;
        wait_until(&format!("a conversation with `{text}` is saved"), || {
            found = self
                .sessions()
                .into_iter()
                .find(|one| one.to_string().contains(&wanted));
            found.is_some()
        });
        found.expect("just seen")
    }

    /// Every file below the home, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder of the home") {
                let path = entry.expect("a readable folder").path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    found.push(path)
                }
            }
        }
        found.sort();
        found
    }

    /// Waits until no process is left that was started from this home.
    pub fn assert_no_process_left(&self) {
        let mut left = Vec::new();
        wait_until("every process is gone", || {
            left = self.processes();
            left.is_empty()
        });
    }

    /// The command lines of processes that bear the mark. Linux alone shows them.
    pub fn processes(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let mark = format!("{PROCESS_MARK}={}", self.mark());
        let mut found = Vec::new();
        for folder in entries.flatten().map(|entry| entry.path()) {
            let Ok(environment) = fs::read(folder.join("environ")) else {
                continue;
            };
            if environment
                .split(|byte| *byte == 0)
                .any(|one| one == mark.as_bytes())
            {
                let line = fs::read(folder.join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        found
    }

    fn mark(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}

/// Looks again and again until it is so, for what nobody announces: files and processes.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < WAIT_DEADLINE, "{what}: waited in vain");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The program of `tests/support/mcp_server.rs`, which is built beside this one.
pub fn test_server_path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_humble"));
    let server = program.with_file_name("examples").join("test-mcp-server");
    assert!(
        server.exists(),
        "build it with `--example test-mcp-server` or with all tests"
    );
    server.to_string_lossy().into_owned()
}

//! A home with a scripted model and scripted MCP servers, and everything that left the program.

use crate::cli::humble;
use crate::model_server::{ModelServer, Reply, ollama_call, ollama_loaded, ollama_text};
use portable_pty::{CommandBuilder, PtyPair, PtySize, native_pty_system};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;
use tempfile::TempDir;

const CHAT: &str = "/api/chat";
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

pub struct AttackFixture {
    pub home: TempDir,
    pub model: ModelServer,
    /// The scripts of the servers and the calls that these received; not part of the home.
    scripts: TempDir,
    servers: Map<String, Value>,
}

impl AttackFixture {
    pub fn new() -> Self {
        let fixture = Self {
            home: TempDir::new().expect("a temporary folder"),
            model: ModelServer::start(),
            scripts: TempDir::new().expect("a temporary folder"),
            servers: Map::new(),
        };
        fixture.model.always_reply("/api/ps", ollama_loaded(&["m"]));
        fixture.set_model(json!({}));
        fixture
    }

    /// Writes `config.json` with the scripted model and these additional fields.
    pub fn set_model(&self, fields: Value) {
        let mut model = json!({
            "name": "m", "provider": "ollama", "baseUrl": self.model.url(), "active": true,
            "toolCalls": "native",
        });
        if let (Value::Object(model), Value::Object(fields)) = (&mut model, fields) {
            model.extend(fields);
        }
        let config = json!({
            "models": [model], "logLevel": "debug", "limits": { "errorsPerTurn": 50, "toolRounds": 50 },
        });
        self.write("config.json", &config.to_string());
    }

    /// Adds these fields to `config.json`.
    pub fn change_config(&self, fields: &Value) {
        let path = self.home.path().join("config.json");
        let text = fs::read_to_string(path).expect("written before");
        let mut config: Map<String, Value> = serde_json::from_str(&text).expect("an object");
        config.extend(fields.as_object().expect("an object").clone());
        self.write("config.json", &Value::from(config).to_string());
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).expect("written");
    }

    /// Adds a server with this script and these additional fields of its entry.
    pub fn add_server(&mut self, name: &str, script: &Value, fields: Value) -> &mut Self {
        fs::write(self.script(name), script.to_string()).expect("written");
        let mut entry = json!({
            "command": test_server_path(),
            "args": [format!("script:{}", self.script(name).display())],
        });
        if let (Value::Object(entry), Value::Object(fields)) = (&mut entry, fields) {
            entry.extend(fields);
        }
        self.add_entry(name, entry)
    }

    pub fn add_entry(&mut self, name: &str, entry: Value) -> &mut Self {
        self.servers.insert(name.to_owned(), entry);
        let servers = json!({ "mcpServers": self.servers });
        self.write("mcp-servers.json", &servers.to_string());
        self
    }

    fn script(&self, name: &str) -> PathBuf {
        self.scripts.path().join(format!("{name}.json"))
    }

    pub fn reply(&self, reply: Reply) -> &Self {
        self.model.queue_reply(CHAT, reply);
        self
    }

    pub fn reply_call(&self, tool: &str, arguments: &Value) -> &Self {
        self.reply(ollama_call(tool, arguments))
    }

    pub fn reply_text(&self, text: &str) -> &Self {
        self.reply(ollama_text(&[text]))
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        humble(self.home.path(), arguments)
            .output()
            .expect("the program runs")
    }

    /// Runs a command on a terminal and returns all bytes that this receives. If the command waits for
    /// the user, it gets Ctrl+C.
    pub fn run_on_terminal(&self, arguments: &[&str]) -> String {
        let size = PtySize {
            rows: 40,
            cols: 200,
            ..PtySize::default()
        };
        let PtyPair { master, slave } = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_humble"));
        command.arg("--home");
        command.arg(self.home.path());
        command.args(arguments);
        command.cwd(self.home.path());
        let mut child = slave.spawn_command(command).expect("the program starts");
        drop(slave);
        let mut reader = master.try_clone_reader().expect("a reader");
        let mut keys = master.take_writer().expect("a writer");
        std::thread::spawn(move || {
            std::thread::sleep(COMMAND_TIMEOUT);
            let _ = keys.write_all(b"\x03");
        });
        let mut output = Vec::new();
        // The terminal reports an error once the program has closed it.
        let _ = reader.read_to_end(&mut output);
        child.wait().expect("the program ends");
        String::from_utf8_lossy(&output).into_owned()
    }

    /// Runs `humble ask --yes`, in which calls run unless they must ask.
    pub fn ask(&self, arguments: &[&str]) -> Output {
        self.run(&[&["ask", "--yes"], arguments].concat())
    }

    /// The calls that a server received.
    pub fn calls(&self, server: &str) -> Vec<Value> {
        let file = self.script(server).with_extension("calls");
        let text = fs::read_to_string(file).unwrap_or_default();
        let calls = text.lines().map(serde_json::from_str);
        calls.collect::<Result<_, _>>().expect("lines of JSON")
    }

    pub fn called_tools(&self, server: &str) -> Vec<String> {
        let calls = self.calls(server).into_iter();
        let names = calls.map(|call| call["name"].as_str().map(str::to_owned));
        names.map(|name| name.expect("a name")).collect()
    }

    /// The bodies of the requests to the model, as text.
    pub fn requests(&self) -> String {
        let bodies = self.model.bodies(CHAT).into_iter();
        bodies.map(|body| format!("{body}\n")).collect()
    }

    /// The files of the home with their texts, except those that the fixture wrote.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect_files(self.home.path(), &mut files);
        let written = ["config.json", "mcp-servers.json", "auth.json"];
        files.retain(|(path, _)| !written.iter().any(|name| path.ends_with(name)));
        files
    }
}

fn collect_files(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_files(&path, files);
        } else {
            let bytes = fs::read(&path).expect("readable");
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// Path of the program built from `tests/support/mcp_server.rs`.
fn test_server_path() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_humble"));
    let server = program.with_file_name("examples").join("test-mcp-server");
    assert!(
        server.exists(),
        "run it with all tests, which build the server"
    );
    server
}

pub fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

pub fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

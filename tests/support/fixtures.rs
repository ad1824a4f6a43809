//! Domain values for tests, with defaults for fields that most tests ignore. Also included
//! by the unit tests in `src`.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use humble::domain::model::ApiKey;
use humble::domain::server::{InheritedEnv, LaunchConfig, RemoteTransport};
use humble::domain::{
    CallId, Dialect, KeyEntry, KeySettings, ModelConfig, ProviderKind, Server, ServerConfig,
    ServerId, ServerStatus, Tool, ToolCall, ToolState,
};
use humble::protocol::Question;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// What a question is about, as rows of text.
pub fn question_rows(question: &Question, columns: u16) -> Vec<String> {
    let notice_line = humble::headless::advice::notice_line;
    humble::headless::tty_prompt::question_rows(question, columns, notice_line)
}

/// What a question is about, with lines that are not wrapped.
pub fn question_text(question: &Question) -> String {
    question_rows(question, 1_000).join("\n")
}

/// The section `keys` of a `config.json` whose first entry is on line 3.
pub fn key_settings(entries: &[(&str, &[&str])]) -> KeySettings {
    let entries = entries.iter().enumerate().map(|(index, (action, keys))| {
        let keys = keys.iter().map(|key| (*key).to_owned());
        KeyEntry {
            action: (*action).to_owned(),
            keys: Ok(keys.collect()),
            line: index + 3,
        }
    });
    KeySettings {
        file: "config.json".to_owned(),
        entries: entries.collect(),
        unread_entries: 0,
    }
}

/// As arguments or as a map.
pub fn object<T: From<Map<String, Value>>>(value: Value) -> T {
    match value {
        Value::Object(object) => object.into(),
        other => panic!("not an object: {other}"),
    }
}

/// Parses a tool definition as listed by a server.
pub fn tool_from(definition: &Value) -> Tool {
    Tool::from_definition(definition).expect("a valid definition")
}

pub fn tool_with(name: &str, schema: Value) -> Tool {
    tool_from(&json!({ "name": name, "inputSchema": schema }))
}

/// A tool that accepts any arguments.
pub fn tool(name: &str) -> Tool {
    tool_with(name, json!({ "type": "object" }))
}

pub fn described_tool(name: &str, description: &str) -> Tool {
    let schema = json!({ "type": "object" });
    tool_from(&json!({ "name": name, "description": description, "inputSchema": schema }))
}

/// A connected server with these tools.
pub fn server(name: &str, tools: Vec<Tool>) -> Server {
    Server {
        id: name.into(),
        description: None,
        enabled: true,
        status: ServerStatus::Connected,
        launch: LaunchConfig::BuiltIn.identity(),
        tools: Arc::new(tools),
        disabled_tools: Default::default(),
        content: Arc::default(),
        omissions: Vec::new(),
        stderr: Vec::new(),
        instructions: None,
        peer: None,
        withheld_tools: Default::default(),
        always_offered: Default::default(),
        held_back_tools: Default::default(),
        roots: Arc::default(),
        missing_variables: Vec::new(),
    }
}

pub fn server_config(id: &str, launch: LaunchConfig) -> ServerConfig {
    ServerConfig {
        id: ServerId::new(id),
        description: None,
        enabled: true,
        launch,
        disabled_tools: Default::default(),
        always_offered: Default::default(),
        startup_timeout: Duration::from_secs(10),
        tool_timeout: Duration::from_secs(10),
        protocol: Default::default(),
        oauth: Default::default(),
        secrets: Vec::new(),
        missing_variables: Vec::new(),
    }
}

pub fn owned_pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

pub fn stdio(command: &str, args: &[&str], env: &[(&str, &str)]) -> LaunchConfig {
    LaunchConfig::Stdio {
        command: command.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: owned_pairs(env),
        cwd: None,
        inherit: InheritedEnv::AllowList,
    }
}

pub fn remote(url: &str, transport: RemoteTransport, headers: &[(&str, &str)]) -> LaunchConfig {
    LaunchConfig::Remote {
        url: url.to_owned(),
        transport,
        headers: owned_pairs(headers),
    }
}

/// A model with default settings.
pub fn model_config(provider: ProviderKind, base_url: &str) -> ModelConfig {
    ModelConfig {
        name: "mine".into(),
        model: "qwen3:4b".into(),
        provider,
        base_url: base_url.into(),
        api_key: ApiKey::NotNeeded,
        active: true,
        context_length: None,
        think: None,
        dialect: Dialect::Prompt,
        tool_role: None,
        vision: None,
        keep_alive: None,
        options: Map::new(),
        ca_file: None,
    }
}

/// A native call with id 1 that awaits approval.
pub fn tool_call(server: &str, tool: &str, arguments: Value) -> ToolCall {
    let state = ToolState::AwaitingApproval;
    ToolCall {
        id: CallId(1),
        ..ToolCall::stored(server.into(), tool.to_owned(), object(arguments), state)
    }
}

/// Reads the table under a heading of a Markdown page. Returns the code spans in its first column,
/// one list per row. `heading` is the heading's whole line.
///
/// # Panics
/// There is no such heading, or no table below it.
pub fn documented(page: &str, heading: &str) -> Vec<Vec<String>> {
    let mut lines = page.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "no heading `{heading}`");
    let rows: Vec<_> = lines
        .take_while(|line| !line.starts_with('#'))
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            // A `|` inside a cell is written as `\|`.
            let line = line.replace("\\|", "\u{0}");
            let cell = line[1..].split('|').next().unwrap_or_default();
            let spans = cell.split('`').skip(1).step_by(2);
            spans.map(|span| span.replace('\u{0}', "|")).collect()
        })
        .collect();
    assert!(!rows.is_empty(), "no table under `{heading}`");
    rows
}

//! A scripted replacement for the built-in server, independent of the crate's own server:
//! calls that stay pending until the test ends them, a changing tool list, results of any size.

use humble::ports::LocalServer;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

const PIPE_BYTES: usize = 1 << 20;

/// The server, as seen by the test. Clones share their state.
#[derive(Clone, Default)]
pub struct InMemoryServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Messages to the client of the newest session.
    outgoing: Option<UnboundedSender<Value>>,
    tools: Vec<Value>,
    tools_ttl_ms: Option<u64>,
    tool_list_count: usize,
    results: Vec<(String, Value)>,
    /// Pending calls: id, tool, progress token.
    pending_calls: Vec<(Value, String, Value)>,
    cancelled: BTreeSet<String>,
    /// The tools of all calls.
    called: Vec<String>,
    is_broken: bool,
    /// Results of other methods. For null, the server never answers; for a number as `error`, it
    /// answers with an error of this code.
    answers: Map<String, Value>,
    /// All requests except `initialize`, `tools/list` and `tools/call`.
    requests: Vec<Value>,
}

impl InMemoryServer {
    /// Adds a tool whose calls run until [`Self::finish_call`].
    pub fn with_pending_tool(self, name: &str, description: &str) -> Self {
        self.with_state(|state| state.tools.push(definition(name, description)));
        self
    }

    /// Adds a tool that answers at once.
    pub fn with_answering_tool(self, name: &str, result: &str) -> Self {
        self.with_result(name, text(result))
    }

    /// Adds a tool that answers at once with a whole result.
    pub fn with_result(self, name: &str, result: Value) -> Self {
        self.with_state(|state| {
            state.results.push((name.to_owned(), result));
            state.tools.push(definition(name, "Answers."));
        });
        self
    }

    /// Adds the result of a method such as `prompts/list`, and its capability.
    pub fn with_answer(self, method: &str, result: Value) -> Self {
        self.with_state(|state| state.answers.insert(method.to_owned(), result));
        self
    }

    /// Announces a lifetime of the list of tools.
    pub fn with_tools_ttl(self, ttl_ms: u64) -> Self {
        self.with_state(|state| state.tools_ttl_ms = Some(ttl_ms));
        self
    }

    /// How often the tools were listed.
    pub fn tool_list_count(&self) -> usize {
        self.with_state(|state| state.tool_list_count)
    }

    /// Replaces the result of a method.
    pub fn set_answer(&self, method: &str, result: Value) {
        self.with_state(|state| state.answers.insert(method.to_owned(), result));
    }

    /// Replaces the result of a method and announces the change.
    pub fn replace_list(&self, method: &str, result: Value) {
        self.with_state(|state| {
            state.answers.insert(method.to_owned(), result);
            let list = method.split('/').next().expect("a method");
            state.notify(&format!("notifications/{list}/list_changed"), &json!({}));
        });
    }

    /// Reports that a resource has changed.
    pub fn report_changed_resource(&self, uri: &str) {
        let params = json!({ "uri": uri });
        self.with_state(|state| state.notify("notifications/resources/updated", &params));
    }

    /// The methods that were requested, except those about sessions and tools.
    pub fn requested_methods(&self) -> Vec<String> {
        let method = |request: &Value| request["method"].as_str().map(str::to_owned);
        self.with_state(|state| state.requests.iter().filter_map(method).collect())
    }

    /// The tools that were called, in order.
    pub fn called_tools(&self) -> Vec<String> {
        self.with_state(|state| state.called.clone())
    }

    /// How often this method was requested.
    pub fn count(&self, method: &str) -> usize {
        let methods = self.requested_methods().into_iter();
        methods.filter(|requested| requested == method).count()
    }

    /// The parameters of the last request for this method.
    pub fn last_params(&self, method: &str) -> Value {
        self.with_state(|state| {
            let mut requests = state.requests.iter().rev();
            let request = requests.find(|request| request["method"] == method);
            request.expect("such a request")["params"].clone()
        })
    }

    /// Makes new sessions end immediately, or stops doing so.
    pub fn set_broken(&self, is_broken: bool) {
        self.with_state(|state| state.is_broken = is_broken);
    }

    /// Reports progress of the running call to this tool.
    pub fn report_progress(&self, tool: &str, progress: Value) {
        self.with_state(|state| {
            let call = state.pending_calls.iter().find(|(_, name, _)| name == tool);
            let mut params = progress;
            params["progressToken"] = call.expect("a running call").2.clone();
            state.notify("notifications/progress", &params);
        });
    }

    /// Answers the running call to this tool.
    pub fn finish_call(&self, tool: &str, result: &str) {
        self.with_state(|state| {
            let index = state
                .pending_calls
                .iter()
                .position(|(_, name, _)| name == tool);
            let (id, ..) = state.pending_calls.remove(index.expect("a running call"));
            state.answer(&id, &text(result));
        });
    }

    /// Replaces all tools and announces the change.
    pub fn replace_tools(&self, names: &[&str]) {
        self.with_state(|state| {
            state.tools = names.iter().map(|name| definition(name, "New.")).collect();
            state.notify("notifications/tools/list_changed", &json!({}));
        });
    }

    /// Tools with cancelled calls.
    pub fn cancelled_tools(&self) -> Vec<String> {
        self.with_state(|state| state.cancelled.iter().cloned().collect())
    }

    fn with_state<T>(&self, action: impl FnOnce(&mut State) -> T) -> T {
        action(&mut self.0.lock().expect("no panic while locked"))
    }
}

fn definition(name: &str, description: &str) -> Value {
    json!({
        "name": name, "title": format!("The {name}"), "description": description,
        "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
    })
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl State {
    fn send(&self, message: Value) {
        // A closed session ignores messages.
        let _ = self.outgoing.as_ref().expect("a session").send(message);
    }

    fn notify(&self, method: &str, params: &Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn handle_message(&mut self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => self.answer(
                id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": self.capabilities(),
                    "serverInfo": { "name": "workshop", "version": "1.2" },
                    "instructions": "Be kind.",
                }),
            ),
            "tools/list" => {
                self.tool_list_count += 1;
                let mut result = json!({ "tools": self.tools });
                if let Some(ttl) = self.tools_ttl_ms {
                    result["ttlMs"] = ttl.into();
                }
                self.answer(id, &result);
            }
            "tools/call" => {
                let name = params["name"].as_str().unwrap_or_default().to_owned();
                self.called.push(name.clone());
                let result = self.results.iter().find(|(tool, _)| *tool == name);
                match result {
                    Some((_, result)) => self.answer(id, result),
                    None => {
                        let token = params["_meta"]["progressToken"].clone();
                        self.pending_calls.push((id.clone(), name, token));
                    }
                }
            }
            "notifications/cancelled" => {
                let is_cancelled = |(id, ..): &&(Value, String, Value)| *id == params["requestId"];
                let name = self
                    .pending_calls
                    .iter()
                    .find(is_cancelled)
                    .map(|(_, name, _)| name.clone());
                self.cancelled.extend(name);
            }
            method if !id.is_null() => {
                self.requests.push(message.clone());
                match self.answers.get(method) {
                    Some(Value::Null) => {}
                    Some(answer) if answer.get("error").is_some_and(Value::is_number) => {
                        self.send(json!({
                            "jsonrpc": "2.0", "id": id,
                            "error": { "code": answer["error"], "message": "no such task" },
                        }))
                    }
                    Some(result) => self.answer(id, &result.clone()),
                    None => self.send(json!({
                        "jsonrpc": "2.0", "id": id,
                        "error": { "code": -32601, "message": "unknown method" },
                    })),
                }
            }
            _ => {}
        }
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = json!({ "tools": { "listChanged": true } });
        let subscribes = self.answers.contains_key("resources/subscribe");
        for (method, capability, value) in [
            ("prompts/list", "prompts", json!({ "listChanged": true })),
            (
                "resources/list",
                "resources",
                json!({ "listChanged": true, "subscribe": subscribes }),
            ),
            ("completion/complete", "completions", json!({})),
            ("logging/setLevel", "logging", json!({})),
        ] {
            if self.answers.contains_key(method) {
                capabilities[capability] = value;
            }
        }
        capabilities
    }
}

impl LocalServer for InMemoryServer {
    fn configure(&self, _: &humble::domain::BuiltInSettings) {}

    fn connect(&self) -> DuplexStream {
        let (server_end, client_end) = duplex(PIPE_BYTES);
        if self.with_state(|state| state.is_broken) {
            return client_end;
        }
        let (reader, mut writer) = tokio::io::split(server_end);
        let (outgoing, mut queue) = unbounded_channel::<Value>();
        self.with_state(|state| state.outgoing = Some(outgoing));
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                let line = format!("{message}\n");
                if writer.write_all(line.as_bytes()).await.is_err() {
                    break;
                }
            }
        });
        let state = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message = serde_json::from_str(&line).expect("JSON");
                state.with_state(|state| state.handle_message(&message));
            }
        });
        client_end
    }
}

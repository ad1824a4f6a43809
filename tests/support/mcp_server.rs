//! An MCP server over stdio for the tests, independent of the crate. The first argument selects its
//! behavior; most behaviors offer the same tools. It logs cancellations and other observations to
//! stderr.

#[path = "mcp_server_eras.rs"]
mod eras;
#[path = "mcp_server_library.rs"]
mod library;
#[path = "mcp_server_requests.rs"]
mod requests;
#[path = "mcp_server_script.rs"]
mod script;
#[path = "mcp_server_tasks.rs"]
mod tasks;

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::process::{Command, Stdio, exit};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn main() {
    let behavior = behavior(std::env::args().nth(1).unwrap_or_default());
    let behavior = eras::start_late(behavior);
    misbehave_at_start(&behavior);
    let mut server = Server {
        behavior,
        has_grown: false,
        subscription: None,
        asking_call: None,
        is_page_required: false,
        questions_asked: 0,
        status_count: 0,
        task_answer: None,
        running: Arc::default(),
    };
    for line in stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.handle_message(message);
        }
    }
    eprintln!("stdin was closed");
    if server.behavior == "stubborn" {
        loop {
            std::thread::park();
        }
    }
}

/// The behavior that the argument selects. `@FILE` reads it from a file, so that it can differ at
/// each start, and records each start in a file next to it.
fn behavior(argument: String) -> String {
    let Some(file) = argument.strip_prefix('@') else {
        return argument;
    };
    let starts_file = std::path::Path::new(file).with_file_name("starts");
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(starts_file);
    if let Ok(mut log) = log {
        let _ = writeln!(log, "{}", std::process::id());
    }
    std::fs::read_to_string(file).unwrap_or_default()
}

fn misbehave_at_start(behavior: &str) {
    match behavior {
        "dies" => {
            eprintln!("no TEST_API_KEY in the environment");
            exit(3);
        }
        "floods" => {
            for n in 0..50_000 {
                eprintln!("complaint {n} {}", "x".repeat(100));
            }
        }
        "parent" => leave_grandchild(Stdio::null()),
        "parent-of-holder" => leave_grandchild(Stdio::inherit()),
        _ => {}
    }
}

/// Starts a process that will outlive this one.
fn leave_grandchild(output: Stdio) {
    let child = Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::null())
        .stdout(output)
        .spawn();
    if let Err(error) = child {
        eprintln!("no grandchild: {error}");
    }
}

struct Server {
    behavior: String,
    has_grown: bool,
    /// Id of the request with which a modern client subscribed to changes.
    subscription: Option<Value>,
    /// Id of the call that waits for the user.
    asking_call: Option<Value>,
    /// A call was refused because the user has to visit a page first.
    is_page_required: bool,
    /// Number of questions asked by the tool `nag`.
    questions_asked: u32,
    /// Status requests since the last call.
    status_count: u32,
    task_answer: Option<Value>,
    /// Running calls by the JSON text of their id.
    running: Arc<Mutex<HashMap<String, Sender<()>>>>,
}

fn send(message: &Value) {
    let mut out = stdout().lock();
    // The client may be gone, so ignore write errors.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

fn send_result(id: &Value, result: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn send_error(id: &Value, code: i64, message: &str) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl Server {
    fn handle_message(&mut self, message: Value) {
        let id = message["id"].clone();
        if self.handle_for_script(&id, &message)
            || self.handle_for_library(&id, &message)
            || self.handle_asking(&id, &message)
            || self.handle_for_tasks(&id, &message)
            || self.handle_for_era(&id, &message)
        {
            return;
        }
        match message["method"].as_str() {
            Some("initialize") => self.initialize(&id, &message["params"]),
            Some("tools/list") => self.list(&id, message["params"]["cursor"].as_str()),
            Some("tools/call") => self.call(&id, &message["params"]),
            Some("notifications/cancelled") => self.cancel(&message["params"]["requestId"]),
            Some("notifications/initialized") if self.behavior == "asks" => {
                send(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
                send(&json!({ "jsonrpc": "2.0", "id": "r", "method": "sampling/createMessage" }));
                send(&json!({ "jsonrpc": "2.0", "id": "u", "method": "unknown/method" }));
            }
            Some(other) if !id.is_null() => send_error(&id, -32601, other),
            None => eprintln!("answered {}", message),
            Some(_) => {}
        }
    }

    fn initialize(&self, id: &Value, params: &Value) {
        eprintln!("offered {}", params["protocolVersion"]);
        let version = match self.behavior.as_str() {
            "silent" => return,
            "futuristic" => json!("2099-01-01"),
            _ => params["protocolVersion"].clone(),
        };
        if self.behavior == "junk" {
            print!("Welcome!\n42\n[1,2]\n\"text\"\n{{}}\n{{\"jsonrpc\":\"2.0\"}}\nnull\n\n");
        }
        let capabilities = match self.behavior.as_str() {
            "toolless" => json!({}),
            "library" => library::capabilities(),
            _ => json!({ "tools": { "listChanged": true } }),
        };
        send_result(
            id,
            &json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "serverInfo": { "name": "test", "version": "1" },
                "instructions": "Be kind.",
            }),
        );
    }

    fn list(&self, id: &Value, cursor: Option<&str>) {
        let page = |tools: Value, next: String| json!({ "tools": tools, "nextCursor": next });
        let number: u64 = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let result = match self.behavior.as_str() {
            "endless" => page(
                json!([tool(&format!("t{number}"))]),
                (number + 1).to_string(),
            ),
            "stuck" => page(json!([tool(&format!("t{number}"))]), "1".to_owned()),
            "many" => {
                json!({ "tools": (0..5_100).map(|n| tool(&format!("t{n}"))).collect::<Vec<_>>() })
            }
            "silent-when-listed" => return,
            "unlistable" => return send_error(id, -32603, "the list is lost"),
            _ => json!({ "tools": self.tools() }),
        };
        send_result(id, &result);
        if self.behavior == "changes-when-listed" {
            eprintln!("listed");
            send(&self.change_notification());
        }
    }

    fn tools(&self) -> Vec<Value> {
        let mut tools: Vec<_> = [
            "add",
            "echo",
            "fail",
            "slow",
            "progress",
            "odd",
            "variables",
        ]
        .into_iter()
        .map(tool)
        .collect();
        tools.extend(
            [
                "die", "grow", "late", "shout", "big", "twice", "log", "ping", "batch",
            ]
            .map(tool),
        );
        if self.behavior == "one-bad-tool" {
            tools.insert(
                1,
                json!({ "name": "bad", "description": "It has no schema." }),
            );
        }
        if self.behavior == "deep-tool" {
            let mut deep = tool("deep");
            deep["inputSchema"]["properties"]["x"] = nested();
            tools.insert(1, deep);
        }
        if self.has_grown {
            tools.push(tool("grown"));
        }
        tools
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let seconds = arguments["seconds"].as_f64().unwrap_or(1.0);
        let result = match params["name"].as_str().unwrap_or_default() {
            "add" => {
                let sum =
                    arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
                text(&sum.to_string())
            }
            "echo" => text(
                &arguments["text"]
                    .as_str()
                    .map_or_else(|| arguments.to_string(), str::to_owned),
            ),
            "fail" => {
                json!({ "content": [{ "type": "text", "text": "it failed" }], "isError": true })
            }
            "odd" => json!({ "content": [
                { "type": "hologram" }, { "type": "text", "text": "seen" }, 7,
            ] }),
            "nest" => json!({ "content": [], "structuredContent": nested() }),
            "variables" => {
                let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                json!({ "content": [], "structuredContent": names })
            }
            "die" => {
                eprintln!("dying");
                exit(7);
            }
            "grow" => {
                self.has_grown = true;
                (0..20).for_each(|_| send(&self.change_notification()));
                text("grown")
            }
            "big" => {
                let bytes = arguments["bytes"].as_u64().unwrap_or(0);
                text(&"x".repeat(usize::try_from(bytes).unwrap_or(0)))
            }
            "ping" => loop {
                send(&json!({ "jsonrpc": "2.0", "id": "again", "method": "ping" }));
            },
            "log" => {
                for data in [json!("글\n둘"), json!({ "a": 1 })] {
                    send(&json!({
                        "jsonrpc": "2.0", "method": "notifications/message",
                        "params": { "level": "warning", "logger": "db", "data": data },
                    }));
                }
                text("logged")
            }
            "batch" | "twice" => return send_odd_result(id, params),
            "shout" => {
                let mut out = stdout().lock();
                let megabyte = vec![b'x'; 1 << 20];
                let _ = (0..65).try_for_each(|_| out.write_all(&megabyte));
                return;
            }
            "slow" | "progress" | "late" => return self.run_slow_call(id, params, seconds),
            other => return send_error(id, -32602, &format!("Unknown tool: {other}")),
        };
        send_result(id, &result);
    }

    /// Runs a slow call on its own thread, so that the main loop can handle a cancellation.
    fn run_slow_call(&self, id: &Value, params: &Value, seconds: f64) {
        let (stop_sender, stop_receiver) = channel();
        if let Ok(mut running) = self.running.lock() {
            running.insert(id.to_string(), stop_sender);
        }
        let (id, params) = (id.clone(), params.clone());
        let time = Duration::from_secs_f64(seconds);
        std::thread::spawn(move || match params["name"].as_str() {
            Some("late") => {
                std::thread::sleep(time);
                send_result(&id, &text("too late"));
            }
            Some("progress") => {
                report_progress(&id, &params["_meta"]["progressToken"], time, &stop_receiver)
            }
            _ if stop_receiver.recv_timeout(time).is_err() => send_result(&id, &text("slept")),
            _ => {}
        });
    }

    fn cancel(&self, request: &Value) {
        eprintln!("cancelled {request}");
        let running = self.running.lock().ok();
        if let Some(stop_sender) =
            running.and_then(|mut running| running.remove(&request.to_string()))
        {
            let _ = stop_sender.send(());
        }
    }
}

/// More nesting levels than most JSON parsers accept.
fn nested() -> Value {
    (0..200).fold(json!("}"), |inner, _| json!({ "]": [inner] }))
}

/// Sends unusual results: a batch, or several responses to one request.
fn send_odd_result(id: &Value, params: &Value) {
    if params["name"] == "batch" {
        return send(&json!([
            { "jsonrpc": "2.0", "id": "b", "method": "ping" },
            { "jsonrpc": "2.0", "id": id, "result": text("batched") },
            { "jsonrpc": "2.0", "id": 77_777, "result": {} },
        ]));
    }
    for (id, reply) in [(id, "first"), (id, "second"), (&json!(987_654), "stray")] {
        send_result(id, &text(reply));
    }
    send_error(&json!("nobody"), -32000, "a stray error");
}

fn report_progress(id: &Value, token: &Value, time: Duration, stop_receiver: &Receiver<()>) {
    let (started, mut step) = (Instant::now(), 0);
    while started.elapsed() < time {
        step += 1;
        send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": step, "total": 99, "message": format!("step {step}"),
        } }),
        );
        if stop_receiver
            .recv_timeout(Duration::from_millis(50))
            .is_ok()
        {
            return;
        }
    }
    send_result(id, &text("done"));
}

fn tool(name: &str) -> Value {
    let (properties, required) = match name {
        "add" => (
            json!({ "a": { "type": "number" }, "b": { "type": "number" } }),
            json!(["a", "b"]),
        ),
        "echo" => (json!({ "text": { "type": "string" } }), json!(["text"])),
        "slow" | "progress" | "late" => (json!({ "seconds": { "type": "number" } }), json!([])),
        _ => (json!({}), json!([])),
    };
    json!({
        "name": name,
        "description": format!("The tool {name}."),
        "inputSchema": { "type": "object", "properties": properties, "required": required },
        "x-unknown": { "kept": "in the pin" },
    })
}

//! Tasks of the test server (behaviors `tasks-legacy` and `tasks-modern`). The name of a task is the
//! name of its tool, so that a restarted server recognizes it. The second argument is a file to
//! which the methods of all requests about calls and tasks are appended; the task `gate` is
//! completed once a file `open` exists next to that file.

use super::{Server, eras, send, send_error, send_result, text};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Status requests until a task is completed.
const STATUS_COUNT: u32 = 3;

fn log_file() -> Option<PathBuf> {
    std::env::args().nth(2).map(PathBuf::from)
}

fn log(line: &str) {
    eprintln!("{line}");
    let Some(file) = log_file() else { return };
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{line}");
    }
}

fn is_gate_open() -> bool {
    log_file().is_some_and(|file| file.with_file_name("open").exists())
}

impl Server {
    /// Handles messages about tasks. Returns whether the message was handled.
    pub fn handle_for_tasks(&mut self, id: &Value, message: &Value) -> bool {
        let is_modern = match self.behavior.as_str() {
            "tasks-legacy" => false,
            "tasks-modern" => true,
            _ => return false,
        };
        let params = &message["params"];
        let method = message["method"].as_str().unwrap_or_default();
        match method {
            "server/discover" if is_modern => {
                send_result(id, &eras::discover_result(&[eras::MODERN]));
            }
            "server/discover" => send_error(id, -32601, "Method not found"),
            "initialize" => send_result(
                id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {
                        "tools": {},
                        "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } },
                    },
                    "serverInfo": { "name": "tasks", "version": "1" },
                }),
            ),
            "tools/list" => {
                let tool = |name: &str| {
                    json!({
                        "name": name, "inputSchema": { "type": "object" },
                        "execution": { "taskSupport": "optional" },
                    })
                };
                let names = ["render", "gate", "asks", "asks-on", "fails", "forever"];
                send_result(id, &json!({ "tools": names.map(tool) }));
            }
            "tools/call" => self.create_task(id, params, is_modern),
            "tasks/get" => self.send_task(id, params, is_modern),
            "tasks/update" => {
                log(&format!("tasks/update {}", params["inputResponses"]));
                self.task_answer = Some(params["inputResponses"].clone());
                send_result(id, &json!({ "resultType": "complete" }));
            }
            "tasks/result" => self.send_task_result(id, params),
            "tasks/cancel" => {
                log(&format!("tasks/cancel {}", params["taskId"]));
                send_result(id, &json!({ "resultType": "complete" }));
            }
            _ if message.get("result").is_some() => self.handle_task_answer(message),
            _ => return false,
        }
        true
    }

    fn create_task(&mut self, id: &Value, params: &Value, is_modern: bool) {
        let name = params["name"].as_str().unwrap_or_default();
        log(&format!("tools/call {name} {}", params["task"]));
        self.status_count = 0;
        let extensions =
            &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
        let declared = extensions.get("io.modelcontextprotocol/tasks").is_some();
        if is_modern && !declared || !is_modern && params["task"].is_null() {
            return send_result(id, &text("ran without a task"));
        }
        let mut state = task_state(name, is_modern, "working");
        let result = match is_modern {
            true => {
                state["resultType"] = "task".into();
                state
            }
            false => json!({ "task": state }),
        };
        send_result(id, &result);
    }

    fn send_task(&mut self, id: &Value, params: &Value, is_modern: bool) {
        let name = params["taskId"].as_str().unwrap_or_default();
        self.status_count += 1;
        let is_complete = match name {
            "gate" => is_gate_open(),
            "asks" => self.task_answer.is_some(),
            // Repeats its request twice after the answer.
            "asks-on" if self.task_answer.is_none() => {
                self.status_count = 0;
                false
            }
            "forever" => false,
            _ => self.status_count >= STATUS_COUNT,
        };
        let status = match (name, is_complete) {
            ("fails", true) => "failed",
            (_, true) => "completed",
            ("asks" | "asks-on", false) => "input_required",
            _ => "working",
        };
        log(&format!("tasks/get {name} {status}"));
        let mut state = task_state(name, is_modern, status);
        if is_modern {
            match status {
                "completed" => state["result"] = self.task_result(name),
                "failed" => state["error"] = json!({ "code": -32000, "message": "no disk" }),
                "input_required" => {
                    let request = json!({ "method": "elicitation/create", "params": form() });
                    state["inputRequests"] = json!({ "name": request });
                }
                _ => {}
            }
        }
        send_result(id, &state);
    }

    /// Answers `tasks/result`, once there is a result.
    fn send_task_result(&mut self, id: &Value, params: &Value) {
        let name = params["taskId"].as_str().unwrap_or_default();
        log(&format!("tasks/result {name}"));
        match name {
            "fails" => send_error(id, -32000, "no disk"),
            "asks" if self.task_answer.is_none() => {
                self.asking_call = Some(id.clone());
                send(&json!({
                    "jsonrpc": "2.0", "id": "e1", "method": "elicitation/create", "params": form(),
                }));
            }
            _ => send_result(id, &self.task_result(name)),
        }
    }

    /// Handles the user's answer to the request of a legacy task.
    fn handle_task_answer(&mut self, message: &Value) {
        self.task_answer = Some(message["result"].clone());
        if let Some(request) = self.asking_call.take() {
            send_result(&request, &self.task_result("asks"));
        }
    }

    fn task_result(&self, name: &str) -> Value {
        match &self.task_answer {
            Some(answer) => text(&answer.to_string()),
            None => text(&format!("{name} is done")),
        }
    }
}

/// A state whose suggested interval is far too short.
fn task_state(name: &str, is_modern: bool, status: &str) -> Value {
    let mut state = json!({
        "taskId": name, "status": status, "statusMessage": "page 3 of 7",
        "createdAt": "2026-03-01T09:00:00Z", "lastUpdatedAt": "2026-03-01T09:00:00Z",
    });
    let keys = match is_modern {
        true => ["ttlMs", "pollIntervalMs"],
        false => ["ttl", "pollInterval"],
    };
    state[keys[0]] = Value::Null;
    state[keys[1]] = 0.into();
    state
}

fn form() -> Value {
    json!({
        "message": "Under which name?",
        "requestedSchema": {
            "type": "object",
            "properties": { "name": { "type": "string", "title": "Name" } },
            "required": ["name"],
        },
    })
}

//! A server that a JSON file scripts (behavior `script:FILE`). Its fields are all optional:
//! `result`, the result of `initialize` without its version; `tools` and, offered after the first
//! call, `laterTools`; `calls`, the result or error of each tool; `progress`, a message sent during
//! each call; `log`, a log message sent at the start; `stderr`. It records each call, as one line of
//! JSON, in a file next to the script with the extension `calls`.

use super::{Server, send, send_error, send_result};
use serde_json::{Value, json};
use std::io::Write;

impl Server {
    /// Handles every message if the server is scripted. Returns false if it is not.
    pub fn handle_for_script(&mut self, id: &Value, message: &Value) -> bool {
        let Some(file) = self.behavior.strip_prefix("script:").map(str::to_owned) else {
            return false;
        };
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let script: Value = serde_json::from_str(&text).unwrap_or_default();
        let params = &message["params"];
        match message["method"].as_str() {
            Some("initialize") => {
                eprintln!("{}", script["stderr"].as_str().unwrap_or_default());
                let mut result = json!({
                    "capabilities": { "tools": { "listChanged": true }, "logging": {} },
                    "serverInfo": { "name": "scripted", "version": "1" },
                });
                if let Some(fields) = script["result"].as_object() {
                    result
                        .as_object_mut()
                        .expect("an object")
                        .extend(fields.clone());
                }
                result["protocolVersion"] = params["protocolVersion"].clone();
                send_result(id, &result);
            }
            Some("notifications/initialized") if !script["log"].is_null() => send(&json!({
                "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "warning", "data": script["log"] },
            })),
            Some("tools/list") => {
                let mut tools = script["tools"].as_array().cloned().unwrap_or_default();
                if self.has_grown {
                    tools.extend(script["laterTools"].as_array().cloned().unwrap_or_default());
                }
                send_result(id, &json!({ "tools": tools }));
            }
            Some("tools/call") => self.answer_scripted_call(&file, &script, id, params),
            _ if !id.is_null() => send_error(id, -32601, "Method not found"),
            _ => {}
        }
        true
    }

    fn answer_scripted_call(&mut self, file: &str, script: &Value, id: &Value, params: &Value) {
        let log = std::path::Path::new(file).with_extension("calls");
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log);
        let call = json!({ "name": params["name"], "arguments": params["arguments"] });
        log.and_then(|mut log| writeln!(log, "{call}"))
            .expect("a writable folder");
        let token = &params["_meta"]["progressToken"];
        if let (Some(text), false) = (script["progress"].as_str(), token.is_null()) {
            send(&json!({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": 1, "message": text },
            }));
        }
        let answer = &script["calls"][params["name"].as_str().unwrap_or_default()];
        match answer.get("error") {
            Some(error) => send(&json!({ "jsonrpc": "2.0", "id": id, "error": error })),
            None if answer.is_null() => {
                send_result(
                    id,
                    &json!({ "content": [{ "type": "text", "text": "done" }] }),
                );
            }
            None => send_result(id, answer),
        }
        if !script["laterTools"].is_null() && !std::mem::replace(&mut self.has_grown, true) {
            send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        }
    }
}

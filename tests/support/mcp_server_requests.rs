//! The test server's requests to the user. With the behaviors `asks-legacy` and `asks-modern`, its
//! tools ask for input and return the answer as text. With `pings`, it pings the client all the time.

use super::{Server, eras, send, send_error, send_result, text};
use serde_json::{Value, json};
use std::process::exit;
use std::time::Duration;

/// The pause between two pings.
const PING_INTERVAL: Duration = Duration::from_millis(100);
/// The request state, which the client must send back unchanged.
const STATE: &str = "état \"1\" \\u0041 한글\n";

fn ping_forever() {
    for number in 1.. {
        send(&json!({ "jsonrpc": "2.0", "id": format!("ping {number}"), "method": "ping" }));
        std::thread::sleep(PING_INTERVAL);
    }
}

impl Server {
    /// Handles messages about requests to the user. Returns whether the message was handled.
    pub fn handle_asking(&mut self, id: &Value, message: &Value) -> bool {
        let is_modern = match self.behavior.as_str() {
            "asks-legacy" => false,
            "asks-modern" => true,
            "pings" => {
                if message["method"] == "notifications/initialized" {
                    std::thread::spawn(ping_forever);
                }
                return false;
            }
            _ => return false,
        };
        let params = &message["params"];
        match message["method"].as_str() {
            Some("server/discover") if is_modern => {
                send_result(id, &eras::discover_result(&[eras::MODERN]));
            }
            Some("server/discover") => send_error(id, -32601, "Method not found"),
            Some("notifications/initialized") => eprintln!("initialized"),
            Some("initialize") => {
                eprintln!("capabilities {}", params["capabilities"]);
                return false;
            }
            Some("tools/list") => {
                let tool =
                    |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
                let names = [
                    "form",
                    "secret",
                    "page",
                    "two",
                    "again",
                    "huge",
                    "cancels",
                    "idle",
                    "die",
                    "flood",
                    "gated",
                    "completes",
                    "sample",
                    "sample-later",
                    "sample-tools",
                    "sample-bad-tools",
                    "roots",
                    "nag",
                ];
                send_result(id, &json!({ "tools": names.map(tool) }));
            }
            Some("tools/call") if is_modern => self.call_modern(id, params),
            Some("tools/call") => self.call_legacy(id, params),
            Some("notifications/roots/list_changed") => eprintln!("roots changed"),
            Some("notifications/cancelled") => eprintln!("cancelled {}", params["requestId"]),
            Some(_) => return false,
            None => self.handle_answer(id, message),
        }
        true
    }

    fn call_legacy(&mut self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default();
        self.asking_call = Some(id.clone());
        match name {
            "idle" => {
                send_result(id, &text("asked later"));
                self.asking_call = None;
                ask("e-idle", &form());
            }
            "die" => {
                ask("e-die", &form());
                std::thread::sleep(std::time::Duration::from_millis(300));
                exit(7);
            }
            "cancels" => {
                ask("e-cancelled", &form());
                send(&json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": { "requestId": "e-cancelled" },
                }));
                send_result(id, &text("withdrawn"));
            }
            "gated" | "completes" if !self.is_page_required => {
                self.is_page_required = true;
                let data = json!({ "elicitations": [page()] });
                let error = json!({ "code": -32042, "message": "Sign in first.", "data": data });
                send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                if name == "completes" {
                    std::thread::spawn(|| {
                        std::thread::sleep(std::time::Duration::from_millis(300));
                        complete_page();
                    });
                }
            }
            "gated" | "completes" => send_result(id, &text("visited")),
            "flood" => (0..20).for_each(|n| ask(&format!("e{n}"), &form())),
            "page" => {
                ask("e-page", &page());
            }
            "sample" => ask_model(sampling()),
            "roots" => send(&json!({ "jsonrpc": "2.0", "id": "r1", "method": "roots/list" })),
            "sample-tools" => ask_model(sampling_with_tools(&erase())),
            "sample-bad-tools" => ask_model(sampling_with_tools(&json!({ "name": "erase" }))),
            "sample-later" => {
                send_result(id, &text("asked later"));
                self.asking_call = None;
                ask_model(sampling());
            }
            "nag" => {
                self.questions_asked = 1;
                ask("nag1", &form());
            }
            name => ask("e1", &request(name)),
        }
    }

    /// Sends the user's answer as the result of the call. The tool `nag` first asks 20 times.
    fn handle_answer(&mut self, id: &Value, message: &Value) {
        eprintln!("answered {message}");
        if id == "e-page" {
            complete_page();
        }
        if (1..20).contains(&self.questions_asked) {
            self.questions_asked += 1;
            return ask(&format!("nag{}", self.questions_asked), &form());
        }
        if self.questions_asked > 0
            && let Some(call) = self.asking_call.take()
        {
            let count = std::mem::take(&mut self.questions_asked);
            return send_result(&call, &text(&format!("asked {count} times")));
        }
        if let Some(call) = self.asking_call.take() {
            let answer = message.get("result").unwrap_or(&message["error"]);
            send_result(&call, &text(&answer.to_string()));
        }
    }

    fn call_modern(&mut self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default();
        eprintln!("call {id}");
        let answers = &params["inputResponses"];
        if answers.is_object() && name != "again" {
            let is_unchanged = params["requestState"] == STATE;
            return send_result(
                id,
                &text(&format!("{answers} state unchanged: {is_unchanged}")),
            );
        }
        let asked = |name: &str| {
            let mut request = request(name);
            json!({ "method": "elicitation/create", "params": request.take() })
        };
        let requests = match name {
            "two" => json!({ "first": asked("form"), "second": asked("page") }),
            "die" => {
                let name = "form";
                std::thread::spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                    exit(7);
                });
                json!({ "only": asked(name) })
            }
            "sample" => {
                json!({ "only": { "method": "sampling/createMessage", "params": sampling() } })
            }
            "roots" => {
                eprintln!("capabilities {}", params["_meta"]);
                json!({ "only": { "method": "roots/list" } })
            }
            "sample-tools" | "sample-bad-tools" => {
                let tool = match name {
                    "sample-tools" => erase(),
                    _ => json!({ "name": "erase" }),
                };
                let params = sampling_with_tools(&tool);
                json!({ "only": { "method": "sampling/createMessage", "params": params } })
            }
            name => json!({ "only": asked(name) }),
        };
        send_result(
            id,
            &json!({ "resultType": "input_required", "inputRequests": requests, "requestState": STATE }),
        );
    }
}

fn ask(id: &str, params: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }));
}

fn ask_model(params: Value) {
    send(&json!({
        "jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": params,
    }));
}

fn sampling_with_tools(tool: &Value) -> Value {
    let mut params = sampling();
    params["tools"] = json!([tool]);
    params
}

fn erase() -> Value {
    json!({ "name": "erase", "inputSchema": { "type": "object" } })
}

fn sampling() -> Value {
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    json!({
        "systemPrompt": "Be brief.",
        "messages": [{
            "role": "user", "content": [image, { "type": "text", "text": "Name a color." }],
        }],
        "maxTokens": 50,
        "temperature": 0.5,
        "includeContext": "thisServer",
    })
}

fn complete_page() {
    send(&json!({
        "jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": { "elicitationId": "page-1" },
    }));
}

fn request(name: &str) -> Value {
    match name {
        "page" => page(),
        "secret" => json!({
            "message": "Sign in to continue.",
            "requestedSchema": {
                "type": "object",
                "properties": { "password": { "type": "string" } },
                "required": ["password"],
            },
        }),
        "huge" => {
            let fields: serde_json::Map<String, Value> = (0..10_000)
                .map(|n| (format!("f{n}"), json!({ "type": "string" })))
                .collect();
            json!({ "message": "Many.", "requestedSchema": { "type": "object", "properties": fields } })
        }
        _ => form(),
    }
}

fn form() -> Value {
    json!({
        "message": "Who should receive the parcel?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "title": "Name", "minLength": 2 },
                "express": { "type": "boolean", "default": true },
            },
            "required": ["name"],
        },
    })
}

fn page() -> Value {
    json!({
        "mode": "url", "elicitationId": "page-1",
        "message": "Sign in to the shop.", "url": "https://shop.example/sign-in?id=1",
    })
}

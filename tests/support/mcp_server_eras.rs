//! The test server's reactions to `server/discover`. Some imitate real servers that do not know the
//! method; others, servers of the protocol version that has no `initialize`.

use super::{Server, send, send_error, send_result};
use serde_json::{Value, json};
use std::process::exit;

pub const MODERN: &str = "2026-07-28";

impl Server {
    /// Handles messages on which servers of different protocol versions disagree. Returns whether the
    /// message was handled.
    pub fn handle_for_era(&mut self, id: &Value, message: &Value) -> bool {
        let method = message["method"].as_str().unwrap_or_default();
        match (self.behavior.as_str(), method) {
            ("exits-on-discover", "server/discover") => exit(9),
            ("hangs-on-discover", "server/discover") => park(),
            ("hangs-on-all", _) => park(),
            ("mutters", _) => {
                println!("thinking");
                eprintln!("still thinking");
            }
            ("ignores-discover", "server/discover") => {}
            ("locks-after-discover", "server/discover") => {
                send_error(id, -32601, "Method not found");
                park();
            }
            ("discovers-the-unknown", "server/discover") => {
                send_result(id, &discover_result(&["2099-01-01"]));
            }
            ("discovers-nonsense", "server/discover") => send_result(id, &json!("yes")),
            ("modern" | "dual", "server/discover") => send_result(id, &discover_result(&[MODERN])),
            ("slow-modern", "server/discover") => {
                std::thread::sleep(std::time::Duration::from_secs(3));
                send_result(id, &discover_result(&[MODERN]));
            }
            ("modern" | "slow-modern", "initialize") => send_error(id, -32601, "Method not found"),
            ("modern", "subscriptions/listen") => self.listen(id),
            ("modern", "tools/list" | "tools/call") => return !check_modern_metadata(id, message),
            ("odd-legacy", "initialize") => {
                send_result(id, &odd_handshake(&message["params"]["protocolVersion"]));
            }
            ("odd-modern", "server/discover") => {
                let mut result = odd_handshake(&Value::Null);
                result["supportedVersions"] = json!([MODERN]);
                result["_meta"] =
                    json!({ "io.modelcontextprotocol/serverInfo": result["serverInfo"] });
                send_result(id, &result);
            }
            ("wrong-output" | "long-error", "tools/list") => {
                let properties = json!({ "x": { "type": "integer" } });
                send_result(
                    id,
                    &json!({ "tools": [{
                        "name": "measure", "inputSchema": { "type": "object" },
                        "outputSchema": { "type": "object", "properties": properties },
                    }] }),
                );
            }
            ("wrong-output", "tools/call") => {
                let content = json!({ "x": "not int" });
                send_result(id, &json!({ "content": [], "structuredContent": content }));
            }
            ("long-error", "tools/call") => send_error(id, -32000, &"x".repeat(2_000_000)),
            ("dual", "initialize") => {
                eprintln!("was asked to initialize");
                return false;
            }
            _ => return false,
        }
        true
    }

    fn listen(&mut self, id: &Value) {
        eprintln!("listened to");
        self.subscription = Some(id.clone());
        send(&json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {
                "_meta": { "io.modelcontextprotocol/subscriptionId": id },
                "notifications": { "toolsListChanged": true },
            },
        }));
    }

    /// The notification for a changed tool list, tagged with the subscription, if any.
    pub fn change_notification(&self) -> Value {
        let mut notification =
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {} });
        if let Some(id) = &self.subscription {
            notification["params"]["_meta"] =
                json!({ "io.modelcontextprotocol/subscriptionId": id });
        }
        notification
    }
}

/// `late:SECONDS:BEHAVIOR` is BEHAVIOR after a slow start.
pub fn start_late(behavior: String) -> String {
    let late = behavior.strip_prefix("late:");
    let Some((seconds, behavior)) = late.and_then(|late| late.split_once(':')) else {
        return behavior;
    };
    let seconds = seconds.parse().expect("a number of seconds");
    std::thread::sleep(std::time::Duration::from_secs_f64(seconds));
    behavior.to_owned()
}

pub fn discover_result(versions: &[&str]) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": { "tools": { "listChanged": true } },
        "instructions": "Be modern.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "test", "version": "2" } },
    })
}

/// A handshake result with fields of the wrong type, some of which real servers send.
fn odd_handshake(version: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": true },
        "serverInfo": {
            "name": "test", "version": 1, "icons": [{ "src": "icon.png", "sizes": "48x48" }],
        },
        "instructions": ["Be", "kind."],
    })
}

/// Whether the request names the client's capabilities and the protocol version, as the modern
/// version requires. Answers it with an error if not.
fn check_modern_metadata(id: &Value, message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    let is_valid = meta["io.modelcontextprotocol/protocolVersion"] == MODERN
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object();
    if !is_valid {
        send_error(id, -32602, "the request has no protocol version");
    }
    is_valid
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

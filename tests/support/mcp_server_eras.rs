//! The test server's ways with `server/discover`: what servers of the field do when they
//! are asked for it, and the era without `initialize` itself.

use super::{Server, send, send_error, send_result};
use serde_json::{Value, json};
use std::process::exit;

pub const MODERN: &str = "2026-07-28";

impl Server {
    /// Is the message dealt with here?
    pub fn handle_for_era(&mut self, id: &Value, message: &Value) -> bool {
        let method = message["method"].as_str().unwrap_or_default();
        match (self.manner.as_str(), method) {
            ("exits-on-discover", "server/discover") => exit(9),
            ("hangs-on-discover", "server/discover") => park(),
            ("hangs-on-all", _) => park(),
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
            ("modern", "tools/list" | "tools/call") => return !is_modern(id, message),
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

    /// How changes of the list are told: once for each subscription.
    pub fn change(&self) -> Value {
        let mut told =
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {} });
        if let Some(id) = &self.subscription {
            told["params"]["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
        }
        told
    }
}

fn discover_result(versions: &[&str]) -> Value {
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

/// Every request of this era says who asks, and in which revision.
fn is_modern(id: &Value, message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    let is = meta["io.modelcontextprotocol/protocolVersion"] == MODERN
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object();
    if !is {
        send_error(id, -32602, "a request without its revision");
    }
    is
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

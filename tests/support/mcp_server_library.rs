//! A server with a prompt, completion, resources and subscriptions (behaviors `library` and
//! `modern-library`).

use super::eras::{MODERN, discover_result};
use super::{Server, send, send_error, send_result};
use serde_json::{Value, json};

const CITIES: [&str; 3] = ["Seoul", "Sejong", "Busan"];
const NOTE: &str = "note://rain";

pub fn capabilities() -> Value {
    json!({ "prompts": {}, "completions": {}, "resources": { "subscribe": true } })
}

impl Server {
    /// Answers requests about prompts and resources. Returns false for any other message.
    pub fn handle_for_library(&self, id: &Value, message: &Value) -> bool {
        let is_modern = match self.behavior.as_str() {
            "library" => false,
            "modern-library" => true,
            _ => return false,
        };
        if is_modern && self.handle_for_modern_library(id, message) {
            return true;
        }
        let params = &message["params"];
        let result = match message["method"].as_str() {
            Some("prompts/list") => json!({ "prompts": [{
                "name": "forecast", "description": "Asks for a forecast.",
                "arguments": [{ "name": "city", "description": "Where", "required": true }],
            }] }),
            Some("completion/complete") => {
                let typed = params["argument"]["value"].as_str().unwrap_or_default();
                let values: Vec<_> = CITIES
                    .into_iter()
                    .filter(|city| city.starts_with(typed))
                    .collect();
                json!({ "completion": { "values": values } })
            }
            Some("prompts/get") => {
                let text = format!("Forecast for {}, please.", params["arguments"]["city"]);
                let content = json!({ "type": "text", "text": text });
                json!({ "messages": [{ "role": "user", "content": content }] })
            }
            Some("resources/list") => json!({ "resources": [
                { "uri": NOTE, "name": "Rain", "mimeType": "text/plain" },
            ] }),
            Some("resources/templates/list") => json!({ "resourceTemplates": [] }),
            Some("resources/read") => {
                json!({ "contents": [{ "uri": params["uri"], "text": "It rains in Busan." }] })
            }
            Some("resources/subscribe") => json!({}),
            _ => return false,
        };
        send_result(id, &result);
        if message["method"] == "resources/subscribe" {
            send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated",
                "params": { "uri": params["uri"] } }),
            );
        }
        true
    }

    /// Answers requests that only modern clients send. Returns false for any other message.
    fn handle_for_modern_library(&self, id: &Value, message: &Value) -> bool {
        match message["method"].as_str() {
            Some("server/discover") => {
                let mut result = discover_result(&[MODERN]);
                result["capabilities"] = capabilities();
                send_result(id, &result);
            }
            Some("initialize" | "resources/subscribe") => {
                send_error(id, -32601, "Method not found");
            }
            Some("subscriptions/listen") => {
                let uris = &message["params"]["notifications"]["resourceSubscriptions"];
                eprintln!("listened to {uris}");
                for uri in uris.as_array().into_iter().flatten() {
                    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                    send(
                        &json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated",
                        "params": { "uri": uri, "_meta": meta } }),
                    );
                }
            }
            Some("notifications/cancelled") => {
                eprintln!("stopped {}", message["params"]["requestId"]);
            }
            _ => return false,
        }
        true
    }
}

//! A server with a prompt, completion, resources and subscriptions (behavior `library`).

use super::{Server, send, send_result};
use serde_json::{Value, json};

const CITIES: [&str; 3] = ["Seoul", "Sejong", "Busan"];
const NOTE: &str = "note://rain";

pub fn capabilities() -> Value {
    json!({ "prompts": {}, "completions": {}, "resources": { "subscribe": true } })
}

impl Server {
    /// Answers requests about prompts and resources. Returns false for any other message.
    pub fn handle_for_library(&self, id: &Value, message: &Value) -> bool {
        if self.behavior != "library" {
            return false;
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
}

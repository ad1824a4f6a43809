//! An outgoing message: its bytes, and the parts that are also sent as HTTP headers. Pure.

use super::param_headers::ParamHeaders;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::time::Duration;

const LIST_TIMEOUT: Duration = Duration::from_secs(60);
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct OutgoingMessage {
    /// `None` for a response to the server.
    pub method: Option<String>,
    /// Set for a request.
    pub id: Option<Value>,
    /// The request that this message cancels.
    pub cancels: Option<Value>,
    /// The protocol revision in the message itself; only the modern protocol (without sessions)
    /// sends it there.
    pub version: Option<HeaderValue>,
    /// Headers of the modern protocol.
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl OutgoingMessage {
    pub fn new(message: &Value, param_headers: &ParamHeaders) -> Self {
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        let method = text("/method").map(str::to_owned);
        let version = text("/params/_meta/io.modelcontextprotocol~1protocolVersion")
            .and_then(|version| HeaderValue::from_str(version).ok());
        let mut headers = HeaderMap::new();
        if let (Some(method), Some(_)) = (&method, &version) {
            param_headers.enable();
            append_header(&mut headers, "mcp-method", method);
            if let Some(name) = mcp_name(method, message) {
                append_header(&mut headers, "mcp-name", name);
            }
            if method == "tools/call" {
                for (header, value) in param_headers.for_call(message) {
                    append_header(&mut headers, &header, &value);
                }
            }
        }
        let is_cancellation = method.as_deref() == Some("notifications/cancelled");
        let cancelled_id = message.pointer("/params/requestId");
        Self {
            id: message.get("id").filter(|_| method.is_some()).cloned(),
            cancels: cancelled_id.filter(|_| is_cancellation).cloned(),
            method,
            version,
            headers,
            body: message.to_string().into_bytes(),
        }
    }

    pub fn is_method(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Whether later messages must wait until this message has arrived. A server may reject
    /// requests until it is initialized.
    pub fn is_barrier(&self) -> bool {
        self.method.is_some() && self.id.is_none() && self.cancels.is_none()
    }

    /// The default time limit. Calls and session startup have their own timeouts, and a
    /// subscription stays open.
    pub fn time_limit(&self) -> Option<Duration> {
        match (&self.method, &self.id) {
            (Some(method), Some(_)) if method == "ping" || method.ends_with("/list") => {
                Some(LIST_TIMEOUT)
            }
            (_, Some(_)) => None,
            (_, None) => Some(NOTIFICATION_TIMEOUT),
        }
    }
}

/// The target of a request, sent as `mcp-name`.
fn mcp_name<'a>(method: &str, message: &'a Value) -> Option<&'a str> {
    let key = match method {
        "tools/call" | "prompts/get" => "/params/name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "/params/uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "/params/taskId",
        _ => return None,
    };
    message.pointer(key).and_then(Value::as_str)
}

fn append_header(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&encode_header_value(value))) {
        headers.append(name, value);
    }
}

const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";

/// Encodes a value for use in a header (SEP-2243).
fn encode_header_value(value: &str) -> String {
    use base64::Engine;
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim() == value
        && !(value.starts_with(ENCODED_START) && value.ends_with(ENCODED_END));
    if is_plain {
        return value.to_owned();
    }
    let text = base64::engine::general_purpose::STANDARD.encode(value);
    format!("{ENCODED_START}{text}{ENCODED_END}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn modern(method: &str, params: Value) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        message["params"]["_meta"] =
            json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        message
    }

    fn headers(message: &Value) -> Vec<(String, String)> {
        let outgoing = OutgoingMessage::new(message, &ParamHeaders::default());
        let text = |value: &HeaderValue| value.to_str().expect("the headers are ASCII").to_owned();
        let pairs = outgoing.headers.iter();
        pairs
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn modern_messages_have_method_and_target_headers() {
        assert_eq!(
            headers(&modern("tools/call", json!({ "name": "안녕" }))),
            [
                pair("mcp-method", "tools/call"),
                pair("mcp-name", "=?base64?7JWI64WV?=")
            ]
        );
        assert_eq!(
            headers(&modern("resources/read", json!({ "uri": "file:///a%20b" }))),
            [
                pair("mcp-method", "resources/read"),
                pair("mcp-name", "file:///a%20b")
            ]
        );
        assert_eq!(
            headers(&json!({ "id": 1, "method": "tools/call", "params": { "name": "a" } })),
            []
        );
    }

    #[test]
    fn values_invalid_in_a_header_are_encoded() {
        for plain in ["", "a b", "us-west1", "=?base64?", "~"] {
            assert_eq!(encode_header_value(plain), plain);
        }
        for (value, text) in [
            (" a", "=?base64?IGE=?="),
            ("a\t", "=?base64?YQk=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(encode_header_value(value), text);
        }
    }

    #[test]
    fn only_notifications_that_do_not_cancel_are_barriers() {
        let outgoing = |message: Value| OutgoingMessage::new(&message, &ParamHeaders::default());
        assert!(outgoing(json!({ "method": "notifications/initialized" })).is_barrier());
        let cancel =
            outgoing(json!({ "method": "notifications/cancelled", "params": { "requestId": 7 } }));
        assert_eq!(
            (cancel.is_barrier(), cancel.cancels),
            (false, Some(json!(7)))
        );
        assert!(!outgoing(json!({ "id": 1, "method": "ping" })).is_barrier());
        let response = outgoing(json!({ "id": 1, "result": {} }));
        assert_eq!((response.is_barrier(), response.id), (false, None));
    }
}

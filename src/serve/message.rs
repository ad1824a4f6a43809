//! Parses JSON-RPC messages from clients, with the errors that JSON-RPC defines. Pure.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage};
use serde::Serialize;
use serde_json::{Value, json};

/// Unknown names in logs and errors are truncated to this length.
const NAME_CHARS_MAX: usize = 100;
/// Some editors and shells on Windows put it at the start of a text (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A JSON-RPC error response (JSON-RPC 2.0, section 5).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RpcErrorResponse {
    jsonrpc: &'static str,
    /// `null` if the request has no readable id.
    id: Value,
    error: ErrorData,
}

impl RpcErrorResponse {
    pub fn new(id: Value, error: ErrorData) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            error,
        }
    }

    /// The response as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// # Errors
/// -32700 if `text` is not JSON, -32600 if it is not one JSON-RPC message.
pub fn parse(text: &[u8]) -> Result<ClientJsonRpcMessage, Box<RpcErrorResponse>> {
    match serde_json::from_slice(text) {
        Ok(message) => Ok(message),
        Err(error) => {
            let value = parse_json(text)?;
            Err(invalid_request(&value, &error))
        }
    }
}

/// Parses a line. `None` for a blank line, and for an unknown or invalid notification, which must
/// not be answered.
///
/// # Errors
/// As for [`parse`].
pub fn parse_line(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Box<RpcErrorResponse>> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(message) => Ok(Some(message)),
        Err(error) => match parse_json(line)? {
            value if is_notification(&value) => Ok(None),
            value => Err(invalid_request(&value, &error)),
        },
    }
}

/// The error for a line that is too long to be read.
pub fn line_too_long(bytes_max: usize) -> RpcErrorResponse {
    let why = format!("The line is longer than {bytes_max} bytes and was skipped");
    RpcErrorResponse::new(Value::Null, ErrorData::invalid_request(why, None))
}

fn parse_json(text: &[u8]) -> Result<Value, Box<RpcErrorResponse>> {
    serde_json::from_slice(text).map_err(|error| {
        let why = format!("The message is not JSON: {error}");
        let error = ErrorData::parse_error(why, None);
        Box::new(RpcErrorResponse::new(Value::Null, error))
    })
}

fn is_notification(value: &Value) -> bool {
    value["method"].is_string() && value.get("id").is_none()
}

fn invalid_request(value: &Value, error: &serde_json::Error) -> Box<RpcErrorResponse> {
    let id = match &value["id"] {
        id @ (Value::String(_) | Value::Number(_)) => id.clone(),
        _ => Value::Null,
    };
    let why = match value {
        Value::Array(_) => "Batches are not supported: send one message at a time".to_owned(),
        _ => format!("Not a JSON-RPC message: {error}"),
    };
    let error = ErrorData::invalid_request(why, None);
    Box::new(RpcErrorResponse::new(id, error))
}

pub fn unknown_method(method: &str) -> ErrorData {
    let method = Some(json!({ "method": short_name(method) }));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Unknown method", method)
}

/// Gives `rmcp`'s own errors our wording. If it refuses a method before the handler sees it, its
/// message is only the name of the method.
pub fn reworded(error: ErrorData) -> ErrorData {
    match error.code == ErrorCode::METHOD_NOT_FOUND && error.data.is_none() {
        true => unknown_method(&error.message),
        false => error,
    }
}

/// A name from a client, truncated.
pub fn short_name(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// The id of a request that opens a session.
pub fn session_request_id(message: &ClientJsonRpcMessage) -> Option<Value> {
    match message {
        JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
        {
            Some(serde_json::to_value(&request.id).unwrap_or_default())
        }
        _ => None,
    }
}

/// Whether the response is a stream that stays open until one side closes it.
pub fn opens_endless_stream(message: &ClientJsonRpcMessage) -> bool {
    matches!(
        message,
        JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_))
    )
}

/// The error for a request that `rmcp` may refuse itself, with only the name of the method as its
/// message.
pub fn method_refusal(message: &ClientJsonRpcMessage) -> Option<RpcErrorResponse> {
    let JsonRpcMessage::Request(request) = message else {
        return None;
    };
    match &request.request {
        ClientRequest::PingRequest(_) | ClientRequest::SubscriptionsListenRequest(_) => {
            let id = serde_json::to_value(&request.id).unwrap_or_default();
            let error = unknown_method(request.request.method());
            Some(RpcErrorResponse::new(id, error))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(line: &str) -> Value {
        let error = parse_line(line.as_bytes()).expect_err(line);
        serde_json::from_str(&error.to_json()).expect("JSON")
    }

    #[test]
    fn errors_contain_the_request_id_if_it_is_readable() {
        for (line, code, id) in [
            ("nonsense", -32700, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":7", -32700, json!(null)),
            ("42", -32600, json!(null)),
            ("[]", -32600, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, -32600, json!(7)),
            (
                r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
                -32600,
                json!("a"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
                -32600,
                json!(null),
            ),
        ] {
            let error = error_of(line);
            assert_eq!(
                (&error["error"]["code"], &error["id"]),
                (&json!(code), &id),
                "{line}"
            );
            assert!(error.as_object().expect("an object").contains_key("id"));
        }
    }

    #[test]
    fn blank_lines_and_invalid_notifications_get_no_answer() {
        for line in [
            "",
            "  \t\r",
            "\u{feff}",
            r#"{"method":"notifications/stderr","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
        ] {
            let parsed = parse_line(line.as_bytes());
            assert!(
                !matches!(parsed, Err(_) | Ok(Some(JsonRpcMessage::Request(_)))),
                "{line}: {parsed:?}"
            );
        }
        let marked = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(parse_line(marked.as_bytes()), Ok(Some(_))));
    }

    #[test]
    fn our_own_error_is_not_answered_if_it_is_echoed() {
        for error in [
            line_too_long(1),
            RpcErrorResponse::new(json!(3), unknown_method("x")),
        ] {
            let echoed = parse_line(error.to_json().as_bytes());
            assert!(
                matches!(echoed, Ok(Some(JsonRpcMessage::Error(_)))),
                "{echoed:?}"
            );
        }
    }
}

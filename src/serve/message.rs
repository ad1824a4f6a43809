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

/// Parses one message.
///
/// # Errors
/// -32700 if `text` is not JSON, -32600 if it is not one JSON-RPC message.
pub fn parse(text: &[u8]) -> Result<ClientJsonRpcMessage, Box<RpcErrorResponse>> {
    match serde_json::from_slice(text) {
        Ok(message) => Ok(message),
        Err(error) => {
            let value = parse_json(text)?;
            tracing::debug!("not a JSON-RPC message: {error}");
            Err(invalid_request(&value))
        }
    }
}

/// Parses a line. `None` for a blank line, and for a notification that cannot be parsed, which must
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
            value => {
                tracing::debug!("not a JSON-RPC message: {error}");
                Err(invalid_request(&value))
            }
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
        let why = format!("The message {}", syntax_problem(&error));
        let error = ErrorData::parse_error(why, None);
        Box::new(RpcErrorResponse::new(Value::Null, error))
    })
}

fn is_notification(value: &Value) -> bool {
    value["method"].is_string() && value.get("id").is_none()
}

/// Describes the error of the JSON parser; the subject is left to the caller.
pub fn syntax_problem(error: &serde_json::Error) -> String {
    match (error.is_eof(), error.line(), error.column()) {
        (true, _, 0) => "is empty, expected JSON".to_owned(),
        (true, ..) => "is not JSON: it ends too early".to_owned(),
        (false, line, column) => format!("is not JSON: see line {line}, column {column}"),
    }
}

/// The kind of a JSON value, with its article.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The reason why a JSON value is not a JSON-RPC request.
fn request_problem(value: &Value) -> String {
    if value.is_array() {
        return "Batches are not supported: send one message at a time".to_owned();
    }
    if !value.is_object() {
        let kind = kind_of(value);
        return format!("The message is {kind}, expected a JSON-RPC object");
    }
    if value["jsonrpc"] != "2.0" {
        return "`jsonrpc` must be \"2.0\"".to_owned();
    }
    let Some(method) = value["method"].as_str() else {
        return "`method` must be a string".to_owned();
    };
    let method = short_name(method);
    let id_kind = match value.get("id") {
        Some(Value::String(_) | Value::Number(_)) | None => None,
        Some(id) => Some(kind_of(id)),
    };
    if let Some(kind) = id_kind {
        return format!("`id` is {kind}, expected a number or a string");
    }
    match value.get("params") {
        Some(Value::Object(_)) => {
            format!("The parameters of `{method}` are incomplete or of the wrong type")
        }
        None => format!("`params` is missing, and `{method}` needs it"),
        Some(params) => {
            let kind = kind_of(params);
            format!("`params` is {kind}, expected an object")
        }
    }
}

/// The reason why the parameters of a tool call are invalid.
pub fn call_problem(params: Option<&Value>) -> String {
    let params = match params {
        Some(Value::Object(params)) => params,
        None => return "`params` is missing: pass the name of a tool".to_owned(),
        Some(other) => return format!("`params` is {}, expected an object", kind_of(other)),
    };
    match (params.get("name"), params.get("arguments")) {
        (None, _) => "`params.name` is missing: pass the name of a tool".to_owned(),
        (Some(name), _) if !name.is_string() => {
            let kind = kind_of(name);
            format!("`params.name` is {kind}, expected the name of a tool")
        }
        (_, Some(arguments)) if !arguments.is_object() => {
            let kind = kind_of(arguments);
            format!("`params.arguments` is {kind}, expected an object")
        }
        _ => "Another parameter of the call has the wrong type".to_owned(),
    }
}

fn invalid_request(value: &Value) -> Box<RpcErrorResponse> {
    let id = match &value["id"] {
        id @ (Value::String(_) | Value::Number(_)) => id.clone(),
        _ => Value::Null,
    };
    let error = ErrorData::invalid_request(request_problem(value), None);
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
    fn errors_describe_the_problem_in_plain_words() {
        for (line, why) in [
            (
                "{\"a\":".to_owned(),
                "The message is not JSON: it ends too early",
            ),
            (
                "{a}".to_owned(),
                "The message is not JSON: see line 1, column 2",
            ),
            (
                "42".to_owned(),
                "The message is a number, expected a JSON-RPC object",
            ),
            (
                r#"{"id":1,"method":"ping"}"#.to_owned(),
                "`jsonrpc` must be \"2.0\"",
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(),
                "`id` is an object, expected a number or a string",
            ),
        ] {
            assert_eq!(error_of(&line)["error"]["message"], why, "{line}");
        }
    }

    #[test]
    fn the_fault_of_a_malformed_call_is_described() {
        for (params, why) in [
            (
                json!({}),
                "`params.name` is missing: pass the name of a tool",
            ),
            (
                json!({ "name": 5 }),
                "`params.name` is a number, expected the name of a tool",
            ),
            (
                json!({ "name": "get_time", "arguments": "{}" }),
                "`params.arguments` is a string, expected an object",
            ),
        ] {
            assert_eq!(call_problem(Some(&params)), why);
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

//! Parses the JSON-RPC message in a request body, with the errors that JSON-RPC defines. Pure.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage};
use serde::Serialize;
use serde_json::Value;

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
}

/// # Errors
/// -32700 if the body is not JSON, -32600 if it is not one JSON-RPC message.
pub fn parse(body: &[u8]) -> Result<ClientJsonRpcMessage, Box<RpcErrorResponse>> {
    let error = match serde_json::from_slice(body) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    let value: Value = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
    let id = match &value["id"] {
        id @ (Value::String(_) | Value::Number(_)) => id.clone(),
        _ => Value::Null,
    };
    let why = match value {
        Value::Array(_) => "Batches are not supported: send one message per request".to_owned(),
        _ => format!("Not a JSON-RPC message: {error}"),
    };
    let error = ErrorData::invalid_request(why, None);
    Err(Box::new(RpcErrorResponse::new(id, error)))
}

fn not_json(error: &serde_json::Error) -> Box<RpcErrorResponse> {
    let why = format!("The body is not JSON: {error}");
    let error = ErrorData::parse_error(why, None);
    Box::new(RpcErrorResponse::new(Value::Null, error))
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

//! Tool calls in plain JSON, without MCP: for scripts and `curl`.

use super::super::calls::{CallRunner, IncomingCall};
use super::super::message::RpcErrorResponse;
use super::super::tools::ProgressReporter;
use super::response::{self, Response};
use crate::domain::Arguments;
use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The body of `POST /mcp/tools/call`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall {
    tool: String,
    #[serde(default)]
    arguments: Option<Arguments>,
}

/// `GET /mcp/tools`: the definitions, as in `tools/list`.
pub fn list(calls: &CallRunner) -> Response {
    response::json(StatusCode::OK, &json!({ "tools": calls.definitions() }))
}

/// `POST /mcp/tools/call`: the result, as from `tools/call`. Closing the connection cancels the
/// call.
pub async fn call(calls: &CallRunner, body: &[u8]) -> Response {
    let call = match parse(body) {
        Ok(call) => call,
        Err(error) => return failure(StatusCode::BAD_REQUEST, error),
    };
    let call = IncomingCall {
        name: &call.tool,
        arguments: call.arguments.unwrap_or_default(),
        progress: ProgressReporter::ignored(),
        cancelled: CancellationToken::new(),
        transport: "plain JSON",
    };
    match calls.run(call).await {
        Ok(result) => response::json(StatusCode::OK, &result),
        Err(error) if error.code == ErrorCode::INTERNAL_ERROR => {
            failure(StatusCode::SERVICE_UNAVAILABLE, error)
        }
        Err(error) => failure(StatusCode::NOT_FOUND, error),
    }
}

fn parse(body: &[u8]) -> Result<PlainCall, ErrorData> {
    const EXAMPLE: &str = "Send {\"tool\": \"get_time\", \"arguments\": {}}";
    // `serde` would fill the fields from a list as well.
    if body.trim_ascii_start().first() == Some(&b'[') {
        let why = format!("The body is a list, expected an object. {EXAMPLE}");
        return Err(ErrorData::invalid_params(why, None));
    }
    let arguments = || {
        Some(
            serde_json::from_slice::<Value>(body)
                .ok()?
                .get("arguments")?
                .clone(),
        )
    };
    serde_json::from_slice(body).map_err(|error| {
        if arguments().is_some_and(|given| !given.is_object() && !given.is_null()) {
            let why = format!("`arguments` must be an object. {EXAMPLE}");
            return ErrorData::invalid_params(why, None);
        }
        let why = format!("{error}. {EXAMPLE}");
        match error.is_data() {
            true => ErrorData::invalid_params(why, None),
            false => ErrorData::parse_error(why, None),
        }
    })
}

fn failure(status: StatusCode, error: ErrorData) -> Response {
    let body = RpcErrorResponse::new(Value::Null, error);
    let body = serde_json::to_value(&body).unwrap_or_default();
    response::json(status, &json!({ "error": body["error"] }))
}

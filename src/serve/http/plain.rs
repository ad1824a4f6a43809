//! Tool calls in plain JSON, without MCP: for scripts and `curl`.

use super::super::calls::{CallRunner, IncomingCall};
use super::super::message::{RpcErrorResponse, kind_of, short_name, syntax_problem};
use super::super::tools::ProgressReporter;
use super::response::{self, Response};
use http::StatusCode;
use rmcp::model::JsonObject;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The body of `POST /mcp/tools/call`.
struct PlainCall {
    tool: String,
    arguments: JsonObject,
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
        arguments: call.arguments,
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
    let body: Value = serde_json::from_slice(body).map_err(|error| {
        let why = format!("The body {}. {EXAMPLE}", syntax_problem(&error));
        ErrorData::parse_error(why, None)
    })?;
    let invalid = |why: String| ErrorData::invalid_params(format!("{why}. {EXAMPLE}"), None);
    let Value::Object(mut fields) = body else {
        let kind = kind_of(&body);
        return Err(invalid(format!("The body is {kind}, expected an object")));
    };
    let tool = match fields.remove("tool") {
        Some(Value::String(tool)) => tool,
        Some(other) => {
            let kind = kind_of(&other);
            return Err(invalid(format!(
                "`tool` is {kind}, expected the name of a tool"
            )));
        }
        None => return Err(invalid("`tool` is missing".to_owned())),
    };
    let arguments = match fields.remove("arguments") {
        None | Some(Value::Null) => JsonObject::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(other) => {
            let kind = kind_of(&other);
            return Err(invalid(format!(
                "`arguments` is {kind}, expected an object"
            )));
        }
    };
    match fields.keys().next() {
        None => Ok(PlainCall { tool, arguments }),
        Some(unknown) => {
            let unknown = short_name(unknown);
            Err(invalid(format!("There is no field `{unknown}`")))
        }
    }
}

fn failure(status: StatusCode, error: ErrorData) -> Response {
    let body = RpcErrorResponse::new(Value::Null, error);
    let body = serde_json::to_value(&body).unwrap_or_default();
    response::json(status, &json!({ "error": body["error"] }))
}

//! Modern era: a result may require input. The client asks the user, and repeats the request with
//! the answers and the server's state.

use super::broker::RequestBroker;
use super::wire::{ParsedRequest, RequestRefusal, parse_request, request_result};
use crate::domain::ServerId;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum number of rounds of one request.
pub const INPUT_ROUNDS_MAX: usize = 10;
/// Maximum number of requests in one result.
const REQUESTS_MAX: usize = 16;

/// A result that requires input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    requests: Map<String, Value>,
    /// Opaque; sent back unchanged.
    pub state: Option<String>,
}

impl InputRequired {
    /// The requests of a task.
    pub fn from_requests(requests: Map<String, Value>) -> Self {
        Self {
            requests,
            state: None,
        }
    }

    /// `None` if the result is of another type.
    pub fn from_result(result: &Value) -> Option<Self> {
        if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
            return None;
        }
        Some(Self {
            requests: requests_of(result),
            state: result
                .get("requestState")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    }
}

fn requests_of(result: &Value) -> Map<String, Value> {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    requests.cloned().unwrap_or_default()
}

/// Answers the requests one after another.
///
/// # Errors
/// Why the request that requires input must be abandoned, as a sentence.
pub async fn answer_input_requests(
    required: &InputRequired,
    broker: &RequestBroker,
    server: &ServerId,
) -> Result<BTreeMap<String, Value>, String> {
    let count = required.requests.len();
    if count > REQUESTS_MAX {
        return Err(format!(
            "The server sent {count} requests for input at once; at most {REQUESTS_MAX} are answered."
        ));
    }
    let mut answers = BTreeMap::new();
    for (key, request) in &required.requests {
        let method = request.get("method").and_then(Value::as_str);
        let no_params = json!({});
        let params = request.get("params").unwrap_or(&no_params);
        let answer = match parse_request(method.unwrap_or_default(), params) {
            Ok(ParsedRequest::ListRoots) => broker.roots.list_result(),
            Ok(ParsedRequest::Ask(question)) => {
                let reply = broker.ask(server, question.clone()).await;
                request_result(&question, reply)?
            }
            Err(RequestRefusal::Invalid(why)) => {
                return Err(format!(
                    "The server's request for input was refused: {why}."
                ));
            }
            Err(RequestRefusal::UnknownMethod) => {
                return Err(match method {
                    Some(method) => {
                        let method: String = method.chars().take(60).collect();
                        format!(
                            "The server asked for `{method}`, which this client does not support."
                        )
                    }
                    None => "The server asked for input without a method.".to_owned(),
                });
            }
        };
        answers.insert(key.clone(), answer);
    }
    Ok(answers)
}

//! The JSON of server requests and of the replies to them.

use crate::domain::{ElicitationForm, ServerRequest, ServerRequestReply, UrlElicitation};
use serde_json::{Value, json};
use std::sync::Arc;

/// A request as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedRequest {
    /// The user must answer it.
    Ask(ServerRequest),
    /// The user is not asked; this is the result.
    Answer(Value),
}

/// Why a request is refused, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestRefusal {
    UnknownMethod,
    Invalid(String),
}

pub fn parse_request(method: &str, params: &Value) -> Result<ParsedRequest, RequestRefusal> {
    match method {
        "elicitation/create" => {
            let request = match params.get("mode").and_then(Value::as_str) {
                None | Some("form") => ElicitationForm::from_params(params)
                    .map(|form| ServerRequest::Form(Arc::new(form))),
                Some("url") => {
                    UrlElicitation::from_params(params).map(|url| ServerRequest::Url(Arc::new(url)))
                }
                Some(_) => Err("it has an unknown mode".to_owned()),
            };
            request
                .map(ParsedRequest::Ask)
                .map_err(RequestRefusal::Invalid)
        }
        "roots/list" => Ok(ParsedRequest::Answer(json!({ "roots": [] }))),
        _ => Err(RequestRefusal::UnknownMethod),
    }
}

/// The result that answers an elicitation.
pub fn elicitation_result(request: &ServerRequest, reply: ServerRequestReply) -> Value {
    match reply {
        ServerRequestReply::Accepted(content) => match request {
            ServerRequest::Form(_) => json!({ "action": "accept", "content": content }),
            ServerRequest::Url(_) | ServerRequest::PageVisited(_) => json!({ "action": "accept" }),
        },
        ServerRequestReply::Declined => json!({ "action": "decline" }),
        ServerRequestReply::Cancelled => json!({ "action": "cancel" }),
    }
}

//! The JSON of server requests and of the replies to them.

use crate::domain::{
    ElicitationForm, SampledAnswer, SamplingRequest, ServerRequest, ServerRequestReply,
    UrlElicitation,
};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum ParsedRequest {
    /// Must be answered by the user.
    Ask(ServerRequest),
    /// Asks for the list of roots. The user is not asked, because the roots are configured.
    ListRoots,
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
        "sampling/createMessage" => SamplingRequest::from_params(params)
            .map(|request| ParsedRequest::Ask(ServerRequest::Sampling(Arc::new(request))))
            .map_err(RequestRefusal::Invalid),
        "roots/list" => Ok(ParsedRequest::ListRoots),
        _ => Err(RequestRefusal::UnknownMethod),
    }
}

/// The result that answers a request.
///
/// # Errors
/// Why the request has no result, as a sentence. An elicitation always has one.
pub fn request_result(request: &ServerRequest, reply: ServerRequestReply) -> Result<Value, String> {
    let is_sampling = matches!(request, ServerRequest::Sampling(_));
    let result = match reply {
        ServerRequestReply::Accepted(content) => match request {
            ServerRequest::Form(_) => json!({ "action": "accept", "content": content }),
            _ => json!({ "action": "accept" }),
        },
        ServerRequestReply::Sampled(answer) => sampling_result(answer),
        ServerRequestReply::Declined | ServerRequestReply::Cancelled if is_sampling => {
            return Err("The user rejected the request for an answer from the model.".to_owned());
        }
        ServerRequestReply::Refused(why) if is_sampling => return Err(why),
        ServerRequestReply::Declined => json!({ "action": "decline" }),
        ServerRequestReply::Cancelled | ServerRequestReply::Refused(_) => {
            json!({ "action": "cancel" })
        }
    };
    Ok(result)
}

fn sampling_result(answer: SampledAnswer) -> Value {
    let stop_reason = match (answer.calls.is_empty(), answer.is_cut_off) {
        (false, _) => "toolUse",
        (true, true) => "maxTokens",
        (true, false) => "endTurn",
    };
    let text = json!({ "type": "text", "text": answer.text });
    // Only a client that declares tools may send several blocks, and older servers expect one.
    let content = match answer.calls.is_empty() {
        true => text,
        false => {
            let text = (!answer.text.is_empty()).then_some(text);
            let calls = answer.calls.into_iter().map(|call| {
                json!({
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.tool,
                    "input": call.arguments,
                })
            });
            text.into_iter().chain(calls).collect()
        }
    };
    json!({
        "role": "assistant",
        "content": content,
        "model": answer.model,
        "stopReason": stop_reason,
    })
}

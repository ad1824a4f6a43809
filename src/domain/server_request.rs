//! Requests from MCP servers that the user answers, such as a form, and the replies to them.

use super::elicitation::{ElicitationForm, UrlElicitation};
use super::sampling::{SampledAnswer, SamplingRequest};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Identifies an open request across all servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerRequestId(pub u64);

/// A request from a server, with its texts unsanitized.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerRequest {
    Form(Arc<ElicitationForm>),
    Url(Arc<UrlElicitation>),
    /// Asks whether the user has finished on a page that a call requires.
    PageVisited(Arc<UrlElicitation>),
    /// Asks for an answer from the model.
    Sampling(Arc<SamplingRequest>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ServerRequestReply {
    /// The user agreed. Contains the values of a form; empty for a web page.
    Accepted(Map<String, Value>),
    /// The model's answer, which the user has seen.
    Sampled(SampledAnswer),
    /// The user refused, or a command that asks no questions did.
    Declined,
    /// The request was refused without asking the user, or could not be fulfilled. Contains the
    /// reason, as a sentence.
    Refused(String),
    /// The user made no choice, or could not be asked.
    Cancelled,
}

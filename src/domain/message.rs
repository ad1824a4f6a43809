//! What a model is sent: provider-neutral messages. The wire shape of each is
//! decided in `provider`, and nowhere else.

use super::{Arguments, ProviderKind, ServerId};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(String),
    User(String),
    /// An answer of an earlier turn.
    Assistant(String),
    /// The model's tool calls within the turn. Prose before them is not sent, but
    /// for what `carry` holds.
    ToolCalls {
        calls: Vec<ToolCallMessage>,
        reasoning_echo: Option<ReasoningEcho>,
    },
    /// What came of one of them.
    ToolResult(ToolResultMessage),
}

/// What a provider needs to see again beside the calls of a round, as it was read:
/// thinking with its signature and the like. Opaque to all but the provider that
/// made it, and never longer-lived than its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningEcho {
    pub provider: ProviderKind,
    pub value: Value,
}

/// One call as the model is reminded of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallMessage {
    /// The id that ties call and result together on the wire.
    pub wire_id: String,
    pub server: ServerId,
    pub tool: String,
    /// `server__tool` of S6.1, used where the dialect is native.
    pub native_name: String,
    /// The name that the `xml` form has for it: with the server where another has a
    /// tool of this name.
    pub prompt_name: String,
    pub arguments: Arguments,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResultMessage {
    pub wire_id: String,
    pub tool: String,
    pub native_name: String,
    /// The text as the model reads it, marked as data (S14.2).
    pub content: String,
    pub is_error: bool,
}

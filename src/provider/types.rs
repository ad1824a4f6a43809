//! What goes to a model server and what comes back, provider-neutral.

use super::error_messages;
use crate::domain::{Arguments, Carry, Message, ModelConfig, Notice, Offered, Usage};
use std::sync::Arc;

/// One request to a model.
#[derive(Debug, Clone)]
pub struct Request {
    pub model: Arc<ModelConfig>,
    pub messages: Vec<Message>,
    /// Sent as the provider's own tools only where the model's dialect is native.
    pub tools: Arc<Offered>,
    /// Ollama's `options.num_ctx`, always sent (S2.7).
    pub num_ctx: u32,
}

/// What a stream says, in order. A stream that ends without `End` was cut.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamPart {
    Text(String),
    Thinking(String),
    Call(NativeCall),
    /// The server began the same reply anew: what came before this is void.
    StartedOver,
    /// What the model must see again with the calls of this reply. At most once,
    /// before `End`.
    Carry(Carry),
    /// At most once, before `End` or a fault.
    Usage(Usage),
    /// Bytes arrived that made none of the others: the server is alive.
    Heartbeat,
    /// Something the person should know about how the model was asked.
    Notice(Notice),
    /// The last part, once.
    End(EndReason),
}

impl StreamPart {
    /// Is it something that a person reads and that is kept?
    pub fn is_words(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Thinking(_))
    }
}

/// A call in the provider's own field, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeCall {
    pub id: Option<String>,
    pub name: String,
    /// Err holds what was sent instead of a JSON object: not to be run.
    pub arguments: Result<Arguments, String>,
}

impl EndReason {
    /// What the person is told of an end that is not a usual one. An answer cut by
    /// the limit of tokens has words of its own, where it can be continued.
    pub fn notice(&self) -> Option<Notice> {
        match self {
            Self::Stop | Self::ToolCalls | Self::Length => None,
            Self::Refused { why } => Some(error_messages::refused(why.as_deref())),
            Self::Other(reason) => Some(error_messages::ended(reason)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    Stop,
    ToolCalls,
    /// Cut by the limit of tokens.
    Length,
    /// The model or its server would not go on; the server's own words, if it has any.
    Refused {
        why: Option<String>,
    },
    /// Any other, as the server named it.
    Other(String),
}

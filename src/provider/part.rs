//! What goes to a model server and what comes back, provider-neutral.

use crate::domain::{Arguments, Message, ModelConfig, Notice, Offered, Usage};
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
    /// At most once, before `End`.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    Stop,
    ToolCalls,
    /// Cut by the limit of tokens.
    Length,
    /// Any other, as the server named it.
    Other(String),
}

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

/// Why a reply ended.
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
    ContentFilter,
    /// Cut where the model's context was full.
    ContextFull,
    /// The server paused, and wants to be asked to go on.
    Paused,
    StopSequence,
    OutOfResources,
    /// Any other, as the server named it.
    Other(String),
}

impl EndReason {
    /// The reason of this name, of those that mean the same with every server.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "content_filter" => Self::ContentFilter,
            "model_context_window_exceeded" | "model_length" => Self::ContextFull,
            "pause_turn" => Self::Paused,
            "stop_sequence" => Self::StopSequence,
            "insufficient_system_resource" => Self::OutOfResources,
            other => Self::Other(other.to_owned()),
        }
    }

    /// What the user is told of an end that is not a usual one.
    pub fn notice(&self) -> Option<Notice> {
        error_messages::ended(self)
    }

    /// Would the model, or its server, not go on? OpenAI and Mistral name a filter where
    /// Anthropic says that it refuses.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::ContentFilter)
    }
}

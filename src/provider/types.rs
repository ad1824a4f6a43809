//! Requests and replies, independent of the provider.

use super::error_messages;
use crate::domain::{Arguments, Message, ModelConfig, Notice, ReasoningEcho, Toolset, Usage};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct ChatRequest {
    pub model: Arc<ModelConfig>,
    pub messages: Vec<Message>,
    /// Sent in the provider's tools field only if the model's dialect is native.
    pub tools: Arc<Toolset>,
    /// Ollama's `options.num_ctx`. Always sent: without it, Ollama silently truncates to its
    /// default.
    pub num_ctx: u32,
    /// `None` sends the default temperature.
    pub temperature: Option<f64>,
}

/// The parts of a streamed reply, in order. A stream without `End` was cut off.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamPart {
    Text(String),
    Thinking(String),
    Call(NativeCall),
    /// The server restarted the reply: discard all earlier parts.
    StartedOver,
    /// Reasoning that must be sent back with the calls of this reply. At most once, before `End`.
    ReasoningEcho(ReasoningEcho),
    /// At most once, before `End` or an error.
    Usage(Usage),
    /// Bytes arrived but completed no other part: the server is alive.
    Heartbeat,
    /// Reports that the request was changed, for example because the server rejected a parameter.
    Notice(Notice),
    /// Always the last part.
    End(EndReason),
}

impl StreamPart {
    /// Whether the part is text or thinking, which is kept if the reply fails.
    pub fn is_content(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Thinking(_))
    }
}

/// A complete call from the provider's tool-call field.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeCall {
    pub id: Option<String>,
    pub name: String,
    /// `Err` holds the raw text of arguments that are not a JSON object; such a call must not run.
    pub arguments: Result<Arguments, String>,
    /// The JSON of the arguments as received; empty if there are none.
    pub raw_arguments: String,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    Stop,
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// The model or its server refused to continue; `why` is the server's explanation.
    Refused {
        why: Option<String>,
    },
    ContentFilter,
    ContextFull,
    /// The server paused and expects a request to continue.
    Paused,
    StopSequence,
    OutOfResources,
    /// The server's name for any other reason.
    Other(String),
}

impl EndReason {
    /// The reason for a name that has the same meaning on every server.
    pub(super) fn from_shared_name(name: &str) -> Self {
        match name {
            "content_filter" => Self::ContentFilter,
            "model_context_window_exceeded" | "model_length" => Self::ContextFull,
            "pause_turn" => Self::Paused,
            "stop_sequence" => Self::StopSequence,
            "insufficient_system_resource" => Self::OutOfResources,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The notice for an unusual end.
    pub fn notice(&self) -> Option<Notice> {
        error_messages::end_notice(self)
    }

    /// Whether the model or its server refused. OpenAI and Mistral report a content filter where
    /// Anthropic reports a refusal.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::ContentFilter)
    }
}

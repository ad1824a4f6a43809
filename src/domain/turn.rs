//! The events of a turn, from which the transcript, the saved session and headless output
//! are built.

use super::{Notice, PieceId, ToolCall};
use serde::Serialize;
use std::time::Duration;

/// Sent to the model, but never saved, because the user did not type it.
const CONTINUE_INSTRUCTION: &str = "Continue exactly where your answer was cut off.";
/// The purpose of a prompt, which determines where its answer goes. The conversation
/// changes only once that answer exists; a turn without one leaves it unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptKind {
    /// A new answer after the last message.
    #[default]
    Ask,
    /// An answer that replaces the last answered turn, which becomes a branch.
    Replace,
    /// The rest of the last answer, which was truncated.
    Continue,
    /// A summary that replaces older messages in requests.
    Compact,
}

impl PromptKind {
    /// Whether the user wrote the prompt, as opposed to a command.
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Ask | Self::Replace)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    pub text: String,
    /// The byte offset at which piped input begins.
    #[serde(skip)]
    pub piped_from: Option<usize>,
    #[serde(skip)]
    pub kind: PromptKind,
}

impl Prompt {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            piped_from: None,
            kind: PromptKind::Ask,
        }
    }

    /// Continues the last answer.
    pub fn continuation() -> Self {
        Self::new(CONTINUE_INSTRUCTION).with_kind(PromptKind::Continue)
    }

    /// Summarizes older messages. The engine supplies the text.
    pub fn compaction() -> Self {
        Self::new("").with_kind(PromptKind::Compact)
    }

    pub fn with_kind(self, kind: PromptKind) -> Self {
        Self { kind, ..self }
    }

    /// The text typed by the user; empty for commands.
    pub fn typed_text(&self) -> &str {
        match self.kind.is_typed() {
            true => &self.text,
            false => "",
        }
    }

    /// The typed text, if any, followed by piped input as context.
    pub fn with_piped_context(typed: &str, piped: &str) -> Self {
        let gap = if typed.is_empty() { "" } else { "\n\n" };
        Self {
            text: [typed, gap, piped].concat(),
            piped_from: Some(typed.len() + gap.len()),
            kind: PromptKind::Ask,
        }
    }

    /// The piped input.
    pub fn piped_text(&self) -> Option<&str> {
        self.text.get(self.piped_from?..)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    Thinking,
    Text,
}

/// What a round is waiting for before its first data arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    Response,
    ModelLoading,
    /// Until the next attempt.
    Retrying,
}

/// Tokens arrive as deltas, everything else as complete snapshots, which are safe to apply
/// twice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    Started {
        prompt: Prompt,
        model: String,
    },
    /// A request was sent. The first round is 1.
    RoundStarted {
        round: u32,
    },
    Waiting {
        wait: WaitReason,
    },
    Delta {
        piece: PieceId,
        kind: PieceKind,
        text: String,
    },
    /// A piece was shown as the wrong kind.
    Reclassified {
        piece: PieceId,
        to: PieceKind,
    },
    /// A suspected call in this piece was text after all. Carries the piece's complete
    /// text.
    Restored {
        piece: PieceId,
        text: String,
    },
    Tool(ToolCall),
    /// A notice shown at this point of the transcript.
    Noted(Notice),
    /// The request is repeated after this pause, as attempt `attempt` of `attempts_max`.
    Retrying {
        after: Duration,
        attempt: u32,
        attempts_max: u32,
        why: Notice,
    },
    RoundEnded {
        end: RoundEnd,
    },
    Ended {
        end: TurnEnd,
        usage: Usage,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnd {
    /// The model requested tool calls.
    Calls,
    /// The model answered.
    Answer,
    /// The answer reached the token limit.
    Length,
    /// The stream failed, or the round was interrupted.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// `text` is the complete final answer, raw.
    Answered {
        text: String,
        #[serde(rename = "cut")]
        is_truncated: bool,
    },
    /// The user interrupted the turn.
    Cancelled,
    /// The user refused a call, and the model was not asked again.
    Refused,
    /// The user chose to stop when asked.
    Stopped,
    Failed {
        notice: Notice,
    },
}

/// Token counts from the server. For a turn: the input of the last round and the sum of all
/// outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
}

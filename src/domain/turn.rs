//! What happens in a turn, as the engine reports it and as the transcript, the
//! saved session and the headless output fold it.

use super::{Notice, PieceId, ToolCall};
use serde::Serialize;
use std::time::Duration;

/// What the model is sent then. The user never typed it, so it is not saved.
const CONTINUE_INSTRUCTION: &str = "Continue exactly where your answer was cut off.";
/// What a prompt asks for, and so where its answer goes in the conversation. The
/// conversation changes only once that answer is there: a turn that ends without one
/// leaves it as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptKind {
    /// A new answer, which follows everything said so far.
    #[default]
    Ask,
    /// An answer in place of the last answered turn, which becomes a branch.
    Replace,
    /// The rest of the last answer, which was cut.
    Continue,
    /// A summary in place of the older part of what the model is sent.
    Compact,
}

impl PromptKind {
    /// Did the user write the prompt? Otherwise a command stands for it.
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Ask | Self::Replace)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    pub text: String,
    /// The byte from which on it came through a pipe, and not from the person.
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

    /// Goes on with the last answer.
    pub fn continuation() -> Self {
        Self::new(CONTINUE_INSTRUCTION).with_kind(PromptKind::Continue)
    }

    /// Has the older part of the context summarized: the engine knows the words.
    pub fn compaction() -> Self {
        Self::new("").with_kind(PromptKind::Compact)
    }

    pub fn with_kind(self, kind: PromptKind) -> Self {
        Self { kind, ..self }
    }

    /// What the user wrote; empty where a command stands for the prompt.
    pub fn typed_text(&self) -> &str {
        match self.kind.is_typed() {
            true => &self.text,
            false => "",
        }
    }

    /// What the person said, if anything, and what came through a pipe as context.
    pub fn with_piped_context(typed: &str, piped: &str) -> Self {
        let gap = if typed.is_empty() { "" } else { "\n\n" };
        Self {
            text: [typed, gap, piped].concat(),
            piped_from: Some(typed.len() + gap.len()),
            kind: PromptKind::Ask,
        }
    }

    /// What came through a pipe.
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

/// What is waited for before anything of a round has arrived (S5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    Response,
    ModelLoading,
    /// Until the next attempt.
    Retrying,
}

/// Tokens travel as deltas, all else as whole snapshots, so that applying one of
/// those twice does no harm.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    Started {
        prompt: Prompt,
        model: String,
    },
    /// A request was sent, the first being round 1.
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
    /// What was shown as one kind turned out to be the other.
    Reclassified {
        piece: PieceId,
        to: PieceKind,
    },
    /// What was taken out of this piece as a call is text after all: its whole text.
    Restored {
        piece: PieceId,
        text: String,
    },
    Tool(ToolCall),
    /// Something the person should know, in the place where it happened.
    Noted(Notice),
    /// The same request goes out again after this pause, as attempt `attempt` of
    /// `attempts_max`.
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
    /// The model asked for tools.
    Calls,
    /// The model answered.
    Answer,
    /// The answer was cut by the limit of tokens.
    Length,
    /// The stream failed, or the round was interrupted.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// `text` is the final answer, whole and raw.
    Answered {
        text: String,
        #[serde(rename = "cut")]
        is_truncated: bool,
    },
    /// The person interrupted it.
    Cancelled,
    /// The person refused a call; the model was not asked again.
    Refused,
    /// The person chose to stop at a question.
    Stopped,
    Failed {
        notice: Notice,
    },
}

/// Tokens, as the server counted them; of a turn, the last round's input and the
/// sum of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
}

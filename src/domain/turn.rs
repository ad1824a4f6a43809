//! The events of a turn, from which the transcript, the saved session and headless output
//! are built.

use super::{AgentResult, Attachment, Notice, PieceId, ToolCall};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Sent to the model, but never saved, because the user did not type it.
const CONTINUE_INSTRUCTION: &str = "Continue exactly where your answer was cut off.";

/// The purpose of a prompt, which determines where its answer goes. The conversation
/// changes only once there is an answer; an unanswered turn leaves it unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptKind {
    /// A new answer after the last message.
    #[default]
    Ask,
    /// An answer that replaces the last answered turns ([`Prompt::replaced_turns`]), which become a
    /// branch.
    Replace,
    /// Another attempt at the last prompt, whose earlier attempts were not answered. It replaces
    /// them.
    Retry,
    /// The rest of the last answer, which was truncated.
    Continue,
    /// A summary that replaces older messages in requests.
    Compact,
}

impl PromptKind {
    /// Whether the prompt counts as typed by the user. If not, a command created it.
    pub fn is_typed(self) -> bool {
        matches!(self, Self::Ask | Self::Replace | Self::Retry)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Arc<Attachment>>,
    /// The byte offset at which piped input begins.
    #[serde(skip)]
    pub piped_from: Option<usize>,
    /// The piped input is the request itself, not extra input for one.
    #[serde(skip)]
    pub is_piped_request: bool,
    #[serde(skip)]
    pub kind: PromptKind,
    /// For [`PromptKind::Replace`]: how many of the last answered turns are replaced, at least one.
    #[serde(skip)]
    pub replaced_turns: usize,
    /// Send it to the model even if a note agent recognizes it.
    #[serde(skip)]
    pub bypasses_agents: bool,
    /// The turn continues an unfinished turn of an earlier run, and waits for the tasks of its calls.
    #[serde(skip)]
    pub resumes_calls: bool,
}

impl Prompt {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            attachments: Vec::new(),
            piped_from: None,
            is_piped_request: false,
            kind: PromptKind::Ask,
            replaced_turns: 1,
            bypasses_agents: false,
            resumes_calls: false,
        }
    }

    /// A prompt that continues the last answer.
    pub fn continuation() -> Self {
        Self::new(CONTINUE_INSTRUCTION).with_kind(PromptKind::Continue)
    }

    /// A prompt that summarizes older messages. The engine supplies its text.
    pub fn compaction() -> Self {
        Self::new("").with_kind(PromptKind::Compact)
    }

    pub fn with_kind(self, kind: PromptKind) -> Self {
        Self { kind, ..self }
    }

    /// A prompt that replaces this many of the last answered turns.
    pub fn replacing(self, turns: usize) -> Self {
        Self {
            replaced_turns: turns.max(1),
            ..self.with_kind(PromptKind::Replace)
        }
    }

    #[must_use]
    pub fn with_attachments(self, attachments: Vec<Arc<Attachment>>) -> Self {
        Self {
            attachments,
            ..self
        }
    }

    pub fn bypassing_agents(self) -> Self {
        Self {
            bypasses_agents: true,
            ..self
        }
    }

    /// A prompt whose turn waits for the tasks of an earlier run.
    #[must_use]
    pub fn resuming_calls(self) -> Self {
        Self {
            bypasses_agents: true,
            resumes_calls: true,
            ..self
        }
    }

    /// The text that note agents may act on: a prompt without extra input.
    pub fn text_for_agents(&self) -> Option<&str> {
        self.request_text().filter(|_| !self.has_extra_input())
    }

    /// Like [`Self::text_for_agents`], for prompts with extra input: the text without it, or the
    /// whole text if the user typed none.
    pub fn text_without_extra_input(&self) -> Option<&str> {
        let text = self.request_text().filter(|_| self.has_extra_input())?;
        let typed = text.get(..self.piped_from.unwrap_or(text.len()))?.trim();
        Some(if typed.is_empty() { text } else { typed })
    }

    fn request_text(&self) -> Option<&str> {
        let is_offered = self.kind.is_typed() && !self.bypasses_agents;
        is_offered.then_some(self.text.as_str())
    }

    fn has_extra_input(&self) -> bool {
        let is_piped = self.piped_from.is_some() && !self.is_piped_request;
        is_piped || !self.attachments.is_empty()
    }

    /// The text of a prompt that the user typed, with any piped input; empty for commands.
    pub fn typed_text(&self) -> &str {
        match self.kind.is_typed() {
            true => &self.text,
            false => "",
        }
    }

    /// A prompt that consists of the typed text, if any, and the piped input.
    pub fn with_piped_context(typed: &str, piped: &str) -> Self {
        let separator = if typed.is_empty() { "" } else { "\n\n" };
        Self {
            text: [typed, separator, piped].concat(),
            attachments: Vec::new(),
            piped_from: Some(typed.len() + separator.len()),
            is_piped_request: false,
            kind: PromptKind::Ask,
            replaced_turns: 1,
            bypasses_agents: false,
            resumes_calls: false,
        }
    }

    /// A prompt that consists of piped input alone.
    pub fn piped_request(piped: &str) -> Self {
        Self {
            is_piped_request: true,
            ..Self::with_piped_context("", piped)
        }
    }

    pub fn text_before_piped(&self) -> &str {
        let end = self.piped_from.unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    Thinking,
    Text,
}

/// The reason a round is waiting for its first data, or a turn for its first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    Response,
    /// The first request waits for the tools of servers that are starting.
    StartingServers,
    ModelLoading,
    /// The previous attempt failed; the next one starts after a pause.
    Retrying,
}

/// Text arrives as deltas, the state of a call as complete snapshots, which are safe to apply
/// twice.
#[expect(
    clippy::large_enum_variant,
    reason = "a call is an event of its own only a few times in a turn"
)]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnEvent {
    Started {
        prompt: Prompt,
        model: String,
    },
    /// A round begins, before its request is sent. The first round is 1.
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
    /// A piece has a different kind than first reported.
    Reclassified {
        piece: PieceId,
        to: PieceKind,
    },
    /// A suspected call in this piece was text after all. `text` is the complete text of the
    /// piece.
    Restored {
        piece: PieceId,
        text: String,
    },
    Tool(ToolCall),
    /// A notice shown at this point of the transcript.
    Noted(Notice),
    /// A note agent is working. `text` is a short description of its current step.
    AgentWorking {
        text: String,
    },
    /// A note agent has finished its part of the turn.
    AgentActed(AgentResult),
    /// The prompt was a request for notes that could not be carried out. The model may still answer,
    /// but without the notes.
    AgentFailed(Notice),
    /// The request will be repeated after the pause `after`, as attempt `attempt` of
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
    Calls,
    Answer,
    /// The answer reached the token limit.
    Length,
    /// The stream failed, or the round was interrupted.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// `text` is the complete final answer, unsanitized.
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

/// Token counts reported by the server. The usage of a turn consists of the input of its last
/// round and the total output of all its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
    /// `None` if the server does not report its prefix cache. For a turn, the total of all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixUsage>,
}

/// How much of the input the server took from its prefix cache, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PrefixUsage {
    /// Not in the cache, so the server had to process it.
    pub read: u64,
    /// Taken from the cache.
    pub reused: u64,
}

impl PrefixUsage {
    /// Splits `input`, which includes `reused`. `None` if one of them is unknown.
    pub fn from_input(input: Option<u64>, reused: Option<u64>) -> Option<Self> {
        let (input, reused) = (input?, reused?);
        Some(Self {
            read: input.saturating_sub(reused),
            reused,
        })
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            read: self.read.saturating_add(other.read),
            reused: self.reused.saturating_add(other.reused),
        }
    }
}

impl Usage {
    /// The usage of two parts of a turn, of which `later` follows `self`.
    pub fn followed_by(self, later: Self) -> Self {
        let outputs = [self.output, later.output].into_iter().flatten();
        let prefixes = [self.prefix, later.prefix].into_iter().flatten();
        Self {
            input: later.input.or(self.input),
            output: outputs.reduce(u64::saturating_add),
            prefix: prefixes.reduce(PrefixUsage::plus),
        }
    }
}

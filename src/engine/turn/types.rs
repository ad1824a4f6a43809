//! Inputs, effects and states of the machine.

use crate::domain::id::IdGenerator;
use crate::domain::model::Limits;
use crate::domain::trust::TrustRule;
use crate::domain::{
    ArgumentCheck, Arguments, AskId, CallId, CallOrigin, Dialect, Message, Notice, Prompt,
    ReasoningEcho, SavedMessage, SchemaCheck, ToolMode, ToolOutcome, ToolProgress, Toolset,
    TurnEvent, Usage,
};
use crate::engine::approval::{Approval, ApprovedCall, ToolIdentity};
use crate::engine::injection_guard::{UntrustedText, UntrustedTexts};
use crate::protocol::{Ask, UserAnswer};
use std::sync::Arc;
use std::time::Duration;

/// The id generators of the engine; ids are unique while the program runs.
#[derive(Debug, Clone, Default)]
pub struct TurnIdGenerators {
    pub(super) calls: IdGenerator,
    pub(super) asks: IdGenerator,
    pub(super) pieces: IdGenerator,
}

/// The initial data of a turn.
#[derive(Debug, Clone)]
pub struct TurnSetup {
    pub prompt: Prompt,
    /// Sent instead of the prompt's text, as for a summary.
    pub prompt_override: Option<String>,
    /// The model's configured name.
    pub model: String,
    pub dialect: Dialect,
    pub system_prompt: Arc<str>,
    /// Prompts and final answers of earlier turns.
    pub history: Arc<Vec<SavedMessage>>,
    pub toolset: Arc<Toolset>,
    pub approval: Approval,
    pub limits: Limits,
    /// Untrusted text of this conversation.
    pub untrusted_texts: UntrustedTexts,
}

impl TurnSetup {
    /// The text that is sent as the prompt.
    pub(super) fn prompt_text(&self) -> &str {
        self.prompt_override.as_deref().unwrap_or(&self.prompt.text)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum TurnInput {
    /// The server is loading the model.
    Loading,
    /// Bytes arrived that are not part of the reply.
    Heartbeat,
    Text(String),
    Thinking(String),
    /// All text of this round so far was thinking, and the calls in it were not meant to run.
    TextWasThinking,
    Call(ProposedCall),
    /// Tags and fences around calls and thinking, which are not shown.
    Markup(String),
    /// The server restarted the reply: everything received so far is void.
    ReplyRestarted,
    /// Provider data that must be returned to the model with this round's calls.
    OpaqueReasoning(ReasoningEcho),
    /// Clearly a call, but one that cannot be run.
    UnusableCall {
        raw: String,
        why: String,
    },
    /// Token counts of the server for this round.
    Usage(Usage),
    Noted(Notice),
    /// The reply ended or failed.
    ReplyEnded(Result<ReplyEnd, ReplyFailure>),
    /// The pause before the next attempt is over or was skipped.
    RetryDue,
    /// No byte was received for this time.
    Idle {
        seconds: u64,
    },
    /// The results of [`TurnEffect::CheckArguments`], one per check, in order.
    ArgumentsChecked(Vec<SchemaCheck>),
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    /// Text that came with the prompt, scanned by the injection guard.
    UntrustedTextRead(Arc<UntrustedText>),
    CallDone {
        call: CallId,
        outcome: ToolOutcome,
        /// The untrusted part of the outcome, if any.
        untrusted_text: Option<Arc<UntrustedText>>,
    },
    Answered {
        ask: AskId,
        answer: UserAnswer,
    },
    /// The user cancels one running call, which has run for `elapsed`.
    CancelCall {
        call: CallId,
        elapsed: Duration,
    },
    Interrupt,
    /// The user chose to stop at a question that is not the turn's.
    Stopped,
    ModeChanged(ToolMode),
    ToolsetChanged(Arc<Toolset>),
    /// The stored rules or the session's grants changed, here or in another instance.
    TrustChanged(Box<Approval>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyEnd {
    /// The token limit ended the reply, so its last part may be incomplete.
    pub is_truncated: bool,
    /// The server refused to continue.
    pub is_refused: bool,
}

/// Why a reply failed, and whether an automatic retry makes sense.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFailure {
    pub notice: Notice,
    pub is_transient: bool,
    /// The pause requested by the server.
    pub retry_after: Option<Duration>,
}

impl From<Notice> for ReplyFailure {
    fn from(notice: Notice) -> Self {
        Self {
            notice,
            is_transient: false,
            retry_after: None,
        }
    }
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedCall {
    /// The provider's id, if any.
    pub wire_id: Option<String>,
    pub server: Option<String>,
    pub name: String,
    /// Err contains the text received instead of a JSON object.
    pub arguments: Result<Arguments, String>,
    pub origin: CallOrigin,
    /// The call has the end of its form; otherwise only the end of the reply ended it.
    pub is_terminated: bool,
    /// The call may be incomplete, because the token limit ended the reply in it.
    pub is_truncated: bool,
    /// The text it was read from, restored if the user treats it as text.
    pub raw: String,
}

/// An action for the driver. Effects are carried out in order.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    Emit(TurnEvent),
    /// Send this to the model, and feed the reply into `step`.
    Request {
        messages: Vec<Message>,
        tools: Arc<Toolset>,
    },
    /// Drop the open request.
    DropRequest,
    /// Check these arguments off the actor, then feed [`TurnInput::ArgumentsChecked`]. At most
    /// one check is open; the end of the turn voids it.
    CheckArguments(Vec<ArgumentCheck>),
    /// Feed [`TurnInput::RetryDue`] after this pause.
    RetryIn(Duration),
    OpenAsk {
        ask: AskId,
        question: Ask,
    },
    CloseAsk(AskId),
    Run(ApprovedCall),
    /// Send a cancellation for a running call.
    Cancel(CallId),
    /// Grant this for the session.
    GrantForSession(ToolIdentity),
    /// Store this rule permanently.
    StoreRule(TrustRule),
    /// Save the answer of the turn.
    SaveAnswer {
        answer: String,
        usage: Usage,
    },
    /// Save the partial answer of a turn that ended without one. It is never sent.
    SavePartialAnswer {
        text: String,
    },
}

/// The state without its data, also for logs and the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TurnState {
    /// A request is open, and no part of its reply has arrived.
    Waiting,
    Streaming,
    /// A request is open, and the user is asked whether to keep waiting.
    Stalled,
    /// No request is open; the same one is sent again after a pause.
    Retrying,
    /// Arguments are being checked against their tools' schemas.
    CheckingArguments,
    /// The user decides on calls.
    AwaitingApproval,
    /// The user decides on a call that cannot be used.
    Repairing,
    /// The user decides whether more tools may run after a failed one.
    AfterError,
    /// The user decides at the limit of rounds.
    AtRoundLimit,
    /// Calls are running.
    Running,
    Ended,
}

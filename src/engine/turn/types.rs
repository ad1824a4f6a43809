//! The terms of the machine: what goes in, what comes out, and the names of its
//! states.

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

/// The ids that the engine mints, unique for as long as the program runs.
#[derive(Debug, Clone, Default)]
pub struct TurnIdGenerators {
    pub(super) calls: IdGenerator,
    pub(super) asks: IdGenerator,
    pub(super) pieces: IdGenerator,
}

/// What a turn begins with.
#[derive(Debug, Clone)]
pub struct TurnSetup {
    pub prompt: Prompt,
    /// Sent in place of the prompt's words, where it stands for something else.
    pub prompt_override: Option<String>,
    /// The model's name, as a user knows it.
    pub model: String,
    pub dialect: Dialect,
    pub system_prompt: Arc<str>,
    /// Prompts and final answers of earlier turns.
    pub history: Arc<Vec<SavedMessage>>,
    pub toolset: Arc<Toolset>,
    pub approval: Approval,
    pub limits: Limits,
    /// What was said from outside in this conversation.
    pub untrusted_texts: UntrustedTexts,
}

impl TurnSetup {
    /// What the model is sent as the prompt.
    pub(super) fn prompt_text(&self) -> &str {
        self.prompt_override.as_deref().unwrap_or(&self.prompt.text)
    }
}

/// Everything that can happen to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnInput {
    /// The server is loading the model.
    Loading,
    /// Bytes came that made no part.
    Heartbeat,
    Text(String),
    Thinking(String),
    /// All text of this round so far was thinking, and the calls in it were only
    /// thought of (DIALECTS 36 and 38).
    TextWasThinking,
    Call(ProposedCall),
    /// What stands around calls and thinking, and is not shown.
    Markup(String),
    /// The server began the same reply anew: what came of it so far is void.
    ReplyRestarted,
    /// What the model must see again with the calls of this round.
    OpaqueReasoning(ReasoningEcho),
    /// Unmistakably a call, but not one that can be run.
    UnusableCall {
        raw: String,
        why: String,
    },
    /// Tokens, as the server counted them for this round.
    Usage(Usage),
    Noted(Notice),
    /// The reply ended as it should (`cut`: by the limit of tokens), or failed.
    ReplyEnded(Result<ReplyEnd, ReplyFailure>),
    /// The pause before another attempt is over, or the user cut it short.
    RetryDue,
    /// No byte came for so long.
    Idle {
        seconds: u64,
    },
    /// The answer to [`Effect::CheckArguments`], one result for each check, in its order.
    ArgumentsChecked(Vec<SchemaCheck>),
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    /// What came with the prompt, as the injection guard reads it.
    UntrustedTextRead(Arc<UntrustedText>),
    CallDone {
        call: CallId,
        outcome: ToolOutcome,
        /// What the outcome says that is not ours; None where it says nothing.
        untrusted_text: Option<Arc<UntrustedText>>,
    },
    Answered {
        ask: AskId,
        answer: UserAnswer,
    },
    /// The user cancels one call of those that run, after it ran so long.
    CancelCall {
        call: CallId,
        elapsed: Duration,
    },
    Interrupt,
    /// The user chose to stop at a question that was not the turn's.
    Stopped,
    ModeChanged(ToolMode),
    ToolsetChanged(Arc<Toolset>),
    /// What is remembered changed, here or in another instance; and the grants of this
    /// session that are left.
    TrustChanged(Box<Approval>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyEnd {
    /// By the limit of tokens: what came last may be half of it.
    pub is_truncated: bool,
    /// By the server, which does not want to go on.
    pub is_refused: bool,
}

/// Why a reply failed, and whether the same request is worth sending again by
/// itself after a pause.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFailure {
    pub notice: Notice,
    pub is_transient: bool,
    /// How long the server asked to wait.
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
    /// The provider's id, where it gave one.
    pub wire_id: Option<String>,
    pub server: Option<String>,
    pub name: String,
    /// Err holds what was sent instead of a JSON object.
    pub arguments: Result<Arguments, String>,
    pub origin: CallOrigin,
    /// It ended as its form does; else only the reply's end ended it.
    pub is_terminated: bool,
    /// It may not be whole: the limit of tokens ended the reply in it.
    pub is_truncated: bool,
    /// The words it was read from, for `t` treat as text.
    pub raw: String,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    Emit(TurnEvent),
    /// Send this to the model, and feed what comes back into `step`.
    Request {
        messages: Vec<Message>,
        tools: Arc<Toolset>,
    },
    /// Drop the open request.
    DropRequest,
    /// Check these arguments where it may block, and feed [`Input::ArgumentsChecked`]. At
    /// most one such check is open in a turn; the end of the turn makes it void.
    CheckArguments(Vec<ArgumentCheck>),
    /// Feed [`Input::RetryDue`] after this pause.
    RetryIn(Duration),
    OpenAsk {
        ask: AskId,
        question: Ask,
    },
    CloseAsk(AskId),
    Run(ApprovedCall),
    /// Cancel a running call by the protocol.
    Cancel(CallId),
    /// Remember this for the session.
    GrantForSession(ToolIdentity),
    /// Remember this beyond it.
    StoreRule(TrustRule),
    /// The turn was answered: save it.
    SaveAnswer {
        answer: String,
        usage: Usage,
    },
    /// The turn ended without an answer after these words: keep them beside the
    /// messages, never to be sent.
    SavePartialAnswer {
        text: String,
    },
}

/// The state without its data, for logs and the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TurnState {
    /// A request is open and nothing of its reply has come.
    Waiting,
    Streaming,
    /// A request is open and the user is asked whether to go on waiting.
    Stalled,
    /// No request is open: the same one goes out again after a pause.
    Retrying,
    /// Arguments are being checked against their tools' schemas.
    CheckingArguments,
    /// The user decides on calls.
    AwaitingApproval,
    /// The user decides on a call that cannot be used.
    Repairing,
    /// The user decides whether more tools may run after a failed one.
    AfterError,
    /// The user decides at the bound on rounds.
    AtRoundLimit,
    /// Calls are running.
    Running,
    Ended,
}

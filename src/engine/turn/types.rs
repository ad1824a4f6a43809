//! Inputs, effects and states of a turn.

use crate::domain::id::IdGenerator;
use crate::domain::model::Limits;
use crate::domain::trust::TrustRule;
use crate::domain::{
    AgentResult, ArgumentCheck, Arguments, AskId, CallId, CallOrigin, Dialect, Message, Notice,
    Prompt, ReasoningEcho, SavedMessage, SchemaCheck, ServerId, ServerTask, ToolCall, ToolMode,
    ToolOutcome, ToolProgress, Toolset, TurnEvent, Usage,
};
use crate::engine::approval::{Approval, ApprovedCall, ToolIdentity};
use crate::engine::injection_guard::InjectionGuard;
use crate::engine::result_images::ResultImages;
use crate::protocol::{Question, UserAnswer};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The id generators of turns, passed from turn to turn so that ids stay unique while the program
/// runs.
#[derive(Debug, Clone, Default)]
pub struct TurnIdGenerators {
    pub(super) calls: IdGenerator,
    pub(super) asks: IdGenerator,
    pub(super) pieces: IdGenerator,
}

/// Everything that a turn needs to start.
#[derive(Debug, Clone)]
pub struct TurnSetup {
    pub prompt: Prompt,
    /// Sent instead of the prompt's text; set only if the answer will be a summary.
    pub prompt_override: Option<String>,
    /// The model's configured name.
    pub model: String,
    /// Whether the model's thinking could be switched off, because it is not off already.
    pub may_think: bool,
    pub dialect: Dialect,
    pub system_prompt: Arc<str>,
    /// Prompts and final answers of earlier turns.
    pub history: Arc<Vec<SavedMessage>>,
    /// The tools that can be called. They may change during the turn.
    pub toolset: Arc<Toolset>,
    /// The tools that requests offer. They change during the turn only if the model finds or calls a
    /// held-back tool, so that the server's cache of the prompt stays valid.
    pub offered: Arc<Toolset>,
    pub approval: Approval,
    pub limits: Limits,
    pub guard: InjectionGuard,
    /// Earlier calls that the turn resumes. If there are any, at least one has an open task.
    pub resumed_calls: Vec<ToolCall>,
}

impl TurnSetup {
    pub(super) fn prompt_text(&self) -> &str {
        self.prompt_override.as_deref().unwrap_or(&self.prompt.text)
    }
}

/// An input of [`super::Turn::step`].
#[derive(Debug, Clone, PartialEq)]
pub enum TurnInput {
    /// The server is loading the model.
    Loading,
    /// The connection is alive, but no part of the reply arrived.
    Heartbeat,
    Text(String),
    Thinking(String),
    /// All text of this round so far was thinking, so calls in it must not run.
    TextWasThinking,
    Call(ProposedCall),
    /// Tags and fences around calls and thinking, which are not shown.
    Markup(String),
    /// The server restarted the reply: everything received so far is void.
    ReplyRestarted,
    /// Provider data that must be sent back with this round's calls.
    ReasoningEcho(ReasoningEcho),
    UnusableCall {
        raw: String,
        why: String,
    },
    /// The server's token counts for this round.
    Usage(Usage),
    Noted(Notice),
    ReplyEnded(Result<ReplyEnd, ReplyFailure>),
    /// The pause before the next attempt is over or was skipped.
    RetryDue,
    /// Nothing was received for this long.
    Idle {
        seconds: u64,
    },
    /// The results of [`TurnEffect::CheckArguments`], one per check, in order.
    ArgumentsChecked(Vec<SchemaCheck>),
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    /// The server runs the call as a task.
    TaskStarted {
        call: CallId,
        task: ServerTask,
    },
    CallDone {
        call: CallId,
        outcome: ToolOutcome,
        images: ResultImages,
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
    /// The user leaves a running call, whose task continues. The call has run for `elapsed`.
    LeaveCall {
        call: CallId,
        elapsed: Duration,
    },
    /// The servers that the turn waits for are ready, or it no longer waits for them.
    ServersReady(ReadyServers),
    /// The agent to which the prompt was offered is ready.
    AgentPrepared(AgentPlan),
    /// A short description of the agent's activity.
    AgentProgressed(String),
    /// The agent has used the model's answer. `Err` is the reason if it could not.
    AgentFinished(Result<AgentResult, Notice>),
    Interrupt,
    /// The user chose to stop when asked a question that the turn does not own.
    Stopped,
    ModeChanged(ToolMode),
    ToolsetChanged(Arc<Toolset>),
    /// The next request offers these tools. Produces no effects.
    ToolsOffered(Arc<Toolset>),
    /// The stored rules or the session's grants changed, in this or another instance of humble.
    TrustChanged(Box<Approval>),
}

/// What a turn learns when it stops waiting for servers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyServers {
    /// See [`TurnSetup::toolset`].
    pub toolset: Arc<Toolset>,
    /// See [`TurnSetup::offered`].
    pub offered: Arc<Toolset>,
    /// A note agent prepares the turn next.
    pub is_offered_to_agent: bool,
    /// Names the servers whose tools are still missing, if any.
    pub missing: Option<Notice>,
}

/// An instruction of a note agent to the turn.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentPlan {
    /// The prompt goes to the model as usual. The notice explains why the notes were not used.
    PassOn(Notice),
    /// A request for notes goes to the model as usual, because the agent could not carry it out.
    RequestFailed(Notice),
    /// The model gets this prompt alone, without history and tools. Its answer goes to the agent.
    AskModel(String),
    /// The prompt goes to the model as usual. Its answer goes to the agent.
    UseAnswer,
    /// The prompt goes to the model as usual, with excerpts of notes before it. The result is
    /// reported with the answer.
    AddToPrompt {
        excerpts: String,
        result: AgentResult,
    },
    /// The answer, found without the model.
    Answer { text: String, result: AgentResult },
}

/// The agent's part in a turn. Empty in most turns.
#[derive(Debug, Default)]
pub struct AgentPart {
    /// Sent instead of the prompt.
    pub(super) prompt: Option<String>,
    /// Text of notes was added to the prompt without the user reading it.
    pub(super) adds_note_text: bool,
    /// The agent waits for the model's answer.
    pub(super) takes_answer: bool,
    /// The model gets no tools, because the agent wrote the whole request.
    pub(super) is_without_tools: bool,
    /// The answer that the agent is using.
    pub(super) answer: Option<ModelAnswer>,
    /// Reported when the model has answered.
    pub(super) result: Option<AgentResult>,
}

/// An answer of the model, as an agent receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer {
    pub text: String,
    /// It was cut off, by the token limit or because the model repeated itself.
    pub is_truncated: bool,
}

/// How a successful reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyEnd {
    /// The token limit ended the reply, so its last part may be incomplete.
    pub is_truncated: bool,
    /// The server refused to continue.
    pub is_refused: bool,
}

/// A failed reply, and whether it should be retried automatically.
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
    /// `Err` contains the text received instead of a JSON object.
    pub arguments: Result<Arguments, String>,
    pub origin: CallOrigin,
    /// False if the call ended only because the reply ended.
    pub has_end: bool,
    /// The call may be incomplete, because the reply ended at the token limit.
    pub is_truncated: bool,
    /// The text from which the call was read. It is restored if the user treats it as text.
    pub raw: String,
}

/// An action for the driver. Effects are carried out in order.
#[expect(
    clippy::large_enum_variant,
    reason = "most effects are events, and a box would cost an allocation per token"
)]
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEffect {
    Emit(TurnEvent),
    /// Send this to the model, and feed the reply into `step`.
    Request {
        messages: Vec<Message>,
        tools: Arc<Toolset>,
    },
    DropRequest,
    /// Check these arguments in the background, then feed [`TurnInput::ArgumentsChecked`]. At
    /// most one check runs at a time; its result is not needed once the turn has ended.
    CheckArguments(Vec<ArgumentCheck>),
    /// Feed [`TurnInput::RetryDue`] after this pause.
    RetryIn(Duration),
    OpenAsk {
        ask: AskId,
        question: Question,
    },
    CloseAsk(AskId),
    Run(ApprovedCall),
    /// Wait for the task of an earlier call.
    FollowTask(Box<ToolCall>),
    Cancel(CallId),
    GrantForSession(ToolIdentity),
    StoreRule(TrustRule),
    /// Pass the model's answer to the agent, then feed [`TurnInput::AgentFinished`].
    FinishAgent(ModelAnswer),
    SaveAnswer {
        answer: String,
        usage: Usage,
        /// The user stopped the turn while the model answered.
        is_stopped: bool,
    },
    /// Save the text of a turn that ended without an answer. It is not sent to the model.
    SavePartialAnswer {
        text: String,
    },
}

/// Which servers the user chose for calls that could mean several.
#[derive(Debug, Default)]
pub(super) struct ServerChoice {
    /// The chosen servers by the name that the model wrote. `None` if the model is told to name the
    /// server.
    pub(super) chosen: HashMap<String, Option<ServerId>>,
    /// The name and the servers of the open question.
    pub(super) asked: Option<(String, Vec<ServerId>)>,
}

/// The state of a turn. Its data is in [`super::Turn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TurnState {
    /// The turn waits for the tools of servers that are starting.
    AwaitingServers,
    /// A note agent prepares the request or the answer.
    AgentPreparing,
    /// A request is open, and no part of its reply has arrived.
    Waiting,
    Streaming,
    /// A request is open, and the user is asked whether to keep waiting.
    Stalled,
    /// A request failed and will be sent again after a pause.
    Retrying,
    /// The user decides which server a call means.
    ChoosingServer,
    CheckingArguments,
    AwaitingApproval,
    /// The user decides how to handle a call that cannot be used.
    AtUnusableCall,
    /// The user decides whether more tools may run after failed calls.
    AfterError,
    /// The user decides how to continue at the limit of tool rounds.
    AtRoundLimit,
    Running,
    /// A note agent uses the model's answer.
    AgentFinishing,
    Ended,
}

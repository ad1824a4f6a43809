//! The two channels between front end and engine: commands one way, events the other, and
//! no other shared state. Questions to the user are data, so the screen and `humble ask`
//! interpret them identically.

mod choices;
mod unfinished;
mod validate;

pub use choices::ChoiceRow;
pub use unfinished::{BranchSummary, CallStage, UnfinishedCall, UnfinishedTurn};
pub use validate::{parse_arguments, parse_pattern_for};

use crate::domain::probe::{ProbeReport, ProbeState};
use crate::domain::reply_trace::TraceLine;
use crate::domain::tool::Tool;
use crate::domain::{
    Arguments, AskId, Banner, CallId, Decision, Dialect, ModelCatalog, ModelList, ModelRef,
    ModelServer, NewModel, NewModelServer, NewServerFault, Notice, PersonaSummary, PinChange,
    Prompt, Pull, QueryId, SchemaCheck, Server, ServerId, ServerLog, Session, SessionId,
    SessionSummary, SettingsChange, Think, ToolMode, TrustEntry, TurnEvent, TurnId,
};
use serde::Serialize;
use std::sync::Arc;

/// Capacity of the command queue. A front end reports an error when it is full.
pub const COMMAND_QUEUE_MAX: usize = 64;
/// Capacity of the event queue. The engine keeps further events in its outbox.
pub const EVENT_QUEUE_MAX: usize = 256;

/// A request from the front end. Every reply is an [`Event`].
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// The front end creates the id, so the prompt appears without a round trip.
    Submit {
        turn: TurnId,
        prompt: Prompt,
    },
    /// Summarizes older messages with the model. This is a turn with the prompt
    /// [`crate::domain::Prompt::compaction`].
    Compact {
        turn: TurnId,
    },
    /// Shows the raw text, reasoning and calls of the last answer.
    ShowReplyTrace,
    Answer {
        ask: AskId,
        answer: UserAnswer,
    },
    /// Acknowledged by [`Event::InterruptAcknowledged`].
    Interrupt,
    /// Checks edited arguments against the tool's schema before the user decides; answered
    /// by [`Event::ArgumentsChecked`].
    CheckArguments {
        query: QueryId,
        tool: Arc<Tool>,
        arguments: Arguments,
    },
    /// Cancels one running call; the turn continues.
    CancelCall(CallId),
    /// Tests which tool-call dialect the current model follows.
    Probe,
    /// Ends the probe early and shows partial results.
    StopProbe,
    /// Sends a request immediately instead of waiting for its next retry.
    RetryNow,
    SelectModel(ModelRef),
    /// Lists the models of every model server.
    ListCatalog,
    /// Uses a model of a server. Asks the user first if `config.json` does not list it.
    UseModel {
        server: ModelServer,
        model: String,
    },
    /// Adds a model to `config.json` and selects it.
    AddModel(NewModel),
    /// Lists the models of a server that is not configured yet. Stops an earlier listing.
    ListServerModels {
        query: QueryId,
        server: NewModelServer,
    },
    StopListingServer,
    /// Without a server: the current Ollama server, or else the first one.
    PullModel {
        server: Option<ModelServer>,
        name: String,
    },
    StopPull,
    /// Asks the user first.
    RemoveModel {
        server: Option<ModelServer>,
        name: String,
    },
    /// Applies to the current model until another is selected or the program ends.
    SetThink(Think),
    SetToolMode(ToolMode),
    ToggleServer(ServerId),
    ReconnectServer(ServerId),
    /// Reads a server's stderr; answered only if there are more than `lines_seen` lines.
    ReadServerLog {
        server: ServerId,
        lines_seen: Option<u64>,
    },
    ToggleTool {
        server: ServerId,
        tool: String,
    },
    /// Shows a server's instructions and asks whether to send them to the model.
    ReviewInstructions(ServerId),
    /// Shows how a withheld tool changed and asks whether to allow it again.
    ReviewTool {
        server: ServerId,
        tool: String,
    },
    /// Revokes a stored decision (`/trust`), effective immediately.
    Revoke(Box<TrustEntry>),
    NewSession,
    ListSessions(QueryId),
    PreviewSession {
        query: QueryId,
        session: SessionId,
    },
    OpenSession(SessionId),
    DeleteSession(SessionId),
    /// Reloads the settings files and asks again about pending changes.
    Reload,
    /// Selects the persona for the next turns; `None` means `system_prompt.txt`.
    SelectPersona(Option<String>),
    /// Offers to replace an outdated system prompt with the bundled one.
    ReplaceSystemPrompt,
    /// Undoes the last answered turn, which becomes a branch.
    Rewind,
    /// Drops the current summary, which restores the previous one or all messages.
    DropSummary,
    /// Removes the last, unanswered turn from the screen; carries its prompt.
    DropCancelled(Prompt),
    ListBranches,
    SwitchBranch(BranchSummary),
    /// Continues in a new file and leaves the old one unchanged.
    ForkSession,
    RenameSession(String),
    /// Stops or resumes saving this conversation.
    SetPrivate(bool),
    /// Saves the unsent text of the editor; empty once the restored draft is no longer
    /// needed.
    SaveDraft(String),
    /// Acknowledged by [`Event::ShuttingDown`] and completed by [`Event::ShutDown`].
    Shutdown,
    /// The terminal is gone or a signal ends the program. Like [`Command::Shutdown`], but
    /// the running turn stays in its journal and the next start offers it.
    ShutdownKeepingTurn,
}

impl Command {
    /// Whether the command asks to stop something. The engine acknowledges it with
    /// [`Event::InterruptAcknowledged`] even if nothing was running.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupt | Self::StopProbe | Self::StopPull)
    }
}

/// A report from the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Turn(TurnId, TurnEvent),
    Asked {
        ask: AskId,
        owner: QuestionOwner,
        question: Ask,
    },
    AskClosed(AskId),
    /// A conversation opens: a new one, or one from a file.
    SessionOpened(Arc<Session>),
    /// The current conversation was written to this file.
    SessionSaved(SessionId),
    SessionsListed {
        query: QueryId,
        sessions: Arc<Vec<SessionSummary>>,
    },
    SessionPreviewed {
        query: QueryId,
        session: Arc<Session>,
    },
    SessionDeleted(SessionId),
    /// The title set by the user.
    SessionRenamed(String),
    /// The conversation's other branches, most recently left first.
    BranchesListed(Vec<BranchSummary>),
    PrivateChanged(bool),
    /// An unanswered prompt, offered to the message editor.
    PromptOffered(String),
    ModelsListed {
        models: Vec<ModelRef>,
        selected: Option<ModelRef>,
    },
    /// All model servers; replaces the earlier list.
    CatalogChanged(Arc<ModelCatalog>),
    /// Download progress of a model; `None` when it is over.
    PullChanged(Option<Pull>),
    /// The result of [`Command::ListServerModels`].
    ServerModelsListed {
        query: QueryId,
        result: Result<Arc<ModelList>, NewServerFault>,
    },
    /// A model was added to `config.json` and selected.
    ModelAdded(ModelRef),
    /// A running probe or its result; `None` once it is closed.
    ProbeChanged(Option<ProbeState>),
    ThinkChanged(Option<Think>),
    ToolModeChanged(ToolMode),
    PersonasListed {
        personas: Arc<Vec<PersonaSummary>>,
        selected: Option<String>,
    },
    /// All servers in sidebar order, after the list changed.
    ServersListed(Vec<Server>),
    /// One server's status and tools.
    ServerChanged(Server),
    /// All stored decisions and pending tool changes; replaces the earlier list.
    TrustChanged(Arc<Vec<TrustEntry>>),
    /// The reply to [`Command::ReadServerLog`].
    ServerLogRead(Arc<ServerLog>),
    ContextMeasured(ContextMeter),
    /// Earlier prompts, oldest first, and the draft of the last run, which stays on disk
    /// until [`Command::SaveDraft`].
    HistoryLoaded {
        prompts: Arc<Vec<String>>,
        draft: Option<String>,
    },
    /// All banners; replaces the earlier ones.
    BannersChanged(Vec<Banner>),
    NoticePosted(Notice),
    /// A notice that waits until no other one is shown.
    LowPriorityNoticePosted(Notice),
    LogLineWritten(LogLine),
    /// The parts of the last answer; empty if there is none.
    ReplyTraceLoaded(Arc<Vec<TraceLine>>),
    /// The result of [`Command::CheckArguments`].
    ArgumentsChecked {
        query: QueryId,
        check: SchemaCheck,
    },
    /// An interrupt arrived. A front end that does not receive this within a second assumes
    /// that the engine is stuck.
    InterruptAcknowledged,
    /// [`Command::Shutdown`] arrived: the engine is saving and closing servers.
    ShuttingDown,
    /// The last event.
    ShutDown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ContextMeter {
    /// In tokens: the server's count if `is_measured`, otherwise our estimate.
    pub used: u64,
    pub limit: Option<u64>,
    #[serde(rename = "measured")]
    pub is_measured: bool,
}

/// One line for the log pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub level: tracing::Level,
    pub text: String,
}

/// Every question to the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// These calls await approval. Their arguments arrived as turn events.
    ApproveCalls(Vec<CallToApprove>),
    /// The second unusable call of this turn.
    InvalidCall { raw: String, why: String },
    /// The model requests more tools although a call of this turn failed.
    AfterError { failed: CallId, wanted: Vec<String> },
    /// The model has sent nothing for this many seconds.
    Stalled { seconds: u64 },
    /// The turn reached its limit of tool rounds.
    RoundLimit {
        rounds: u32,
        /// The limit was extended before, and the model was told to answer without tools.
        was_extended: bool,
    },
    /// Ollama's context would have to grow beyond the size we set without asking. In
    /// tokens.
    GrowContext { estimate: u64, from: u64, to: u64 },
    /// A server has this model, but `config.json` does not list it.
    AddModel { server: ModelServer, name: String },
    /// Whether to delete this model from the server's disk.
    RemoveModel {
        server: ModelServer,
        name: String,
        bytes: Option<u64>,
        /// The currently selected model.
        is_in_use: bool,
    },
    /// The result of a probe; `to` is the recommended `toolCalls` setting.
    StoreDialect {
        report: Arc<ProbeReport>,
        to: Option<Dialect>,
    },
    /// An external edit of the settings files that needs consent.
    ExternalEdit(Arc<Vec<SettingsChange>>),
    /// Whether to replace an outdated system prompt with the bundled one.
    ReplacePrompt { path: String, text: Arc<str> },
    /// An unfinished turn of an earlier run can be resumed.
    UnfinishedTurn(Box<UnfinishedTurn>),
    /// Confirms discarding an unfinished turn.
    ConfirmDiscard { prompt: String },
    /// A tool's definition differs from the accepted one.
    PinChanged(Arc<PinChange>),
    /// Whether to send a server's instructions to the model.
    SendInstructions { server: ServerId, text: Arc<str> },
}

/// One call in an approval, with the tool details that the dialog shows.
#[derive(Debug, Clone, PartialEq)]
pub struct CallToApprove {
    pub call: CallId,
    /// Description, annotations and schema as offered to the model.
    pub tool: Arc<Tool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UserAnswer {
    Calls(Vec<(CallId, Decision)>),
    Choice(UserChoice),
    /// Closed without a choice, which counts as the safe one.
    Dismissed,
}

/// The choices of every question that is not an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UserChoice {
    /// Report the error to the model and let it try again.
    TellModel,
    /// Treat the invalid call as plain text of the answer.
    AsText,
    /// Run the failed call again.
    Retry,
    /// Allow the requested tools.
    #[serde(rename = "go_on")]
    AllowMoreTools,
    KeepWaiting,
    #[serde(rename = "ask_again")]
    SendAgain,
    #[serde(rename = "as_many_again")]
    ExtendRoundLimit,
    #[serde(rename = "no_bound")]
    NoRoundLimit,
    /// Answer now, without more tools.
    AnswerNow,
    /// Let the context grow.
    Grow,
    /// Send the request although the server will truncate it.
    SendAnyway,
    /// Resume an unfinished turn.
    Resume,
    KeepForLater,
    Discard,
    /// End the turn; outside a turn, change nothing.
    Stop,
    /// Add it to the settings and use it.
    Add,
    /// Use it until the program ends.
    UseOnce,
    Remove,
    /// Save the result in the settings and use it.
    Store,
    /// Apply the changes in the files.
    #[serde(rename = "take_changes")]
    ApplyChanges,
    /// Replace the file and keep a copy of it.
    Replace,
    /// Accept the new definition of a tool.
    Accept,
    /// Block the tool permanently.
    Never,
    /// Send a server's instructions from now on.
    SendAlways,
    /// Send them until the program ends.
    SendOnce,
}

/// The owner of a question. When it ends, the question is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOwner {
    Job(ModelJob),
    Server(ServerId),
    Program,
}

/// Work with an open model request; at most one open request per job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelJob {
    Turn(TurnId),
    Probe,
}

//! The two channels. A front end sends commands and receives events; the engine
//! does the reverse; they share nothing else. Each question to the user is
//! data here, so that the screen and `humble ask` mean the same by it.

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
    Arguments, AskId, Banner, CallId, Decision, Dialect, ModelCatalog, ModelRef, ModelServer,
    NewModel, Notice, PersonaSummary, PinChange, Prompt, Pull, QueryId, SchemaCheck, Server,
    ServerId, ServerLog, Session, SessionId, SessionSummary, SettingsChange, Think, ToolMode,
    TrustEntry, TurnEvent, TurnId,
};
use serde::Serialize;
use std::sync::Arc;

/// Commands waiting for the engine; a front end that finds no room says so.
pub const COMMAND_QUEUE_MAX: usize = 64;
/// Events waiting for the front end; the engine keeps the rest in its outbox.
pub const EVENT_QUEUE_MAX: usize = 256;

/// What a front end asks of the engine. Everything answered is answered by an
/// [`Event`].
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// The front end mints the id: no round trip before the prompt is on screen.
    Submit {
        turn: TurnId,
        prompt: Prompt,
    },
    /// The older part of the context gives way to a summary that the model writes. It
    /// is a turn whose prompt is [`crate::domain::Prompt::compacting`].
    Compact {
        turn: TurnId,
    },
    /// Tells what the last answer was made of.
    ShowReplyTrace,
    Answer {
        ask: AskId,
        answer: UserAnswer,
    },
    /// Acknowledged by [`Event::InterruptTaken`].
    Interrupt,
    /// Has edited arguments checked against the schema of their tool, before they are
    /// decided on; answered by [`Event::ArgumentsChecked`].
    CheckArguments {
        query: QueryId,
        tool: Arc<Tool>,
        arguments: Arguments,
    },
    /// Cancels one call of those that run; the turn goes on.
    CancelCall(CallId),
    /// Finds out which dialect the present model follows (S6.6).
    Probe,
    /// Ends it early; what there is of it is shown.
    StopProbe,
    /// Sends a request that waits for its next attempt at once.
    RetryNow,
    SelectModel(ModelRef),
    /// Asks the servers of models what they have.
    ListCatalog,
    /// Uses what a server has; where `config.json` does not list it the person is
    /// asked first.
    UseModel {
        server: ModelServer,
        model: String,
    },
    /// Adds a model to `config.json` and uses it.
    AddModel(NewModel),
    /// Asks the server of a new model what it has, before it is added.
    TestModel {
        query: QueryId,
        model: NewModel,
    },
    /// Without a server: the Ollama that is used, or the first there is.
    PullModel {
        server: Option<ModelServer>,
        name: String,
    },
    StopPull,
    /// The person is asked first.
    RemoveModel {
        server: Option<ModelServer>,
        name: String,
    },
    /// For the present model, until another is used or the program ends.
    SetThink(Think),
    SetToolMode(ToolMode),
    ToggleServer(ServerId),
    ReconnectServer(ServerId),
    /// What a server wrote to stderr; answered where there is more than was `seen`.
    ReadServerLog {
        server: ServerId,
        lines_seen: Option<u64>,
    },
    ToggleTool {
        server: ServerId,
        tool: String,
    },
    /// Shows what a server wants the model to be told, and asks whether it may be.
    ReviewInstructions(ServerId),
    /// Shows how a withheld tool changed, and asks whether it may be used again.
    ReviewTool {
        server: ServerId,
        tool: String,
    },
    /// Takes a remembered decision back (`/trust`); it is in force at once.
    Revoke(Box<TrustEntry>),
    NewSession,
    ListSessions(QueryId),
    PreviewSession {
        query: QueryId,
        session: SessionId,
    },
    OpenSession(SessionId),
    DeleteSession(SessionId),
    /// Read the files of settings again, and ask again about what is not in force.
    Reload,
    /// Who answers from the next turn on; none is `system_prompt.txt`.
    SelectPersona(Option<String>),
    /// Offer to put this program's own system prompt in the place of an older one.
    ReplaceSystemPrompt,
    /// Takes the last answered turn back: it becomes a branch (S9.5).
    Rewind,
    /// All is sent again in place of a summary.
    DropSummary,
    /// The last turn, which has no answer, is taken off the screen: its prompt.
    DropCancelled(Prompt),
    ListBranches,
    SwitchBranch(BranchSummary),
    /// Goes on in a new file; the old one stays as it is.
    ForkSession,
    RenameSession(String),
    /// Saves nothing of this conversation, or saves it again.
    SetPrivate(bool),
    /// What stood in the editor when the program was left; empty once the draft that
    /// was handed out needs to be kept no more.
    SaveDraft(String),
    /// Acknowledged by [`Event::ShuttingDown`], and over with [`Event::ShutDown`].
    Shutdown,
    /// The terminal is gone, or a signal ends the program: as [`Command::Shutdown`], but
    /// the turn under way stays in its journal, and the next start offers it.
    ShutdownKeepingTurn,
}

impl Command {
    /// Does a user who sends this want something to stop? The engine acknowledges it with
    /// [`Event::InterruptTaken`], whether there was something to stop or not.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupt | Self::StopProbe | Self::StopPull)
    }
}

/// What the engine reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Turn(TurnId, TurnEvent),
    Asked {
        ask: AskId,
        owner: QuestionOwner,
        question: Ask,
    },
    AskClosed(AskId),
    /// A conversation begins: a new one, or one from a file.
    SessionOpened(Arc<Session>),
    /// The present conversation was written to this file.
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
    /// The title that the person gave it.
    SessionRenamed(String),
    /// The other branches of the conversation, the one that was left last first.
    BranchesListed(Vec<BranchSummary>),
    PrivateChanged(bool),
    /// A prompt that was never answered, for the message.
    PromptOffered(String),
    ModelsListed {
        models: Vec<ModelRef>,
        selected: Option<ModelRef>,
    },
    /// All servers of models, replacing what was known of them.
    CatalogChanged(Arc<ModelCatalog>),
    /// A model is on its way; None: no more.
    PullChanged(Option<Pull>),
    /// What came of [`Command::TryModel`].
    ModelTested {
        query: QueryId,
        result: Result<(), Notice>,
    },
    /// A model stands in `config.json` now, and is used.
    ModelAdded(ModelRef),
    /// A probe goes on, or waits for the person to read it; None: there is none.
    ProbeChanged(Option<ProbeState>),
    ThinkChanged(Option<Think>),
    ToolModeChanged(ToolMode),
    PersonasListed {
        personas: Arc<Vec<PersonaSummary>>,
        selected: Option<String>,
    },
    /// The order of the sidebar, after a change of the list.
    ServersListed(Vec<Server>),
    /// One server's status and tools together.
    ServerChanged(Server),
    /// What was decided for longer than a call, and what waits: all of it, replacing
    /// what was known.
    TrustChanged(Arc<Vec<TrustEntry>>),
    /// What [`Command::ReadServerLog`] asked for.
    ServerLogRead(Arc<ServerLog>),
    /// How full the context is.
    ContextMeasured(ContextMeter),
    /// What is typed before: oldest first, and the draft of the last run, which
    /// stays on the disk until [`Command::KeepDraft`].
    HistoryLoaded {
        prompts: Arc<Vec<String>>,
        draft: Option<String>,
    },
    /// All banners, replacing the earlier ones.
    BannersChanged(Vec<Banner>),
    NoticePosted(Notice),
    /// A notice that waits until no other one is shown.
    LowPriorityNoticePosted(Notice),
    LogLineWritten(LogLine),
    /// What the last answer was made of; empty where there is none.
    ReplyTraceLoaded(Arc<Vec<TraceLine>>),
    /// What came of [`Command::CheckArguments`].
    ArgumentsChecked {
        query: QueryId,
        check: SchemaCheck,
    },
    /// An interrupt arrived: a front end that does not hear this within a second knows
    /// that the engine is stuck.
    InterruptAcknowledged,
    /// [`Command::Shutdown`] arrived: what there is is saved, and servers are closed.
    ShuttingDown,
    /// Nothing follows.
    ShutDown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ContextMeter {
    /// Tokens; the server's own count where `measured`, else our estimate.
    pub used: u64,
    pub limit: Option<u64>,
    #[serde(rename = "measured")]
    pub is_measured: bool,
}

/// One line of the log, for the log pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub level: tracing::Level,
    pub text: String,
}

/// Everything that a person can be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// These calls await approval (S7). Their arguments came as turn events.
    ApproveCalls(Vec<CallToApprove>),
    /// A second call of this turn cannot be used as it was written (S5.5).
    InvalidCall { raw: String, why: String },
    /// The model asks for more tools though a call of this turn failed (S5.5).
    AfterError { failed: CallId, wanted: Vec<String> },
    /// Nothing came from the model for so long (S5.10).
    Stalled { seconds: u64 },
    /// The bound on rounds was reached (S5.6).
    RoundLimit {
        rounds: u32,
        /// It was reached before, and the model was told to answer without tools.
        was_extended: bool,
    },
    /// Ollama's context would have to grow further than it does unasked, in tokens
    /// (S2.7).
    GrowContext { estimate: u64, from: u64, to: u64 },
    /// A server has this model, and `config.json` does not list it.
    AddModel { server: ModelServer, name: String },
    /// Shall the server remove this model from its disk?
    RemoveModel {
        server: ModelServer,
        name: String,
        bytes: Option<u64>,
        /// It is the one that prompts go to.
        is_in_use: bool,
    },
    /// What a probe found; `to` is worth storing as `toolCalls`.
    StoreDialect {
        report: Arc<ProbeReport>,
        to: Option<Dialect>,
    },
    /// Somebody edited the files in a way that waits for the person (S1.4).
    ExternalEdit(Arc<Vec<SettingsChange>>),
    /// May this program's own system prompt take the place of an older one (S4.1)?
    ReplacePrompt { path: String, text: Arc<str> },
    /// A turn of an earlier run can be taken up again (S9.6).
    UnfinishedTurn(Box<UnfinishedTurn>),
    /// Is it really to go?
    ConfirmDiscard { prompt: String },
    /// A tool has another definition than the accepted one (S7.5).
    PinChanged(Arc<PinChange>),
    /// May a server's own words be sent to the model (S3.6)?
    SendInstructions { server: ServerId, text: Arc<str> },
}

/// One call in an approval, with what the dialog shows beside its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct CallToApprove {
    pub call: CallId,
    /// Description, annotations and schema of the tool as it was offered.
    pub tool: Arc<Tool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UserAnswer {
    Calls(Vec<(CallId, Decision)>),
    Choice(UserChoice),
    /// Closed without a choice: the safe one is taken.
    Dismissed,
}

/// What can be chosen where the question is not about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UserChoice {
    /// Tell the model again what is wrong and let it try.
    TellModel,
    /// Take the unreadable call as text of the answer.
    AsText,
    /// Run the failed call again.
    Retry,
    /// Let the model have the tools it asks for.
    #[serde(rename = "go_on")]
    AllowMoreTools,
    KeepWaiting,
    #[serde(rename = "ask_again")]
    SendAgain,
    #[serde(rename = "as_many_again")]
    ExtendRoundLimit,
    #[serde(rename = "no_bound")]
    NoRoundLimit,
    /// Answer now with what there is.
    AnswerNow,
    /// Let the context grow.
    Grow,
    /// Send what will be cut.
    SendAnyway,
    /// Take an unfinished turn up again.
    Resume,
    KeepForLater,
    Discard,
    /// End the turn; where the question is about none, change nothing.
    Stop,
    /// Write it into the settings and use it.
    Add,
    /// Use it until the program ends.
    UseOnce,
    Remove,
    /// Write what was found into the settings, and use it.
    Store,
    /// Let the files' changes come into force.
    #[serde(rename = "take_changes")]
    ApplyChanges,
    /// Replace the file; a copy of it is kept.
    Replace,
    /// Take the new definition of a tool as the accepted one.
    Accept,
    /// Rule the tool out for good.
    Never,
    /// Send a server's instructions from now on.
    SendAlways,
    /// Send them until the program ends.
    SendOnce,
}

/// Whose question it is: it is closed when its owner ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOwner {
    Job(ModelJob),
    Server(ServerId),
    Program,
}

/// Work that holds a request to a model: at most one open request a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelJob {
    Turn(TurnId),
    Probe,
}

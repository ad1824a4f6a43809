//! The messages between front end and engine: commands one way, events the other. The two share no
//! other state. Questions to the user are data, so the terminal UI and `humble ask` offer the same
//! choices.

mod branch;
mod context_meter;
mod log_line;
mod new_server;
mod note_command;
mod question;
mod saved_session;
mod server_content;
mod sign_in;
mod validate;

pub use branch::{BranchSummary, bounded_line};
pub use context_meter::{ContextMeter, ContextParts, ContextShares};
pub use log_line::LogLine;
pub use new_server::NewServerCommand;
pub use note_command::NoteCommand;
pub use question::{
    Block, CallToApprove, ChoiceRow, ModelJob, Question, QuestionOwner, UserAnswer, UserChoice,
};
pub use saved_session::{ExportFailure, SavedSessionCommand, SavedSessionEvent, SessionExport};
pub use server_content::{ServerContentCommand, ServerContentEvent};
pub use sign_in::{SignInCommand, SignInEvent};
pub use validate::{parse_arguments, parse_pattern_for};

use crate::domain::attachment::{AttachmentSource, FoundFiles, ReadAttachment};
use crate::domain::probe::ProbeState;
use crate::domain::reply_trace::TraceLine;
use crate::domain::theme::{ThemeChoice, ThemeSettings};
use crate::domain::tool::Tool;
use crate::domain::{
    Arguments, AskId, Banner, CallId, ImageSupport, ImportSource, KeySettings, ModelCatalog,
    ModelList, ModelRef, ModelServer, NewModel, NewModelServer, NewServerError, NotePaths, Notice,
    PersonaSummary, Prompt, PromptTemplates, Pull, QueryId, RecentCommands, SchemaCheck, Server,
    ServerId, ServerLog, Session, SessionId, SessionPreview, SessionSummary, Think, ToolCall,
    ToolMode, TrustEntry, TurnEvent, TurnId, UnsentText,
};
use jiff::Timestamp;
use std::sync::Arc;

/// Capacity of the command channel. When it is full, the chat screen reports an error, and `humble ask`
/// waits.
pub const COMMAND_QUEUE_MAX: usize = 64;
/// Capacity of the event channel. When it is full, the engine keeps events in its outbox.
pub const EVENT_QUEUE_MAX: usize = 256;

/// A request from the front end. Replies arrive as [`Event`]s.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Starts a turn. The front end creates the id, so it can show the prompt immediately.
    Submit {
        turn: TurnId,
        prompt: Prompt,
    },
    /// Runs a turn with [`Prompt::compaction`], which summarizes older messages.
    Compact {
        turn: TurnId,
    },
    /// Requests the raw replies of the running or last turn; answered by
    /// [`Event::ReplyTraceLoaded`].
    ShowReplyTrace,
    /// Answers a question of [`Event::Asked`].
    Answer {
        ask: AskId,
        answer: UserAnswer,
    },
    /// Cancels the running turn and the answers that the model is generating for servers.
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
    /// Leaves a running call, which its server runs as a task; the turn continues.
    LeaveCall(CallId),
    /// Tests which tool-call dialect the current model follows.
    Probe,
    /// Ends the probe early and shows partial results, if there are any.
    StopProbe,
    /// Sends the turn's request now instead of waiting for its next attempt, or for servers.
    SendNow,
    SelectModel(ModelRef),
    /// Lists the models of every model server.
    ListCatalog,
    /// Uses a model of a server, until the program ends if `config.json` does not list it.
    UseModel {
        server: ModelServer,
        model: String,
    },
    /// Adds the selected model to `config.json`.
    KeepModel,
    /// Adds a model to `config.json` and selects it.
    AddModel(NewModel),
    /// Lists the models of a server that is not configured yet. Stops an earlier listing.
    ListServerModels {
        query: QueryId,
        server: NewModelServer,
    },
    StopListingServer,
    /// Downloads a model to `server`. Without it, to the Ollama server of the selected model, or else
    /// to the first configured one.
    PullModel {
        server: Option<ModelServer>,
        name: String,
    },
    StopPull,
    /// Deletes a model from an Ollama server, chosen as for [`Command::PullModel`]. Asks the
    /// user first.
    RemoveModel {
        server: Option<ModelServer>,
        name: String,
    },
    /// Sets the thinking level of the current model until another one is selected or the
    /// program ends.
    SetThink(Think),
    SetToolMode(ToolMode),
    /// Stores a theme, which the screen shows already.
    SetTheme(ThemeChoice),
    ToggleServer(ServerId),
    ReconnectServer(ServerId),
    SignIn(SignInCommand),
    /// Looks for the MCP servers of other clients; answered by
    /// [`Event::ImportSourcesFound`].
    FindImportSources(QueryId),
    NewServer(NewServerCommand),
    /// Requests a server's log; answered by [`Event::ServerLogRead`], unless `lines_seen` is still
    /// the `lines_written` of the log.
    ReadServerLog {
        server: ServerId,
        lines_seen: Option<u64>,
    },
    /// Adds a tool to those that are always offered, or removes it from them.
    ToggleAlwaysOffered {
        server: ServerId,
        tool: String,
    },
    ToggleTool {
        server: ServerId,
        tool: String,
    },
    /// Shows a server's instructions and asks whether to send them to the model.
    ReviewInstructions(ServerId),
    /// Shows how a withheld tool changed and asks whether to accept its new definition.
    ReviewTool {
        server: ServerId,
        tool: String,
    },
    ServerContent(ServerContentCommand),
    /// Revokes a stored decision (`/trust`), effective immediately.
    Revoke(Box<TrustEntry>),
    NewSession,
    ListSessions(QueryId),
    /// Requests a part of a session: the first place where one of the folded `terms` occurs, or
    /// its beginning.
    PreviewSession {
        query: QueryId,
        session: SessionId,
        terms: Vec<String>,
    },
    OpenSession(SessionId),
    /// Moves a session to the trash.
    DeleteSession(SessionId),
    SavedSession(SavedSessionCommand),
    /// Reloads the settings files and asks again about changes that were declined.
    Reload,
    /// Reads the user's prompt templates again.
    ListPromptTemplates,
    /// Selects the persona for the next turns; `None` means `system_prompt.txt`.
    SelectPersona(Option<String>),
    /// Offers to replace an outdated system prompt with the bundled one.
    ReplaceSystemPrompt,
    /// Undoes the last answered turn, which becomes a branch.
    Rewind,
    /// Drops the current summary: the model is sent the previous summary again, or all
    /// messages.
    DropSummary,
    /// Removes the last turn, which was cancelled, from the conversation. Contains its prompt.
    DropCancelled(Prompt),
    Note(NoteCommand),
    /// Lists the inactive branches: all, or those that leave the active one at an answered prompt,
    /// counted from the end (1 is the last). Answered by [`Event::BranchesListed`].
    ListBranches {
        turns_from_end: Option<usize>,
    },
    SwitchBranch(BranchSummary),
    /// Replaces the answer of the `turns_from_end`-th last answered turn (1 is the last) with a text.
    /// The old answer and the messages after it become a branch.
    ReplaceAnswer {
        turns_from_end: usize,
        answer: String,
    },
    /// Continues the conversation in a new file and leaves the old one unchanged.
    ForkSession,
    RenameSession(String),
    /// Stops or resumes saving this conversation.
    SetPrivate(bool),
    /// Saves unsent text; an empty one deletes the saved draft.
    SaveDraft(UnsentText),
    /// Saves the unsent text of ordinary conversations that a private one has set aside.
    SaveSetAsideDraft(UnsentText),
    /// Adds an unsent text to the saved prompt history, so that a later draft cannot replace it.
    AddToHistory(String),
    /// Saves the name of a command that the user ran, for the palette.
    RememberCommand(String),
    /// Reads what is to be attached; answered by [`Event::AttachmentRead`].
    Attach {
        query: QueryId,
        source: AttachmentSource,
    },
    /// Finds files by part of their path; answered by [`Event::FilesFound`], unless another
    /// search is requested before this one starts.
    FindFiles {
        query: QueryId,
        fragment: String,
    },
    /// Finds the files among these paths; answered by [`Event::MentionedFound`].
    FindMentioned(QueryId, Vec<String>),
    /// Asks whether the current model takes images; answered by [`Event::ImageSupportChecked`].
    CheckImageSupport,
    /// Ends the engine: first [`Event::ShuttingDown`], then [`Event::ShutDown`].
    Shutdown,
    /// Like [`Command::Shutdown`], for a closed terminal or a signal: the running turn stays in
    /// its journal, and the next start offers to resume it.
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
        question: Question,
    },
    /// A question was answered or withdrawn.
    AskClosed(AskId),
    /// This conversation replaces the open one: a new one, one from a file, or another branch.
    SessionOpened(Arc<Session>),
    /// The current conversation was saved in the file with this id.
    SessionSaved(SessionId),
    SessionsListed {
        query: QueryId,
        listed_at: Timestamp,
        sessions: Arc<Vec<SessionSummary>>,
    },
    SessionPreviewed {
        query: QueryId,
        preview: Arc<SessionPreview>,
    },
    SessionDeleted {
        session: SessionId,
        title: String,
    },
    SavedSession(SavedSessionEvent),
    /// The title set by the user. Once it is saved, [`SavedSessionEvent::Renamed`] follows, or a
    /// notice that the title was shortened.
    SessionRenamed(String),
    /// The result of [`Command::ListBranches`], most recently left first.
    BranchesListed(Vec<BranchSummary>),
    PrivateChanged(bool),
    /// The requested conversation cannot be opened. A banner or a notice gives the reason.
    SessionNotOpened,
    /// The conversation of an unfinished turn is being opened.
    ResumingTurn,
    /// The prompt of a resumed turn, for the message editor. It is not sent, because tools may
    /// have changed since.
    PromptOffered {
        prompt: Prompt,
        /// Further information about the turn for the user.
        notice: Option<Notice>,
    },
    /// The calls of a resumed turn run as tasks. The front end submits the prompt again, and the
    /// engine then waits for the tasks instead of asking the model.
    TurnResumed(Prompt),
    /// The result of [`Command::Attach`].
    AttachmentRead {
        query: QueryId,
        result: Result<ReadAttachment, Notice>,
    },
    /// The result of [`Command::FindFiles`].
    FilesFound {
        query: QueryId,
        found: Arc<FoundFiles>,
    },
    /// The number of other branches at each answered prompt of the conversation.
    BranchesCounted(Vec<usize>),
    /// The result of [`Command::FindMentioned`]: the paths that are files, and those that look like
    /// files and do not exist.
    MentionedFound {
        query: QueryId,
        files: Vec<String>,
        missing: Vec<String>,
    },
    /// The result of [`NoteCommand::FindPaths`].
    NotePathsFound {
        fragment: String,
        found: Arc<NotePaths>,
    },
    /// The result of [`Command::CheckImageSupport`].
    ImageSupportChecked {
        model: ModelRef,
        support: ImageSupport,
    },
    ModelsListed {
        models: Vec<ModelRef>,
        selected: Option<ModelRef>,
        selected_server: Option<ModelServer>,
    },
    /// All model servers; replaces the earlier list.
    CatalogChanged(Arc<ModelCatalog>),
    /// Download progress of a model; `None` when it is over.
    PullChanged(Option<Pull>),
    /// The result of [`Command::ListServerModels`].
    ServerModelsListed {
        query: QueryId,
        result: Result<Arc<ModelList>, NewServerError>,
    },
    /// A model was added to `config.json` and selected.
    ModelAdded(ModelRef),
    /// The state of a probe; `None` once its result is closed.
    ProbeChanged(Option<ProbeState>),
    /// The servers for which the model is generating an answer.
    SamplingChanged(Vec<ServerId>),
    ThinkChanged(Option<Think>),
    ToolModeChanged(ToolMode),
    PersonasListed {
        personas: Arc<Vec<PersonaSummary>>,
        selected: Option<String>,
    },
    /// The keys that the user changed; replaces the earlier ones.
    KeysChanged(Arc<KeySettings>),
    /// The theme in use and the theme files; replaces the earlier ones.
    ThemesChanged(Arc<ThemeSettings>),
    /// The user's prompt templates; replaces the earlier list.
    PromptTemplatesListed(Arc<PromptTemplates>),
    /// All servers in sidebar order; replaces the earlier list.
    ServersListed(Vec<Server>),
    ServerChanged(Server),
    ServerContent(ServerContentEvent),
    /// The result of [`Command::FindImportSources`].
    ImportSourcesFound {
        query: QueryId,
        sources: Arc<Vec<ImportSource>>,
    },
    /// All stored decisions and pending tool changes; replaces the earlier list.
    TrustChanged(Arc<Vec<TrustEntry>>),
    /// The end of a task that the user left running, and the files of its result for the message.
    LeftTaskEnded {
        call: Box<ToolCall>,
        files: Vec<ReadAttachment>,
    },
    /// The reply to [`Command::ReadServerLog`].
    ServerLogRead(Arc<ServerLog>),
    SignIn(SignInEvent),
    ContextMeasured(ContextMeter),
    /// Earlier prompts, oldest first, and the unsent text of the last run. The draft stays on
    /// disk until the next [`Command::SaveDraft`].
    HistoryLoaded {
        prompts: Arc<Vec<String>>,
        draft: Option<UnsentText>,
    },
    /// The commands that the user ran last in earlier runs.
    RecentCommandsLoaded(RecentCommands),
    /// All banners; replaces the earlier ones.
    BannersChanged(Vec<Banner>),
    NoticePosted(Notice),
    /// A notice that waits until no other one is shown.
    LowPriorityNoticePosted(Notice),
    LogLineWritten(LogLine),
    /// The reply to [`Command::ShowReplyTrace`]; empty if there was no turn yet.
    ReplyTraceLoaded(Arc<Vec<TraceLine>>),
    /// The result of [`Command::CheckArguments`].
    ArgumentsChecked {
        query: QueryId,
        check: SchemaCheck,
    },
    /// The engine received an interrupt. A front end that does not get this within a second
    /// assumes that the engine is stuck.
    InterruptAcknowledged,
    /// The engine received a command to shut down.
    ShuttingDown,
    /// The last event.
    ShutDown,
}

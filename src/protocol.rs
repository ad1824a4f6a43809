//! The two channels. A front end sends commands and receives events; the engine
//! does the reverse; they share nothing else. Each question to the person is
//! data here, so that the screen, `--linear` and `humble ask` mean the same by it.

use crate::domain::tool::Tool;
use crate::domain::{
    Arguments, AskId, Banner, CallId, Decision, ModelRef, Notice, Prompt, QueryId, Server,
    ServerId, Session, SessionId, SessionSummary, ToolMode, TurnEvent, TurnId,
};
use serde::Serialize;
use std::sync::Arc;

/// Commands waiting for the engine; a front end that finds no room says so.
pub const COMMANDS_MAX: usize = 64;
/// Events waiting for the front end; the engine keeps the rest in its outbox.
pub const EVENTS_MAX: usize = 256;

/// What a front end asks of the engine. Everything answered is answered by an
/// [`Event`].
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// The front end mints the id: no round trip before the prompt is on screen.
    Submit {
        turn: TurnId,
        prompt: Prompt,
    },
    Answer {
        ask: AskId,
        answer: Answer,
    },
    Interrupt,
    /// Sends a request that waits for its next attempt at once.
    RetryNow,
    SelectModel(ModelRef),
    SetToolMode(ToolMode),
    ToggleServer(ServerId),
    ReconnectServer(ServerId),
    ToggleTool {
        server: ServerId,
        tool: String,
    },
    NewSession,
    ListSessions(QueryId),
    PreviewSession {
        query: QueryId,
        session: SessionId,
    },
    OpenSession(SessionId),
    DeleteSession(SessionId),
    /// What stood in the editor when the program was left.
    KeepDraft(String),
    Shutdown,
}

/// What the engine reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Turn(TurnId, TurnEvent),
    Asked {
        ask: AskId,
        owner: Owner,
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
    ModelsListed {
        models: Vec<ModelRef>,
        selected: Option<ModelRef>,
    },
    ToolModeChanged(ToolMode),
    /// The order of the sidebar, after a change of the list.
    ServersListed(Vec<Server>),
    /// One server's status and tools together.
    ServerChanged(Server),
    /// How full the context is.
    ContextMeasured(Meter),
    /// What is typed before: oldest first, and the draft of the last run.
    HistoryLoaded {
        prompts: Arc<Vec<String>>,
        draft: Option<String>,
    },
    /// All banners, replacing the earlier ones.
    BannersChanged(Vec<Banner>),
    Noticed(Notice),
    Logged(LogLine),
    /// Nothing follows.
    ShutDown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Meter {
    /// Tokens; the server's own count where `measured`, else our estimate.
    pub used: u64,
    pub limit: Option<u64>,
    pub measured: bool,
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
    Approve(Vec<ApproveCall>),
    /// A second call of this turn cannot be used as it was written (S5.5).
    Repair { raw: String, why: String },
    /// The model asks for more tools though a call of this turn failed (S5.5).
    AfterError { failed: CallId, wanted: Vec<String> },
    /// Nothing came from the model for so long (S5.10).
    Stalled { seconds: u64 },
    /// The bound on rounds was reached (S5.6).
    Bound { rounds: u32 },
    /// Ollama's context would have to grow further than it does unasked, in tokens
    /// (S2.7).
    GrowContext { estimate: u64, from: u64, to: u64 },
    /// The conversation is longer than the model takes, in tokens, by the settings or
    /// by its own word.
    TooLong {
        estimate: u64,
        limit: u64,
        is_configured: bool,
    },
}

/// One call in an approval, with what the dialog shows beside its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ApproveCall {
    pub call: CallId,
    /// Description, annotations and schema of the tool as it was offered.
    pub tool: Arc<Tool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Calls(Vec<(CallId, Decision)>),
    Choice(Choice),
    /// Closed without a choice: the safe one is taken.
    Dismissed,
}

/// What can be chosen where the question is not about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Tell the model again what is wrong and let it try.
    TellModel,
    /// Take the unreadable call as text of the answer.
    AsText,
    /// Run the failed call again.
    Retry,
    /// Let the model have the tools it asks for.
    GoOn,
    KeepWaiting,
    AskAgain,
    AsManyAgain,
    NoBound,
    /// Answer now with what there is.
    AnswerNow,
    /// Let the context grow.
    Grow,
    /// Send what will be cut.
    SendAnyway,
    /// End the turn.
    Stop,
}

/// One choice as a dialog lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: Choice,
    pub key: char,
    pub label: &'static str,
}

const fn row(choice: Choice, key: char, label: &'static str) -> ChoiceRow {
    ChoiceRow { choice, key, label }
}

impl Ask {
    /// The choices of a question that is not about calls, in order; digits from
    /// 1 on stand for the same. A letter means the same in every dialog, those
    /// about calls too: nobody stops a turn with a key that allows a tool elsewhere.
    pub fn choices(&self) -> &'static [ChoiceRow] {
        const REPAIR: &[ChoiceRow] = &[
            row(
                Choice::TellModel,
                'm',
                "Tell the model and let it try again",
            ),
            row(
                Choice::AsText,
                't',
                "Treat as text, the answer as it stands",
            ),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        const AFTER_ERROR: &[ChoiceRow] = &[
            row(Choice::Retry, 'r', "Run the failed call again"),
            row(Choice::GoOn, 'g', "Go on: let it use more tools"),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        const STALLED: &[ChoiceRow] = &[
            row(Choice::KeepWaiting, 'w', "Keep waiting"),
            row(Choice::AskAgain, 'r', "Drop the connection and ask again"),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        const BOUND: &[ChoiceRow] = &[
            row(Choice::AsManyAgain, 'g', "Go on for as many rounds again"),
            row(Choice::NoBound, 'b', "No bound for this turn"),
            row(Choice::AnswerNow, 'a', "Answer now with what there is"),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        const GROW: &[ChoiceRow] = &[
            row(Choice::Grow, 'g', "Let it grow"),
            row(
                Choice::SendAnyway,
                'c',
                "Send all the same, the oldest part is cut",
            ),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        const TOO_LONG: &[ChoiceRow] = &[
            row(
                Choice::SendAnyway,
                'c',
                "Send all the same, the oldest part is cut",
            ),
            row(Choice::Stop, 'n', "Stop this turn"),
        ];
        match self {
            Self::Approve(_) => &[],
            Self::GrowContext { .. } => GROW,
            Self::TooLong { .. } => TOO_LONG,
            Self::Repair { .. } => REPAIR,
            Self::AfterError { .. } => AFTER_ERROR,
            Self::Stalled { .. } => STALLED,
            Self::Bound { .. } => BOUND,
        }
    }
}

/// Whose question it is: it is closed when its owner ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    Job(Job),
    Server(ServerId),
    Program,
}

/// Work that holds a request to a model: at most one open request a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    Turn(TurnId),
}

/// Checks edited arguments as the engine will (S7.2 `e`).
///
/// # Errors
/// The first fault, in words for the person.
pub fn check_arguments(tool: &Tool, text: &str) -> Result<Arguments, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|fault| {
        // The parser counts bytes; a person counts characters.
        let line = text
            .lines()
            .nth(fault.line().saturating_sub(1))
            .unwrap_or_default();
        let before = line.floor_char_boundary(fault.column());
        let column = line[..before].chars().count();
        format!("not JSON at line {}, character {column}", fault.line())
    })?;
    let serde_json::Value::Object(arguments) = value else {
        return Err("arguments are a JSON object: { … }".to_owned());
    };
    tool.check(&arguments)?;
    Ok(arguments)
}

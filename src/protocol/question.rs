//! Questions to the user and their answers.

use super::unfinished::UnfinishedTurn;
use crate::domain::probe::ProbeReport;
use crate::domain::tool::Tool;
use crate::domain::{
    CallId, Decision, Dialect, ElicitationForm, ModelServer, PinChange, SampledAnswer,
    SamplingRequest, ServerId, SettingsChange, TurnId, UrlElicitation,
};
use serde::Serialize;
use std::sync::Arc;

/// A question to the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// These calls await approval. Their arguments were sent in earlier turn events.
    ApproveCalls(Vec<CallToApprove>),
    /// A call that cannot be used, after an earlier one of this turn was already reported to
    /// the model.
    UnusableCall {
        raw: String,
        why: String,
    },
    /// Which server a call means: several have the tool, and the call names none of them.
    ChooseServer {
        tool: String,
        servers: Vec<ServerId>,
        /// The call as the model wrote it.
        raw: String,
    },
    /// The model requests more tools although calls of this turn failed.
    AfterError {
        failed: CallId,
        requested_tools: Vec<String>,
    },
    /// The model has sent nothing for this many seconds.
    Stalled {
        seconds: u64,
    },
    RoundLimit {
        rounds: u32,
        /// The model was told to answer without tools, but requested some again.
        was_told_to_answer: bool,
    },
    /// Ollama's context must grow from `from` to `to` tokens, beyond the size that needs no
    /// consent, to fit a request of about `estimate` tokens.
    GrowContext {
        estimate: u64,
        from: u64,
        to: u64,
    },
    /// Whether to delete this model from the server's disk.
    RemoveModel {
        server: ModelServer,
        name: String,
        bytes: Option<u64>,
        /// It is the selected model.
        is_in_use: bool,
    },
    /// Shows the result of a probe and asks whether to save `to`, the recommended value of
    /// `toolCalls`, if there is one.
    SaveDialect {
        report: Arc<ProbeReport>,
        to: Option<Dialect>,
    },
    /// Whether to apply external edits to the settings files.
    ExternalEdit(Arc<Vec<SettingsChange>>),
    /// Whether to replace an outdated system prompt with the bundled one.
    ReplacePrompt {
        path: String,
        text: Arc<str>,
    },
    /// Whether to use this folder of notes and store it in `config.json`.
    UseNotesFolder {
        /// The absolute path, without symbolic links.
        folder: String,
        /// The folder in use.
        previous: Option<String>,
        /// It does not exist, so it is created.
        is_new: bool,
    },
    /// Whether to resume an unfinished turn of an earlier run.
    UnfinishedTurn(Box<UnfinishedTurn>),
    ConfirmDiscard {
        prompt: String,
    },
    /// Whether to accept the changed definition of a tool.
    PinChanged(Arc<PinChange>),
    /// A form that a server asks the user to fill in.
    FillForm {
        server: ServerId,
        form: Arc<ElicitationForm>,
    },
    /// A web page that a server asks the user to visit.
    VisitPage {
        server: ServerId,
        page: Arc<UrlElicitation>,
    },
    /// Whether the user is done on a page that a call requires; the call is then repeated.
    PageVisited {
        server: ServerId,
        host: String,
    },
    /// Whether to ask the model for an answer that a server requests.
    AskModel {
        server: ServerId,
        request: Arc<SamplingRequest>,
        /// The name of the model in the settings.
        model: String,
    },
    SendModelAnswer {
        server: ServerId,
        answer: Arc<SampledAnswer>,
    },
    SendInstructions {
        server: ServerId,
        text: Arc<str>,
    },
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
    /// The checked values of a form, to send to its server.
    Form(serde_json::Map<String, serde_json::Value>),
    /// The dialog was closed without a choice, which counts as the safe choice.
    Dismissed,
}

/// The choices of all questions except approvals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UserChoice {
    /// Report the error to the model and let it try again.
    TellModel,
    /// The call means the first server of the question.
    #[serde(rename = "server_1")]
    FirstServer,
    #[serde(rename = "server_2")]
    SecondServer,
    #[serde(rename = "server_3")]
    ThirdServer,
    #[serde(rename = "server_4")]
    FourthServer,
    /// Treat the unusable call as plain text of the answer.
    #[serde(rename = "as_text")]
    TreatAsText,
    /// Run the call again, after an error or a visit to the page that it requires.
    Retry,
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
    /// Send the request although the server will truncate the conversation.
    SendAnyway,
    /// Resume an unfinished turn.
    Resume,
    KeepForLater,
    Discard,
    /// End the turn; outside a turn, change nothing.
    Stop,
    Remove,
    /// Save the shown value in the settings and use it.
    Save,
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
    /// Send a server's instructions until the program ends.
    #[serde(rename = "send_once")]
    SendUntilExit,
    /// Edit the fields of a form.
    FillIn,
    /// Send the form, the request or the answer that is shown.
    Send,
    OpenPage,
    /// Agree to visit the page without opening it here.
    #[serde(rename = "visit_myself")]
    VisitMyself,
    CopyAddress,
    /// Refuse a server's request.
    Decline,
    /// Refuse all requests from a server until the conversation ends.
    DeclineAll,
    /// Close a server's request without a decision.
    CancelRequest,
}

impl Ask {
    /// The server whose request led to this question, if any.
    pub fn requesting_server(&self) -> Option<&ServerId> {
        match self {
            Self::FillForm { server, .. }
            | Self::VisitPage { server, .. }
            | Self::PageVisited { server, .. }
            | Self::AskModel { server, .. }
            | Self::SendModelAnswer { server, .. } => Some(server),
            _ => None,
        }
    }
}

/// The owner of a question. The question is closed when its owner ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOwner {
    Job(ModelJob),
    Server(ServerId),
    Program,
}

/// A job that sends requests to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelJob {
    Turn(TurnId),
    Probe,
}

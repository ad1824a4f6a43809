//! Questions to the user and their answers.

use crate::domain::tool::Tool;
use crate::domain::trust::DiffSign;
use crate::domain::{CallId, Decision, ElicitationForm, Notice, ServerId, TurnId};
use crate::text::Clean;
use serde::Serialize;
use std::sync::Arc;

/// A question to the user, as a document: the front ends show its blocks and choices, and know nothing
/// else about it. Written by the functions of [`crate::questions`].
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its name in the output of `--json`, such as `bound`.
    pub kind: &'static str,
    /// A few words, such as `Round limit`.
    pub title: Clean,
    /// The question itself, such as `Continue?`.
    pub prompt: &'static str,
    /// What the question is about. The first sentence says it.
    pub blocks: Vec<Block>,
    /// In the order of the digits that also select them; empty for approvals, which have their own
    /// keys. `y` means yes and `n` means no everywhere.
    pub choices: &'static [ChoiceRow],
    /// The choice made by `humble ask` where nobody can be asked. `None` if `humble ask` never
    /// decides it.
    pub default: Option<UserChoice>,
    /// Whether all blocks must have been shown before a choice that grants something works.
    pub read_first: bool,
    /// The server whose request led to this question, if any.
    pub server: Option<ServerId>,
    /// What [`UserChoice::CopyAddress`] copies.
    pub address: Option<String>,
}

/// A part of a question, below the part before it and separated by a blank row.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Our own words, in which names from outside are escaped.
    Paragraph(Clean),
    Notice(Notice),
    Warning(Clean),
    /// A text that is not ours, with a mark before each row, so that none can be mistaken for ours.
    Quoted {
        heading: Clean,
        text: Clean,
    },
    /// Indented text.
    Code {
        heading: Clean,
        text: Clean,
    },
    Diff {
        heading: Clean,
        lines: Vec<(DiffSign, Clean)>,
    },
    /// Labels and values. A value is wrapped, never cut.
    Pairs(Vec<(&'static str, Clean)>),
    /// Aligned rows, and the lines that replace them where they do not fit.
    Table {
        rows: Vec<Clean>,
        lines: Vec<Clean>,
    },
    /// Calls that await approval. Their arguments were sent in earlier turn events.
    Calls(Vec<CallToApprove>),
    /// The fields of a form that the user can fill in.
    Form(Arc<ElicitationForm>),
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

impl Question {
    /// The calls of an approval; empty for other questions.
    pub fn calls(&self) -> &[CallToApprove] {
        let calls = self.blocks.iter().find_map(|block| match block {
            Block::Calls(calls) => Some(calls.as_slice()),
            _ => None,
        });
        calls.unwrap_or_default()
    }

    pub fn form(&self) -> Option<&Arc<ElicitationForm>> {
        self.blocks.iter().find_map(|block| match block {
            Block::Form(form) => Some(form),
            _ => None,
        })
    }

    /// The first sentence of the first paragraph, on one line.
    pub fn summary(&self) -> String {
        let paragraph = self.blocks.iter().find_map(|block| match block {
            Block::Paragraph(text) => Some(text.as_str().replace('\n', " ")),
            _ => None,
        });
        let paragraph = paragraph.unwrap_or_default();
        let sentence = paragraph.split(". ").next().unwrap_or_default();
        format!("{}.", sentence.trim_end_matches([':', '.']))
    }
}

impl UserChoice {
    /// Whether it consents to something: to what a server or a file asks for, or to going on.
    pub fn grants(self) -> bool {
        !matches!(
            self,
            Self::Stop
                | Self::Decline
                | Self::DeclineAll
                | Self::CancelRequest
                | Self::Never
                | Self::KeepForLater
        ) && !self.is_for_screen()
    }

    /// Whether it answers nothing, but helps to answer on the screen.
    pub fn is_for_screen(self) -> bool {
        matches!(self, Self::FillIn | Self::CopyAddress)
    }
}

/// One choice of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: UserChoice,
    pub key: char,
    /// An older key that still works; a space if there is none.
    pub alias: char,
    /// A few words, for a row of choices.
    pub short: &'static str,
    pub label: &'static str,
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

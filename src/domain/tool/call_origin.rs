//! How a call reached the program, and why it may come from untrusted text.

use serde::Serialize;
use std::sync::Arc;

/// Whether the call came through the provider's API or was parsed from text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum CallOrigin {
    Native,
    /// `form` is the label shown in dialogs; `repaired` means that the call was invalid as
    /// written; `is_taught` means that the system message teaches this form.
    Text {
        form: &'static str,
        repaired: bool,
        #[serde(skip)]
        is_taught: bool,
    },
}

impl CallOrigin {
    /// The label of the form in which the model wrote the call.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Text { form, .. } => form,
        }
    }
}

/// The untrusted text that a call may come from, in most cases because the text already contained
/// the call. The user is always asked about such calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteSource {
    ToolResult,
    /// Input piped in with the prompt.
    Context,
    Notes,
    /// No untrusted text contains the call, but excerpts of notes were sent with the prompt, and
    /// only the tool mode would approve the call.
    ConsultedNotes,
    Attachment,
    /// An earlier message of a reopened conversation.
    Earlier,
    /// What a server says about itself and its tools, or one of its prompts.
    ServerText,
    /// The request contained more untrusted text than can be compared with calls.
    TooLong,
}

/// Where a call may have been copied from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedPassage {
    pub source: QuoteSource,
    /// The text around the place; empty if it is written in another way than in the call.
    pub text: Arc<str>,
}

impl QuoteSource {
    /// A predicate for a sentence about the call.
    pub fn clause(self) -> &'static str {
        match self {
            Self::ToolResult => "occurs in a tool result",
            Self::Context => "occurs in the piped-in text",
            Self::Notes => "occurs in your notes",
            Self::ConsultedNotes => "follows text from your notes",
            Self::Attachment => "occurs in an attached file",
            Self::Earlier => "occurs in an earlier message",
            Self::ServerText => "occurs in the text of a server",
            Self::TooLong => "may occur in the request, which is too long to search",
        }
    }
}

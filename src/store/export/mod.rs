//! Exports conversations as Markdown, JSON or HTML.

mod html;
mod write;

pub use write::{ExportError, write_export};

use crate::domain::session::MessageRole;
use crate::domain::{ExportFormat, ExportPart, Redactor, SavedMessage, Session};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// A part of a conversation as a file in this format, without the secrets that `redactor` knows.
pub fn render_session(
    session: &Session,
    format: ExportFormat,
    part: ExportPart,
    redactor: &Redactor,
) -> String {
    let messages = part.messages(session).map(|message| SavedMessage {
        role: message.role.clone(),
        content: redactor.redact_known_values(&message.content).into(),
        attachments: Vec::new(),
    });
    let exported = Exported {
        title: redactor.redact_known_values(&title(session)),
        model: &session.model,
        started_at: session.started_at,
        messages: messages.collect(),
        answers_only: part.answers_only,
    };
    match format {
        ExportFormat::Markdown => exported.markdown(),
        ExportFormat::Json => exported.json(),
        ExportFormat::Html => html::render(&exported),
    }
}

/// What a file contains, in any format.
struct Exported<'a> {
    /// In one line.
    title: String,
    model: &'a str,
    started_at: Option<Timestamp>,
    messages: Vec<SavedMessage>,
    answers_only: bool,
}

impl Exported<'_> {
    /// Headings name the speakers. Answers alone are separated by rules, so that a single one is
    /// exported exactly as the model wrote it.
    fn markdown(&self) -> String {
        if self.answers_only {
            let answers = self.messages.iter();
            let answers: Vec<&str> = answers.map(|message| message.content.trim_end()).collect();
            return format!("{}\n", answers.join("\n\n---\n\n"));
        }
        let mut out = format!("# {}\n", self.title);
        let subtitle = self.subtitle();
        if !subtitle.is_empty() {
            out += &format!("\n{subtitle}\n");
        }
        for message in &self.messages {
            let (speaker, text) = (self.speaker(message), message.content.trim_end());
            out += &format!("\n## {speaker}\n\n{text}\n");
        }
        out
    }

    /// An object in the format of session files, which this program and others can open.
    fn json(&self) -> String {
        let message = |message: &SavedMessage| json!({ "role": message.role.name(), "content": &*message.content });
        let messages: Vec<Value> = self.messages.iter().map(message).collect();
        let object = json!({
            "model": self.model,
            "startedAt": self.started_at.map(|at| at.to_string()),
            "messages": messages,
            "humble": { "title": self.title },
        });
        format!("{object:#}\n")
    }

    /// The model, and when the conversation began.
    fn subtitle(&self) -> String {
        let started_at = self.started_at.map(|at| {
            let at = at.to_zoned(TimeZone::system());
            at.strftime("%Y-%m-%d %H:%M").to_string()
        });
        let model = Some(one_line(self.model)).filter(|model| !model.is_empty());
        let parts: Vec<String> = model.into_iter().chain(started_at).collect();
        parts.join(" · ")
    }

    /// `You`, or the model of the conversation.
    fn speaker(&self, message: &SavedMessage) -> String {
        match &message.role {
            MessageRole::User => "You".to_owned(),
            MessageRole::Assistant if self.model.is_empty() => "Model".to_owned(),
            MessageRole::Assistant => one_line(self.model),
            MessageRole::Other(role) => one_line(role),
        }
    }
}

fn title(session: &Session) -> String {
    match one_line(session.title()) {
        title if title.is_empty() => "Conversation".to_owned(),
        title => title,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

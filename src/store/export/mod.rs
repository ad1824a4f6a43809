//! Exports conversations as Markdown, JSON or HTML.

mod html;
mod write;

pub use write::{ExportError, write_export};

use crate::domain::session::{CancelledTurn, MessageRole, StoredRecords};
use crate::domain::{ExportFormat, ExportPart, SecretRegistry, Session};
use crate::store::metadata;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::collections::HashSet;

/// A part of a conversation as a file in this format, without the secrets that `redactor` knows.
pub fn render_session(
    session: &Session,
    format: ExportFormat,
    part: ExportPart,
    secrets: &SecretRegistry,
) -> String {
    let turns = session.metadata.turns.iter();
    let stopped: HashSet<usize> = turns
        .filter(|turn| turn.is_stopped)
        .map(|turn| turn.message_index)
        .collect();
    let exported = ExportedConversation {
        title: secrets.redact_known_values(&title(session)),
        model: &session.model,
        started_at: session.started_at,
        messages: part
            .messages(session)
            .map(|(index, message)| ExportedMessage {
                role: message.role.clone(),
                text: secrets.redact_known_values(&message.content),
                mark: match stopped.contains(&index) {
                    true => " (stopped)",
                    false => "",
                },
            })
            .collect(),
        cancelled: cancelled_turns(session, part, secrets),
        answers_only: part.answers_only,
    };
    match format {
        ExportFormat::Markdown => exported.markdown(),
        ExportFormat::Json => exported.json(),
        ExportFormat::Html => html::render(&exported),
    }
}

/// The cancelled turns of the part, without calls and attachments. Their positions count from the
/// first message of the part.
fn cancelled_turns(
    session: &Session,
    part: ExportPart,
    secrets: &SecretRegistry,
) -> Vec<CancelledTurn> {
    let first = part.first_message(session);
    let cancelled = part.cancelled_turns(session).map(|turn| CancelledTurn {
        cancelled_at: turn.cancelled_at,
        messages_before: turn.messages_before.saturating_sub(first),
        prompt: secrets.redact_known_values(&turn.prompt),
        attachments: Vec::new(),
        partial_answer: secrets.redact_known_values(&turn.partial_answer),
        calls: Vec::new(),
        was_interrupted: turn.was_interrupted,
        replaced_turns: turn.replaced_turns,
    });
    cancelled.collect()
}

#[derive(Clone)]
struct ExportedMessage {
    role: MessageRole,
    text: String,
    /// A suffix such as ` (stopped)` for an incomplete answer; empty for a complete one.
    mark: &'static str,
}

struct ExportedConversation<'a> {
    /// On one line.
    title: String,
    model: &'a str,
    started_at: Option<Timestamp>,
    messages: Vec<ExportedMessage>,
    /// Shown between the messages in Markdown and HTML; a session file keeps them separately.
    cancelled: Vec<CancelledTurn>,
    answers_only: bool,
}

impl ExportedConversation<'_> {
    /// Headings name the speakers. Answers alone are separated by rules, so that a single one is
    /// exported exactly as the model wrote it.
    fn markdown(&self) -> String {
        if self.answers_only {
            let answers = self.messages.iter();
            let answers: Vec<&str> = answers.map(|message| message.text.trim_end()).collect();
            return format!("{}\n", answers.join("\n\n---\n\n"));
        }
        let mut out = format!("# {}\n", self.title);
        let subtitle = self.subtitle();
        if !subtitle.is_empty() {
            out += &format!("\n{subtitle}\n");
        }
        for message in self.with_cancelled() {
            let (speaker, text) = (self.speaker(&message), message.text.trim_end());
            out += &format!("\n## {speaker}\n\n{text}\n");
        }
        out
    }

    /// An object in the format of session files, which this program and others can open.
    fn json(&self) -> String {
        let message = |message: &ExportedMessage| json!({ "role": message.role.name(), "content": message.text });
        let messages: Vec<Value> = self.messages.iter().map(message).collect();
        let mut object = json!({
            "model": self.model,
            "startedAt": self.started_at.map(|at| at.to_string()),
            "messages": messages,
            "humble": { "title": self.title },
        });
        let mut records = StoredRecords::default();
        self.cancelled
            .iter()
            .for_each(|turn| records.push(turn.clone()));
        if let Some(cancelled) = metadata::cancelled_turns_to_json(&records) {
            object["humble"][metadata::CANCELLED] = cancelled;
        }
        format!("{object:#}\n")
    }

    /// The messages in the order of the chat, with the prompts and the text of cancelled turns.
    fn with_cancelled(&self) -> impl Iterator<Item = ExportedMessage> {
        let at = |index: usize| {
            let is_here = move |turn: &&CancelledTurn| turn.messages_before == index;
            self.cancelled.iter().filter(is_here).flat_map(|turn| {
                let prompt = ExportedMessage {
                    role: MessageRole::User,
                    text: turn.prompt.clone(),
                    mark: "",
                };
                let answer = ExportedMessage {
                    role: MessageRole::Assistant,
                    text: turn.partial_answer.clone(),
                    mark: match turn.was_interrupted {
                        true => " (interrupted)",
                        false => " (cancelled)",
                    },
                };
                [prompt, answer]
            })
        };
        let count = self.messages.len();
        let messages = self.messages.iter().cloned().enumerate();
        messages
            .flat_map(move |(index, message)| at(index).chain([message]))
            .chain(at(count))
    }

    fn subtitle(&self) -> String {
        let started_at = self.started_at.map(|at| {
            let at = at.to_zoned(TimeZone::system());
            at.strftime("%Y-%m-%d %H:%M").to_string()
        });
        let model = Some(one_line(self.model)).filter(|model| !model.is_empty());
        let parts: Vec<String> = model.into_iter().chain(started_at).collect();
        parts.join(" · ")
    }

    fn speaker(&self, message: &ExportedMessage) -> String {
        let name = match &message.role {
            MessageRole::User => "You".to_owned(),
            MessageRole::Assistant if self.model.is_empty() => "Model".to_owned(),
            MessageRole::Assistant => one_line(self.model),
            MessageRole::Other(role) => one_line(role),
        };
        name + message.mark
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

//! The prompt-injection guard. It keeps all text that a model has seen and that is neither the user's,
//! the model's nor ours, and finds the passage from which a call may have been copied. It knows no tools
//! and no forms of calls: a call is compared with the texts when it is made.

mod kept_text;
mod kept_texts;

use crate::domain::server::BUILT_IN_SERVER;
use crate::domain::{
    Arguments, Message, OfferedTool, QuoteSource, QuotedPassage, Server, ServerId, Session,
    SessionId, Tool, Toolset,
};
use kept_text::{CallWords, KeptText};
use kept_texts::KeptTexts;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of sessions, besides the open one, whose texts are kept.
const SESSIONS_MAX: usize = 4;
/// Maximum bytes of messages kept when a session is opened, newest first.
const MESSAGES_BYTES_MAX: usize = 1 << 20;

/// The untrusted texts of one conversation, shared by all that add to them. In memory only.
#[derive(Debug, Clone, Default)]
pub struct InjectionGuard(Arc<Mutex<KeptTexts>>);

impl InjectionGuard {
    fn texts(&self) -> MutexGuard<'_, KeptTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Vec<Arc<KeptText>> {
        self.texts().snapshot()
    }

    pub fn keep(&self, source: QuoteSource, text: &str) {
        self.texts().add(KeptText::new(source, text));
    }

    /// Keeps the untrusted part of a request: all that is neither the model's own nor `typed`, the
    /// prompts as the user typed them. `prompt` is the message of the current prompt, whose other text
    /// comes from `source`.
    pub fn keep_request(
        &self,
        messages: &[Message],
        (prompt, source): (&Message, QuoteSource),
        typed: &HashSet<&str>,
    ) {
        let prompt_index = messages.iter().rposition(|message| message == prompt);
        for (index, message) in messages.iter().enumerate() {
            let source = match prompt_index {
                Some(prompt) if index > prompt => QuoteSource::ToolResult,
                Some(prompt) if index == prompt => source,
                _ => QuoteSource::Attachment,
            };
            match message {
                // See `keep_definitions`; the rest of the system message is trusted or kept apart.
                Message::System(_) | Message::Assistant(_) | Message::ToolCalls { .. } => {}
                Message::User(text) | Message::UserWithImages { text, .. } => {
                    self.keep(source, &without_typed(text, typed));
                }
                Message::ToolResult(result) => {
                    // The first line is ours, and names the tool.
                    let (_, text) = result.content.split_once('\n').unwrap_or_default();
                    self.keep(source, text);
                }
            }
        }
    }

    /// Keeps the definitions of the tools that a request offers, except our own.
    pub fn keep_definitions(&self, offered: &Toolset) {
        let mut texts = self.texts();
        let is_untrusted = |tool: &&OfferedTool| tool.server.as_str() != BUILT_IN_SERVER;
        for tool in offered.tools().iter().filter(is_untrusted) {
            texts.add(KeptText::definition(&tool.server, &tool.tool));
        }
    }

    /// Keeps the instructions that servers may add to the system message.
    pub fn keep_instructions(&self, servers: &[Server]) {
        let mut texts = self.texts();
        for server in servers {
            let instructions = server.instructions.as_deref().unwrap_or_default();
            texts.add(KeptText::instructions(&server.id, instructions));
        }
    }

    /// Normalizes the texts for [`Self::find`]. Takes linear time for new texts, so it belongs on a
    /// blocking thread.
    pub fn prepare(&self) {
        for text in self.snapshot() {
            text.normalized();
        }
    }

    /// The passage from which a call may have been copied: a text with the tool's name and every value
    /// of the arguments.
    pub fn find(
        &self,
        server: &ServerId,
        tool: &Tool,
        arguments: &Arguments,
    ) -> Option<QuotedPassage> {
        let (texts, call) = (self.snapshot(), CallWords::new(tool, arguments));
        let mut passages = texts.iter().map(|text| text.passage_of(server, &call));
        passages.find_map(std::convert::identity)
    }
}

/// The text without what the user typed. If nothing of it was typed, that is all of it.
fn without_typed(text: &str, typed: &HashSet<&str>) -> String {
    if typed.contains(text) {
        return String::new();
    }
    let contained = typed.iter().filter(|typed| text.contains(**typed));
    match contained.max_by_key(|typed| typed.len()) {
        Some(typed) => text.replacen(typed, "\n", 1),
        None => text.to_owned(),
    }
}

/// The guards of the open session and of those opened before it.
#[derive(Debug, Default)]
pub(super) struct SessionGuards {
    current: InjectionGuard,
    /// Oldest first. Session files contain no tool results, so in a reopened session this is how calls
    /// that were copied from them are found.
    others: Vec<(SessionId, InjectionGuard)>,
}

impl SessionGuards {
    pub(super) fn current(&self) -> &InjectionGuard {
        &self.current
    }

    /// Stores the guard of the open session before another one replaces it.
    pub(super) fn leave_session(&mut self, session: &Session) {
        let guard = std::mem::take(&mut self.current);
        if let Some(id) = &session.id {
            self.others.retain(|(other, _)| other != id);
            self.others.push((id.clone(), guard));
            if self.others.len() > SESSIONS_MAX {
                self.others.remove(0);
            }
        }
    }

    /// Restores the guard of an opened session, and keeps its messages: they may contain untrusted
    /// text, such as piped input.
    pub(super) fn enter_session(&mut self, session: &Session) {
        let id = session.id.as_ref();
        let kept_index = self.others.iter().position(|(other, _)| id == Some(other));
        self.current = kept_index
            .map(|index| self.others.remove(index).1)
            .unwrap_or_default();
        let mut bytes = 0;
        let messages = session.messages.iter().rev();
        let texts = messages.flat_map(|message| {
            let files = message.attachments.iter().filter_map(|file| file.text());
            std::iter::once(&message.content).chain(files)
        });
        let newest: Vec<_> = texts
            .take_while(|text| {
                bytes += text.len();
                bytes <= MESSAGES_BYTES_MAX
            })
            .collect();
        for text in newest.into_iter().rev() {
            self.current.keep(QuoteSource::Earlier, text);
        }
    }
}

#[cfg(test)]
mod tests;

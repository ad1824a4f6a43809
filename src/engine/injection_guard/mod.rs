//! The prompt-injection guard. It keeps all text that a model has seen and that is neither the user's,
//! the model's nor ours, and finds the passage from which a call may have been copied. It knows no tools
//! and no forms of calls: a call is compared with the texts when it is made.

mod kept_text;
mod kept_texts;

use crate::domain::server::BUILT_IN_SERVER;
use crate::domain::{
    Arguments, Message, OfferedTool, QuoteSource, QuotedPassage, Server, Session, SessionId,
    Toolset,
};
use crate::engine::trust::INSTRUCTIONS_BYTES_MAX;
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
        if !text.trim().is_empty() {
            self.texts().add(text, || KeptText::new(source, text));
        }
    }

    /// Keeps a text that the user has in the message, and may send in another conversation.
    pub fn keep_of_message(&self, source: QuoteSource, text: &str) {
        let make = || KeptText::new(source, text).in_message();
        self.texts().add(text, make);
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
        self.texts().begin_request();
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
                    self.keep(source, without_typed(text, typed));
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
            let identity = (tool.server.as_str(), tool.tool.pin.as_str());
            texts.add(identity, || KeptText::definition(&tool.server, &tool.tool));
        }
    }

    /// Keeps the instructions that servers may add to the system message.
    pub fn keep_instructions(&self, servers: &[Server]) {
        let mut texts = self.texts();
        for server in servers {
            let instructions = server.instructions.as_deref().unwrap_or_default();
            // No request contains longer ones.
            if !instructions.is_empty() && instructions.len() <= INSTRUCTIONS_BYTES_MAX {
                let make = || KeptText::of_server(&server.id, instructions);
                texts.add((server.id.as_str(), instructions), make);
            }
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
    /// of the arguments. Without an excerpt if the request had more text than can be kept.
    pub fn find(&self, tool: &OfferedTool, arguments: &Arguments) -> Option<QuotedPassage> {
        let (texts, call) = (self.snapshot(), CallWords::new(tool, arguments));
        let passages = texts
            .iter()
            .map(|text| text.passage_of(&tool.server, &call));
        let is_incomplete = self.texts().is_incomplete();
        let unknown = is_incomplete.then(|| QuotedPassage {
            source: QuoteSource::TooLong,
            text: Arc::default(),
        });
        passages.chain([unknown]).flatten().next()
    }
}

/// A user's message without its beginning, if the user typed that. Files and piped input follow it.
fn without_typed<'a>(text: &'a str, typed: &HashSet<&str>) -> &'a str {
    let rests = typed.iter().filter_map(|typed| text.strip_prefix(typed));
    rests.min_by_key(|rest| rest.len()).unwrap_or(text)
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
        let next = InjectionGuard(Arc::new(Mutex::new(self.current.texts().of_message())));
        let guard = std::mem::replace(&mut self.current, next);
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
        if let Some(index) = kept_index {
            let (_, kept) = self.others.remove(index);
            for text in self.current.snapshot() {
                kept.texts().add_shared(text.as_str(), || Arc::clone(&text));
            }
            self.current = kept;
        }
        let mut room = MESSAGES_BYTES_MAX;
        let branches = session.branches.iter().map(|branch| &branch.messages);
        let messages = [&session.messages].into_iter().chain(branches);
        let newest_first = messages.flat_map(|messages| messages.iter().rev());
        let texts = newest_first.flat_map(|message| {
            let files = message.attachments.iter().filter_map(|file| file.text());
            std::iter::once(&message.content).chain(files)
        });
        let kept = texts.map(|text| {
            let start = text.ceil_char_boundary(text.len().saturating_sub(room));
            room -= text.len() - start;
            &text[start..]
        });
        // The oldest is dropped first.
        for text in kept.collect::<Vec<_>>().into_iter().rev() {
            self.current.keep(QuoteSource::Earlier, text);
        }
    }
}

#[cfg(test)]
mod tests;

//! Previews of sessions that are not open: the beginning, or the first place where a search word
//! occurs.

use super::sessions::{read_file, unreadable};
use super::{SessionStore, StoreError, format};
use crate::domain::session::{CancelledTurn, MessageRole};
use crate::domain::{SavedMessage, SessionId, SessionPreview};
use crate::text::term_matches::term_matches;

const MESSAGES_MAX: usize = 64;
const MESSAGE_BYTES_MAX: usize = 2_048;
const EXCERPT_BYTES: usize = 240;
const EXCERPT_BYTES_BEFORE: usize = 60;
/// Text kept before a match in a long message.
const BYTES_BEFORE_MATCH: usize = 512;

impl SessionStore {
    /// The messages from the first turn that contains one of the `terms`, or from the beginning if
    /// none does. The terms must be folded.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn preview(&self, id: &SessionId, terms: &[String]) -> Result<SessionPreview, StoreError> {
        let bytes = read_file(&self.path(id)?, id)?;
        let mut window = PreviewWindow::default();
        let keep = |message: &mut SavedMessage| {
            window.add(message, terms);
            false
        };
        let session = format::parse_session(id, &bytes, keep).map_err(|why| unreadable(id, why))?;
        window.add_cancelled(session.metadata.cancelled.iter(), terms);
        let has_match = window.has_match;
        let (messages, skipped) = match has_match || terms.is_empty() {
            true => (window.messages, window.skipped),
            false => (window.first_messages, 0),
        };
        Ok(SessionPreview {
            session: id.clone(),
            messages,
            skipped,
        })
    }
}

impl SessionStore {
    /// The text around the first place where one of the folded `terms` occurs, on one line. `None`
    /// if the session cannot be read or contains none of them.
    pub fn excerpt(&self, id: &SessionId, terms: &[String]) -> Option<String> {
        let bytes = read_file(&self.path(id).ok()?, id).ok()?;
        let mut excerpt = None;
        let keep = |message: &mut SavedMessage| {
            if excerpt.is_none() {
                let found = term_matches(&message.content, terms);
                excerpt = found
                    .first()
                    .map(|found| line_around(&message.content, found.start));
            }
            false
        };
        let session = format::parse_session(id, &bytes, keep).ok()?;
        excerpt.or_else(|| {
            let mut cancelled = session.metadata.cancelled.iter();
            cancelled.find_map(|turn| {
                let texts = [&turn.prompt, &turn.partial_answer];
                texts.into_iter().find_map(|text| {
                    let start = term_matches(text, terms).first()?.start;
                    Some(line_around(text, start))
                })
            })
        })
    }
}

/// Part of a text around `offset`, with whitespace collapsed.
fn line_around(text: &str, offset: usize) -> String {
    let earliest = text.floor_char_boundary(offset.saturating_sub(EXCERPT_BYTES_BEFORE));
    let start = match text[earliest..offset].find(char::is_whitespace) {
        Some(space) if earliest > 0 => earliest + space,
        _ => earliest,
    };
    let end = text.floor_char_boundary(start + EXCERPT_BYTES);
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", words.join(" "))
}

/// Collects the messages of a preview while the file is read.
#[derive(Default)]
struct PreviewWindow {
    /// Until a match is found: the current turn; then everything from its prompt on. Without search
    /// words: everything.
    messages: Vec<SavedMessage>,
    /// The number of messages before `messages`.
    skipped: usize,
    has_match: bool,
    /// The beginning of the session, for searches that match only its title.
    first_messages: Vec<SavedMessage>,
}

impl PreviewWindow {
    fn add(&mut self, message: &SavedMessage, terms: &[String]) {
        let first_match = match self.has_match || terms.is_empty() {
            true => None,
            false => term_matches(&message.content, terms).first().cloned(),
        };
        if !terms.is_empty() && !self.has_match {
            if self.first_messages.len() < MESSAGES_MAX {
                self.first_messages.push(truncated(message, 0));
            }
            if message.role == MessageRole::User {
                self.skipped += self.messages.len();
                self.messages.clear();
            }
        }
        self.has_match |= first_match.is_some();
        if self.messages.len() < MESSAGES_MAX {
            let match_start = first_match.map_or(0, |found| found.start);
            self.messages.push(truncated(message, match_start));
        }
    }

    /// Inserts the cancelled turns between the messages. If no message contains a term, shows
    /// instead the first cancelled turn that does.
    fn add_cancelled<'a>(
        &mut self,
        turns: impl DoubleEndedIterator<Item = &'a CancelledTurn>,
        terms: &[String],
    ) {
        if !self.has_match && !terms.is_empty() {
            let mut found = turns.filter_map(|turn| {
                let messages = cancelled_messages(turn);
                let starts = messages.iter().map(|message| {
                    let found = term_matches(&message.content, terms);
                    found.first().map(|found| found.start)
                });
                let starts: Vec<Option<usize>> = starts.collect();
                let shown = messages.iter().zip(&starts);
                let shown = shown.map(|(message, start)| truncated(message, start.unwrap_or(0)));
                let is_match = starts.iter().any(Option::is_some);
                is_match.then(|| (shown.collect(), turn.messages_before))
            });
            if let Some((messages, skipped)) = found.next() {
                (self.messages, self.skipped, self.has_match) = (messages, skipped, true);
            }
            return;
        }
        for turn in turns.rev() {
            let index = turn.messages_before.checked_sub(self.skipped);
            if let Some(index) = index.filter(|index| *index <= self.messages.len()) {
                let messages = cancelled_messages(turn);
                let messages = messages.iter().map(|message| truncated(message, 0));
                self.messages.splice(index..index, messages);
            }
        }
        self.messages.truncate(MESSAGES_MAX);
    }
}

fn cancelled_messages(turn: &CancelledTurn) -> Vec<SavedMessage> {
    let mut messages = vec![SavedMessage::user(turn.prompt.as_str())];
    if !turn.partial_answer.trim().is_empty() {
        let answer = format!("{}\n\n(cancelled)", turn.partial_answer.trim_end());
        messages.push(SavedMessage::assistant(answer.as_str()));
    }
    messages
}

/// At most [`MESSAGE_BYTES_MAX`] bytes of the message, including those at `match_start`.
fn truncated(message: &SavedMessage, match_start: usize) -> SavedMessage {
    let text = &message.content;
    let start = match match_start > MESSAGE_BYTES_MAX / 2 {
        // Markdown before this line is lost, but a line is likely to begin a block.
        true => {
            let earliest = text.floor_char_boundary(match_start - BYTES_BEFORE_MATCH);
            let line_end = text[earliest..match_start].find('\n');
            line_end.map_or(earliest, |at| earliest + at + 1)
        }
        false => 0,
    };
    let end = text.floor_char_boundary(start + MESSAGE_BYTES_MAX);
    if start == 0 && end == text.len() {
        return message.clone();
    }
    let mark = if start > 0 { "…\n" } else { "" };
    SavedMessage {
        role: message.role.clone(),
        content: format!("{mark}{}", &text[start..end]).into(),
        attachments: message.attachments.clone(),
    }
}

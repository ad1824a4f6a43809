//! State of the current conversation: title, session file, privacy, branches and last turn.

use crate::domain::{Prompt, PromptKind, Session, SessionId, TurnEnd};

#[derive(Debug, Default)]
pub struct Conversation {
    pub title: String,
    pub session: Option<SessionId>,
    /// Private conversations are never saved.
    pub private: bool,
    pub branched: bool,
    /// `/undo` removed a turn.
    pub taken_back: bool,
    /// The number typed after `/branches`, applied once the list of branches arrives.
    pub wants_branch: Option<String>,
    /// Set while the running turn is meant to replace the last one.
    pub replacing: Option<Replacing>,
    pub last_turn: Option<Prompt>,
    /// The token limit truncated the last answer.
    pub cut: bool,
}

/// A running turn that replaces the previous one once it is answered.
#[derive(Debug)]
pub struct Replacing {
    /// Notice shown once the replacement is answered.
    pub kept: &'static str,
    /// Title the conversation would have had from the replaced turn.
    pub title: String,
}

impl Conversation {
    /// Resets the state for a newly opened session.
    pub fn open(&mut self, session: &Session) {
        self.title = session.title().to_owned();
        self.session = session.id.clone();
        self.branched = !session.branches.is_empty();
        self.taken_back = false;
        self.replacing = None;
        self.last_turn = None;
        self.cut = false;
    }

    pub fn last_prompt(&self) -> Option<&str> {
        self.last_turn.as_ref().map(Prompt::typed)
    }

    /// Updates title and truncation from the end of a turn.
    pub fn turn_ended(&mut self, end: &TurnEnd) {
        let answered = matches!(end, TurnEnd::Answered { .. });
        let replaces = self.replacing.is_some();
        let Some(prompt) = &self.last_turn else {
            return;
        };
        // Same title as in the session file.
        if answered && self.title.is_empty() {
            title_of(prompt.typed()).clone_into(&mut self.title);
        }
        self.cut = match end {
            TurnEnd::Answered { cut, .. } => *cut,
            // The truncated answer is still the last one.
            _ => self.cut && (replaces || prompt.kind == PromptKind::Continue),
        };
    }
}

/// The title for a conversation: the first non-blank line of its first prompt.
pub fn title_of(prompt: &str) -> &str {
    let first = prompt.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim()
}

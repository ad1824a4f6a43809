//! The conversation as a whole: its title and file, whether it is private, its branches and
//! its last turn.

use crate::domain::{Prompt, PromptKind, Session, SessionId, TurnEnd};

#[derive(Debug, Default)]
pub struct ConversationState {
    pub title: String,
    pub session: Option<SessionId>,
    /// Nothing of this conversation is saved.
    pub is_private: bool,
    /// It has other branches.
    pub has_branches: bool,
    /// A turn of it was taken back.
    pub has_undone_turn: bool,
    /// A number behind `/branches`, which picks from the list once it is here.
    pub requested_branch: Option<String>,
    /// Set while a turn is under way that is to replace the last one.
    pub replacement: Option<ReplacementTurn>,
    /// The prompt of the last turn.
    pub last_turn: Option<Prompt>,
    /// The last answer was cut by the limit of tokens.
    pub cut: bool,
}

/// A turn that takes another one's place once it is answered.
#[derive(Debug)]
pub struct ReplacementTurn {
    /// What is said then.
    pub notice: &'static str,
    /// The title that the other one would give the conversation.
    pub title: String,
}

impl ConversationState {
    /// Another conversation is here.
    pub fn open(&mut self, session: &Session) {
        self.title = session.title().to_owned();
        self.session = session.id.clone();
        self.has_branches = !session.branches.is_empty();
        self.has_undone_turn = false;
        self.replacement = None;
        self.last_turn = None;
        self.cut = false;
    }

    /// What the user typed for the last turn.
    pub fn last_prompt(&self) -> Option<&str> {
        self.last_turn.as_ref().map(Prompt::typed_text)
    }

    /// Takes in how the last turn ended.
    pub fn turn_ended(&mut self, end: &TurnEnd) {
        let answered = matches!(end, TurnEnd::Answered { .. });
        let replaces = self.replacement.is_some();
        let Some(prompt) = &self.last_turn else {
            return;
        };
        // The title that the session's file will have.
        if answered && self.title.is_empty() {
            title_of(prompt.typed_text()).clone_into(&mut self.title);
        }
        self.cut = match end {
            TurnEnd::Answered {
                is_truncated: cut, ..
            } => *cut,
            // The answer that was cut is still the last one.
            _ => self.cut && (replaces || prompt.kind == PromptKind::Continue),
        };
    }
}

/// The first line of a first prompt.
pub fn title_of(prompt: &str) -> &str {
    let first = prompt.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim()
}

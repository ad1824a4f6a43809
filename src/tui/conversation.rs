//! The conversation as a whole: its title and file, whether it is private, its branches and
//! its last turn.

use crate::domain::{Prompt, PromptKind, Session, SessionId, TurnEnd};

#[derive(Debug, Default)]
pub struct Conversation {
    pub title: String,
    pub session: Option<SessionId>,
    /// Nothing of this conversation is saved.
    pub private: bool,
    /// It has other branches.
    pub branched: bool,
    /// A turn of it was taken back.
    pub taken_back: bool,
    /// A number behind `/branches`, which picks from the list once it is here.
    pub wants_branch: Option<String>,
    /// Set while a turn is under way that is to replace the last one.
    pub replacing: Option<Replacing>,
    /// The prompt of the last turn.
    pub last_turn: Option<Prompt>,
    /// The last answer was cut by the limit of tokens.
    pub cut: bool,
}

/// A turn that takes another one's place once it is answered.
#[derive(Debug)]
pub struct Replacing {
    /// What is said then.
    pub kept: &'static str,
    /// The title that the other one would give the conversation.
    pub title: String,
}

impl Conversation {
    /// Another conversation is here.
    pub fn open(&mut self, session: &Session) {
        self.title = session.title().to_owned();
        self.session = session.id.clone();
        self.branched = !session.branches.is_empty();
        self.taken_back = false;
        self.replacing = None;
        self.last_turn = None;
        self.cut = false;
    }

    /// What the user typed for the last turn.
    pub fn last_prompt(&self) -> Option<&str> {
        self.last_turn.as_ref().map(Prompt::typed)
    }

    /// Takes in how the last turn ended.
    pub fn turn_ended(&mut self, end: &TurnEnd) {
        let answered = matches!(end, TurnEnd::Answered { .. });
        let replaces = self.replacing.is_some();
        let Some(prompt) = &self.last_turn else {
            return;
        };
        // The title that the session's file will have.
        if answered && self.title.is_empty() {
            title_of(prompt.typed()).clone_into(&mut self.title);
        }
        self.cut = match end {
            TurnEnd::Answered { cut, .. } => *cut,
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

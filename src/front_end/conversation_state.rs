//! State of the current conversation: title, session file, privacy, branches and last turn.

use crate::domain::{Prompt, PromptKind, Session, SessionId, TurnEnd, TurnId};

#[derive(Debug, Default)]
pub struct ConversationState {
    /// The conversation named on the command line, or that of a resumed turn, is not open yet, so
    /// prompts wait for it.
    pub is_opening: bool,
    pub title: String,
    pub title_source: TitleSource,
    /// The text to find once this session is open.
    pub find_when_opened: Option<(SessionId, String)>,
    pub session: Option<SessionId>,
    /// Private conversations are never saved.
    pub is_private: bool,
    /// The user asked to end private mode within this conversation.
    pub ends_private: bool,
    pub has_branches: bool,
    /// Whether `/undo` has removed a turn since the session was opened.
    pub has_undone_turn: bool,
    /// Set until the list of branches arrives.
    pub requested_branch: Option<BranchRequest>,
    /// The number of the prompt to select again once another branch is shown.
    pub reselected_prompt: Option<usize>,
    /// Set while the running turn is meant to replace the last one.
    pub replacement: Option<ReplacementTurn>,
    pub last_prompt: Option<Prompt>,
    /// A summary that was requested and has not started yet.
    pub requested_summary: Option<TurnId>,
    /// The last answer is incomplete and can be continued: the token limit truncated it, or the user
    /// stopped it.
    pub is_last_answer_truncated: bool,
}

/// Where the title comes from, which decides whether an answered prompt replaces it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum TitleSource {
    /// No prompt is answered: the title, if any, comes from a stopped or undone turn.
    #[default]
    Unanswered,
    FirstAnswered,
    User,
}

/// Why the list of branches was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchRequest {
    /// `/branches` with its argument.
    Any(String),
    /// The branches of the selected message.
    OfMessage,
}

/// A running turn that replaces the last one once the model has answered it.
#[derive(Debug)]
pub struct ReplacementTurn {
    /// Notice shown once the replacement is answered.
    pub notice: &'static str,
    /// The title that the conversation got from the prompt of the replaced turn.
    pub title: String,
}

impl ConversationState {
    /// The title, or `None` if the conversation is private or was never saved. Until an answer sets
    /// the title, the first line of the last prompt serves as title.
    pub fn saved_title(&self) -> Option<String> {
        let is_saved = self.session.is_some() && !self.is_private;
        let title = || match (self.title.as_str(), self.last_prompt_text()) {
            ("", Some(prompt)) => title_of(prompt).to_owned(),
            (title, _) => title.to_owned(),
        };
        is_saved.then(title)
    }

    /// Resets the state for a newly opened session.
    pub fn open(&mut self, session: &Session) {
        self.is_opening = false;
        self.title = session.title().to_owned();
        self.title_source = match (&session.metadata.title, session.last_prompt_index()) {
            (Some(_), _) => TitleSource::User,
            (None, Some(_)) => TitleSource::FirstAnswered,
            (None, None) => TitleSource::Unanswered,
        };
        self.session = session.id.clone();
        self.has_branches = !session.branches.is_empty();
        self.has_undone_turn = false;
        self.replacement = None;
        self.last_prompt = None;
        self.requested_summary = None;
        self.is_last_answer_truncated = session.is_last_answer_stopped();
    }

    /// Handles a save. `stopped_prompt` is the first prompt with a partial answer, which gives the
    /// session file its title until another one is answered.
    pub fn saved(&mut self, session: SessionId, stopped_prompt: Option<&str>) {
        self.session = Some(session);
        if let Some(prompt) = stopped_prompt.filter(|_| self.title.is_empty()) {
            title_of(prompt).clone_into(&mut self.title);
        }
    }

    pub fn set_title(&mut self, title: String) {
        self.title = title;
        self.title_source = TitleSource::User;
    }

    pub fn last_prompt_text(&self) -> Option<&str> {
        self.last_prompt.as_ref().map(Prompt::typed_text)
    }

    /// Updates title and truncation from the end of a turn. A stopped turn may be answered.
    pub fn turn_ended(&mut self, end: &TurnEnd, is_answered: bool) {
        let is_replacement = self.replacement.is_some();
        let Some(prompt) = &self.last_prompt else {
            return;
        };
        // The store derives the title of the session file in the same way.
        if is_answered && self.title_source == TitleSource::Unanswered {
            title_of(prompt.typed_text()).clone_into(&mut self.title);
            self.title_source = TitleSource::FirstAnswered;
        }
        self.is_last_answer_truncated = match end {
            TurnEnd::Answered { is_truncated, .. } => *is_truncated,
            _ if is_answered => true,
            // A failed replacement or continuation leaves the truncated answer in place.
            _ => {
                let keeps_last_answer = is_replacement || prompt.kind == PromptKind::Continue;
                self.is_last_answer_truncated && keeps_last_answer
            }
        };
    }
}

/// The title that a prompt gives its conversation: its first non-blank line.
pub fn title_of(prompt: &str) -> &str {
    let first_line = prompt.lines().find(|line| !line.trim().is_empty());
    first_line.unwrap_or_default().trim()
}

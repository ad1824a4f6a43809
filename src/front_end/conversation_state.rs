//! State of the current conversation: title, session file, privacy, branches and last turn.

use crate::domain::{
    EntryBody, LastPrompt, Notice, Prompt, PromptKind, Session, SessionId, Transcript, TurnEnd,
    TurnId,
};

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

    /// The last prompt again: as a replacement of its turn, or, if that is not part of the
    /// conversation, as another attempt.
    pub fn retried_prompt(&self, transcript: &Transcript, text: String) -> Prompt {
        match self.replacement_prompt(transcript, text) {
            prompt if prompt.kind == PromptKind::Ask => prompt.with_kind(PromptKind::Retry),
            replacement => replacement,
        }
    }

    /// A prompt that replaces the last turn if that was answered or was itself a replacement. The
    /// conversation stays unchanged until the new answer arrives.
    pub fn replacement_prompt(&self, transcript: &Transcript, text: String) -> Prompt {
        let mut prompt = Prompt::new(text);
        let last = self.last_prompt.as_ref();
        prompt.bypasses_agents =
            last.is_some_and(|last| last.bypasses_agents && last.text == prompt.text);
        // A failed continuation belongs to the answer above it.
        let has_answer = |last: LastPrompt| last.is_answered || last.kind == PromptKind::Continue;
        // A retry of a failed replacement replaces the same turns.
        let replaced_by_last = transcript.turns_replaced_by_last();
        let is_replacement =
            transcript.last_prompt().is_some_and(has_answer) || replaced_by_last.is_some();
        match transcript.last_typed_prompt().filter(|_| is_replacement) {
            Some(_) => prompt.replacing(replaced_by_last.unwrap_or(1)),
            None => prompt,
        }
    }

    /// Updates the state from the end of a turn. A stopped turn may be answered. Returns the notice
    /// about earlier turns that it replaced.
    pub fn turn_ended(
        &mut self,
        turn: TurnId,
        end: &TurnEnd,
        transcript: &Transcript,
    ) -> Option<Notice> {
        let prompt = self.last_prompt.as_ref()?;
        let is_answered = transcript.is_answered(turn);
        let is_replacement = prompt.kind == PromptKind::Replace;
        let has_title = match self.title_source {
            TitleSource::Unanswered => false,
            // A title that came from the replaced prompt follows the new one.
            TitleSource::FirstAnswered => !is_replacement || !is_first_prompt(prompt, transcript),
            TitleSource::User => true,
        };
        // The store derives the title of the session file in the same way.
        if is_answered && !has_title {
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
        let has_replaced = is_replacement && is_answered;
        self.has_branches |= has_replaced;
        has_replaced.then(|| Notice::info("Earlier branch kept in /branches."))
    }
}

fn is_first_prompt(prompt: &Prompt, transcript: &Transcript) -> bool {
    let first = transcript.entries().first().map(|entry| &entry.body);
    matches!(first, Some(EntryBody::Prompt { text, .. }) if text == prompt.typed_text())
}

/// The title that a prompt gives its conversation: its first non-blank line.
pub fn title_of(prompt: &str) -> &str {
    let first_line = prompt.lines().find(|line| !line.trim().is_empty());
    first_line.unwrap_or_default().trim()
}

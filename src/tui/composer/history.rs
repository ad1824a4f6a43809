//! Prompt history, and the position of Up and Down in it.

/// Maximum number of prompts in the history.
const HISTORY_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct InputHistory {
    prompts: Vec<String>,
    /// How many of the newest prompts were typed in the private conversation.
    private_count: usize,
    position: Option<usize>,
    /// Unsent text from before the user pressed Up.
    stashed_text: String,
}

impl InputHistory {
    pub fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Prepends the prompts of earlier runs.
    pub fn load(&mut self, earlier: &[String]) {
        let room = HISTORY_MAX.saturating_sub(self.prompts.len());
        let newest = &earlier[earlier.len().saturating_sub(room)..];
        self.prompts.splice(0..0, newest.iter().cloned());
    }

    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        self.position = None;
        if self.prompts.last().is_some_and(|last| last == prompt) {
            return;
        }
        self.prompts.push(prompt.to_owned());
        if self.prompts.len() > HISTORY_MAX {
            self.prompts.remove(0);
        }
        self.private_count += usize::from(is_private);
    }

    /// Resets the position to the end.
    pub fn reset_position(&mut self) {
        self.position = None;
    }

    /// The recalled prompt.
    pub fn recalled(&self) -> Option<&str> {
        self.prompts.get(self.position?).map(String::as_str)
    }

    /// The unsent text from before the recall.
    pub fn stashed_text(&self) -> Option<&str> {
        self.position.map(|_| self.stashed_text.as_str())
    }

    /// Steps back. `typed` returns the text in the editor.
    pub fn step_back(&mut self, typed: impl FnOnce() -> String) -> Option<&str> {
        let at = self.position.unwrap_or(self.prompts.len()).checked_sub(1)?;
        if self.position.is_none() {
            self.stashed_text = typed();
        }
        self.position = Some(at);
        self.recalled()
    }

    /// Steps forward; after the last prompt, returns the unsent text.
    pub fn step_forward(&mut self) -> Option<HistoryStep<'_>> {
        let at = self.position? + 1;
        if at < self.prompts.len() {
            self.position = Some(at);
            return self.recalled().map(HistoryStep::Prompt);
        }
        self.position = None;
        Some(HistoryStep::Stashed(std::mem::take(&mut self.stashed_text)))
    }

    /// Removes private prompts from the history. If one of them is in the editor, returns
    /// the unsent text to restore.
    pub fn forget_private(&mut self, message: &str) -> Option<String> {
        let private = std::mem::take(&mut self.private_count);
        let mut typed = None;
        if private > 0 && self.position.is_some() {
            let shows = self.recalled() == Some(message);
            self.position = None;
            typed = shows.then(|| std::mem::take(&mut self.stashed_text));
        }
        let kept = self.prompts.len().saturating_sub(private);
        self.prompts.truncate(kept);
        typed
    }
}

#[derive(Debug)]
pub enum HistoryStep<'a> {
    Prompt(&'a str),
    Stashed(String),
}

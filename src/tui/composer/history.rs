//! Prompt history, and the current position within it.

/// Maximum number of prompts in the history.
const HISTORY_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct InputHistory {
    prompts: Vec<String>,
    /// The number of prompts at the end that were typed in the private conversation.
    private_count: usize,
    /// Index of the recalled prompt; `None` if none is recalled.
    position: Option<usize>,
    /// Unsent text that a recalled prompt replaced. Kept while the recalled prompt is edited.
    stashed_text: String,
}

impl InputHistory {
    pub fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Prepends the prompts of earlier runs.
    pub fn load(&mut self, earlier: &[String]) {
        let count_max = HISTORY_MAX.saturating_sub(self.prompts.len());
        let newest = &earlier[earlier.len().saturating_sub(count_max)..];
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

    /// The unsent text from before the user pressed Up; `None` if no prompt is recalled.
    pub fn stashed_text(&self) -> Option<&str> {
        self.position.map(|_| self.stashed_text.as_str())
    }

    /// Keeps an unsent text that a found prompt replaces, unless a recalled prompt is being replaced.
    pub fn stash(&mut self, unsent: String) {
        if self.position.is_none() {
            self.stashed_text = unsent;
        }
    }

    /// Takes the unsent text that a recalled prompt replaced, if no prompt equals it.
    pub fn take_stashed(&mut self) -> Option<String> {
        let stashed = std::mem::take(&mut self.stashed_text);
        (!stashed.trim().is_empty() && !self.prompts.contains(&stashed)).then_some(stashed)
    }

    /// Steps to the previous prompt. `unsent` returns the text in the editor.
    pub fn step_back(&mut self, unsent: impl FnOnce() -> String) -> Option<&str> {
        let index = self.position.unwrap_or(self.prompts.len()).checked_sub(1)?;
        if self.position.is_none() {
            self.stashed_text = unsent();
        }
        self.position = Some(index);
        self.recalled()
    }

    /// Steps to the next prompt, or from the last one to the unsent text.
    pub fn step_forward(&mut self) -> Option<HistoryStep<'_>> {
        let index = self.position? + 1;
        if index < self.prompts.len() {
            self.position = Some(index);
            return self.recalled().map(HistoryStep::Prompt);
        }
        self.position = None;
        Some(HistoryStep::Stashed(std::mem::take(&mut self.stashed_text)))
    }

    /// Removes private prompts from the history. If one of them is in the editor, returns
    /// the unsent text to restore.
    pub fn remove_private(&mut self, message: &str) -> Option<String> {
        let private_count = std::mem::take(&mut self.private_count);
        let mut unsent = None;
        if private_count > 0 && self.position.is_some() {
            let is_in_editor = self.recalled() == Some(message);
            self.position = None;
            unsent = is_in_editor.then(|| std::mem::take(&mut self.stashed_text));
        }
        if private_count > 0 {
            self.stashed_text.clear();
        }
        let kept = self.prompts.len().saturating_sub(private_count);
        self.prompts.truncate(kept);
        unsent
    }
}

#[derive(Debug)]
pub enum HistoryStep<'a> {
    Prompt(&'a str),
    Stashed(String),
}

//! Prompt history, and the current position within it.

use std::collections::BTreeMap;

const HISTORY_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct InputHistory {
    prompts: Vec<String>,
    /// The number of prompts at the end that were typed in the private conversation.
    private_count: usize,
    /// Index of the recalled prompt; `None` if none is recalled.
    position: Option<usize>,
    /// The recalled prompt was found by a search, so the next step forward leads to the unsent text.
    is_found: bool,
    /// Unsent text that a recalled prompt replaced. Kept while the recalled prompt is edited.
    stashed_text: String,
    /// Recalled prompts that were edited, by index. As in shells, they stay so until a text is sent.
    edits: BTreeMap<usize, String>,
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
        // The recalled prompt and the edits stay with their prompts.
        let shift = |index: usize| index + newest.len();
        self.position = self.position.map(shift);
        let edits = std::mem::take(&mut self.edits).into_iter();
        self.edits = edits.map(|(index, text)| (shift(index), text)).collect();
    }

    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        self.reset_position();
        if self.prompts.last().is_some_and(|last| last == prompt) {
            return;
        }
        self.prompts.push(prompt.to_owned());
        if self.prompts.len() > HISTORY_MAX {
            self.prompts.remove(0);
        }
        self.private_count += usize::from(is_private);
    }

    /// Resets the position to the end, and drops edits of recalled prompts.
    pub fn reset_position(&mut self) {
        self.position = None;
        self.is_found = false;
        self.edits.clear();
    }

    /// The recalled prompt without its edits.
    pub fn recalled(&self) -> Option<&str> {
        self.prompts.get(self.position?).map(String::as_str)
    }

    /// The unsent text from before the user pressed Up; `None` if no prompt is recalled.
    pub fn stashed_text(&self) -> Option<&str> {
        self.position.map(|_| self.stashed_text.as_str())
    }

    /// Recalls a prompt that a search found. `typed` is the text in the editor, which it replaces.
    pub fn recall(&mut self, prompt: &str, typed: String) {
        self.keep(typed);
        self.position = self.prompts.iter().rposition(|other| other == prompt);
        self.is_found = self.position.is_some();
    }

    /// Takes the unsent text that a recalled prompt replaced, if no prompt equals it.
    pub fn take_stashed(&mut self) -> Option<String> {
        let stashed = std::mem::take(&mut self.stashed_text);
        (!stashed.trim().is_empty() && !self.prompts.contains(&stashed)).then_some(stashed)
    }

    /// Steps to the previous prompt. `typed` returns the text in the editor.
    pub fn step_back(&mut self, typed: impl FnOnce() -> String) -> Option<&str> {
        let index = self.position.unwrap_or(self.prompts.len()).checked_sub(1)?;
        self.keep(typed());
        self.position = Some(index);
        self.is_found = false;
        self.edited_or_recalled()
    }

    /// Steps to the next prompt, or to the unsent text from the last prompt and from a found one.
    pub fn step_forward(&mut self, typed: impl FnOnce() -> String) -> Option<HistoryStep<'_>> {
        let index = self.position? + 1;
        self.keep(typed());
        let was_found = std::mem::take(&mut self.is_found);
        if index < self.prompts.len() && !was_found {
            self.position = Some(index);
            return self.edited_or_recalled().map(HistoryStep::Prompt);
        }
        self.position = None;
        Some(HistoryStep::Stashed(std::mem::take(&mut self.stashed_text)))
    }

    /// Keeps the text in the editor at the current position.
    fn keep(&mut self, typed: String) {
        match self.position {
            None => self.stashed_text = typed,
            Some(index) if self.recalled() == Some(&*typed) => {
                self.edits.remove(&index);
            }
            Some(index) => {
                self.edits.insert(index, typed);
            }
        }
    }

    fn edited_or_recalled(&self) -> Option<&str> {
        let edited = self.edits.get(&self.position?);
        edited.map(String::as_str).or_else(|| self.recalled())
    }

    /// Removes private prompts from the history. If one of them is in the editor, returns
    /// the unsent text to restore.
    pub fn remove_private(&mut self, message: &str) -> Option<String> {
        let private_count = std::mem::take(&mut self.private_count);
        let mut unsent = None;
        self.edits.clear();
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

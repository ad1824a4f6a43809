//! Prompt history, and the position of Up and Down in it.

/// Maximum number of prompts in the history.
const HISTORY_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct History {
    prompts: Vec<String>,
    /// How many of the newest prompts were typed in the private conversation.
    private: usize,
    at: Option<usize>,
    /// Unsent text from before the user pressed Up.
    aside: String,
}

impl History {
    pub fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Prepends the prompts of earlier runs.
    pub fn load(&mut self, earlier: &[String]) {
        self.prompts.splice(0..0, earlier.iter().cloned());
    }

    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        self.at = None;
        if self.prompts.last().is_some_and(|last| last == prompt) {
            return;
        }
        self.prompts.push(prompt.to_owned());
        if self.prompts.len() > HISTORY_MAX {
            self.prompts.remove(0);
        }
        self.private += usize::from(is_private);
    }

    /// Resets the position to the end.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// The recalled prompt.
    pub fn recalled(&self) -> Option<&str> {
        self.prompts.get(self.at?).map(String::as_str)
    }

    /// The unsent text from before the recall.
    pub fn aside(&self) -> Option<&str> {
        self.at.map(|_| self.aside.as_str())
    }

    /// Steps back. `typed` returns the text in the editor.
    pub fn earlier(&mut self, typed: impl FnOnce() -> String) -> Option<&str> {
        let at = self.at.unwrap_or(self.prompts.len()).checked_sub(1)?;
        if self.at.is_none() {
            self.aside = typed();
        }
        self.at = Some(at);
        self.recalled()
    }

    /// Steps forward; after the last prompt, returns the unsent text.
    pub fn later(&mut self) -> Option<Later<'_>> {
        let at = self.at? + 1;
        if at < self.prompts.len() {
            self.at = Some(at);
            return self.recalled().map(Later::Prompt);
        }
        self.at = None;
        Some(Later::Typed(std::mem::take(&mut self.aside)))
    }

    /// Removes private prompts from the history. If one of them is in the editor, returns
    /// the unsent text to restore.
    pub fn forget_private(&mut self, message: &str) -> Option<String> {
        let private = std::mem::take(&mut self.private);
        let mut typed = None;
        if private > 0 && self.at.is_some() {
            let shows = self.recalled() == Some(message);
            self.at = None;
            typed = shows.then(|| std::mem::take(&mut self.aside));
        }
        let kept = self.prompts.len().saturating_sub(private);
        self.prompts.truncate(kept);
        typed
    }
}

#[derive(Debug)]
pub enum Later<'a> {
    Prompt(&'a str),
    Typed(String),
}

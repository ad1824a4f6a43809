//! The prompts that were typed before, and where Up and Down are in them.

/// Prompts kept for Up and Down.
const HISTORY_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub struct History {
    prompts: Vec<String>,
    /// How many of the last were typed in the private conversation.
    private: usize,
    at: Option<usize>,
    /// What was being typed when the walk began.
    aside: String,
}

impl History {
    pub fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Puts the prompts of earlier runs before those of this one.
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

    /// Up and Down begin anew.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// The prompt that Up or Down brought into the message.
    pub fn recalled(&self) -> Option<&str> {
        self.prompts.get(self.at?).map(String::as_str)
    }

    /// What was being typed before a prompt was recalled.
    pub fn aside(&self) -> Option<&str> {
        self.at.map(|_| self.aside.as_str())
    }

    /// The prompt before; `typed` is what stands in the message.
    pub fn earlier(&mut self, typed: impl FnOnce() -> String) -> Option<&str> {
        let at = self.at.unwrap_or(self.prompts.len()).checked_sub(1)?;
        if self.at.is_none() {
            self.aside = typed();
        }
        self.at = Some(at);
        self.recalled()
    }

    /// The prompt after, and behind the last what was being typed.
    pub fn later(&mut self) -> Option<Later<'_>> {
        let at = self.at? + 1;
        if at < self.prompts.len() {
            self.at = Some(at);
            return self.recalled().map(Later::Prompt);
        }
        self.at = None;
        Some(Later::Typed(std::mem::take(&mut self.aside)))
    }

    /// What was asked in private is not to be found by Up any more. Returns what was being
    /// typed where such a prompt is in the message.
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

/// Where Down leads.
#[derive(Debug)]
pub enum Later<'a> {
    Prompt(&'a str),
    Typed(String),
}

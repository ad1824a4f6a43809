//! The kill ring: texts that were deleted by word, by line or by cutting, and can be inserted again.

use std::collections::VecDeque;

const TEXTS_MAX: usize = 60;
/// The oldest texts are dropped above this size. The newest is kept whatever its size.
const TEXTS_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Default)]
pub struct KillRing {
    /// Raw texts, newest first, with their sizes including their chips.
    texts: VecDeque<(String, usize)>,
    /// Index of the text that was yanked last.
    current: usize,
}

impl KillRing {
    pub fn push(&mut self, text: String, bytes: usize) {
        self.texts.push_front((text, bytes));
        self.drop_old();
    }

    /// Adds to the newest text: at its start if text to the left of the cursor was killed.
    pub fn join(&mut self, text: &str, bytes: usize, is_left: bool) {
        let Some((newest, newest_bytes)) = self.texts.front_mut() else {
            return self.push(text.to_owned(), bytes);
        };
        newest.insert_str(if is_left { 0 } else { newest.len() }, text);
        *newest_bytes += bytes;
        self.drop_old();
    }

    fn drop_old(&mut self) {
        self.current = 0;
        let mut bytes: usize = self.texts.iter().map(|(_, bytes)| bytes).sum();
        while self.texts.len() > 1 && (bytes > TEXTS_BYTES_MAX || self.texts.len() > TEXTS_MAX) {
            bytes -= self.texts.pop_back().map_or(0, |(_, bytes)| bytes);
        }
    }

    pub fn newest(&mut self) -> Option<String> {
        self.current = 0;
        Some(self.texts.front()?.0.clone())
    }

    /// The text before the one returned last; after the oldest, the newest.
    pub fn earlier(&mut self) -> Option<String> {
        self.current = (self.current + 1) % self.texts.len().max(1);
        Some(self.texts.get(self.current)?.0.clone())
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|(text, _)| text.as_str())
    }
}

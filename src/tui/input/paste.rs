//! Telling pasted text from typed text where the terminal does not: its keys come faster
//! than anyone types.

use std::time::Duration;

/// A gap between keys that nobody types in.
const BURST_GAP: Duration = Duration::from_millis(3);
/// How long an Enter right behind a burst of text waits: more text makes it a line end of a
/// paste.
const ENTER_HOLD_TIME: Duration = Duration::from_millis(15);

#[derive(Debug, Default)]
pub struct PasteDetector {
    last_text: Option<Duration>,
    /// An Enter that may turn out to be a line end of a paste.
    held_enter_at: Option<Duration>,
    is_pasting: bool,
}

impl PasteDetector {
    /// One character was typed.
    pub fn char_typed(&mut self, now: Duration) {
        self.end_paste_after_pause(now);
        self.last_text = Some(now);
    }

    /// Text came as one burst of keys. True where a held Enter turned out to be a line end
    /// before it.
    pub fn burst(&mut self, text: &str, now: Duration) -> bool {
        let had_enter = self.held_enter_at.take().is_some();
        match had_enter {
            true => self.is_pasting = true,
            false => self.end_paste_after_pause(now),
        }
        self.is_pasting |= text.contains('\n');
        self.last_text = Some(now);
        had_enter
    }

    /// After a pause the next text is no part of an earlier paste.
    fn end_paste_after_pause(&mut self, now: Duration) {
        self.is_pasting &= self
            .last_text
            .is_some_and(|last| now <= last + ENTER_HOLD_TIME);
    }

    pub fn hold_enter(&mut self, now: Duration) {
        self.held_enter_at = Some(now);
    }

    /// Takes a held Enter, if there is one.
    pub fn take_held_enter(&mut self) -> bool {
        self.held_enter_at.take().is_some()
    }

    /// A held Enter was a line end.
    pub fn line_ended(&mut self, now: Duration) {
        self.is_pasting = true;
        self.last_text = Some(now);
    }

    /// When a held Enter sends.
    pub fn enter_due_at(&self) -> Option<Duration> {
        self.held_enter_at.map(|since| since + ENTER_HOLD_TIME)
    }

    /// Did text come just now, faster than anyone could follow it with Enter?
    pub fn should_hold_enter(&self, now: Duration) -> bool {
        !self.is_pasting && self.text_within(BURST_GAP, now)
    }

    pub fn is_pasting(&self, now: Duration) -> bool {
        self.is_pasting && self.text_within(ENTER_HOLD_TIME, now)
    }

    fn text_within(&self, gap: Duration, now: Duration) -> bool {
        self.last_text
            .is_some_and(|last| now.saturating_sub(last) <= gap)
    }
}

//! Telling pasted text from typed text where the terminal does not: its keys come faster
//! than anyone types.

use std::time::Duration;

/// A gap between keys that nobody types in.
const BURST_GAP: Duration = Duration::from_millis(3);
/// How long an Enter right behind a burst of text waits: more text makes it a line end of a
/// paste.
const ENTER_HELD: Duration = Duration::from_millis(15);

#[derive(Debug, Default)]
pub struct PasteDetector {
    last_text: Option<Duration>,
    /// An Enter that may turn out to be a line end of a paste.
    enter: Option<Duration>,
    pasting: bool,
}

impl PasteDetector {
    /// One character was typed.
    pub fn typed(&mut self, now: Duration) {
        self.pause(now);
        self.last_text = Some(now);
    }

    /// Text came as one burst of keys. True where a held Enter turned out to be a line end
    /// before it.
    pub fn burst(&mut self, text: &str, now: Duration) -> bool {
        let had_enter = self.enter.take().is_some();
        match had_enter {
            true => self.pasting = true,
            false => self.pause(now),
        }
        self.pasting |= text.contains('\n');
        self.last_text = Some(now);
        had_enter
    }

    /// After a pause the next text is no part of an earlier paste.
    fn pause(&mut self, now: Duration) {
        self.pasting &= self.last_text.is_some_and(|last| now <= last + ENTER_HELD);
    }

    pub fn hold_enter(&mut self, now: Duration) {
        self.enter = Some(now);
    }

    /// Takes a held Enter, if there is one.
    pub fn take_enter(&mut self) -> bool {
        self.enter.take().is_some()
    }

    /// A held Enter was a line end.
    pub fn line_ended(&mut self, now: Duration) {
        self.pasting = true;
        self.last_text = Some(now);
    }

    /// When a held Enter sends.
    pub fn due(&self) -> Option<Duration> {
        self.enter.map(|since| since + ENTER_HELD)
    }

    /// Did text come just now, faster than anyone could follow it with Enter?
    pub fn holds_enter(&self, now: Duration) -> bool {
        !self.pasting && self.came_within(BURST_GAP, now)
    }

    pub fn is_pasting(&self, now: Duration) -> bool {
        self.pasting && self.came_within(ENTER_HELD, now)
    }

    fn came_within(&self, gap: Duration, now: Duration) -> bool {
        self.last_text
            .is_some_and(|last| now.saturating_sub(last) <= gap)
    }
}

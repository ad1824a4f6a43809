//! Detects pastes by timing in terminals without bracketed paste: their keys arrive faster
//! than anyone types.

use std::time::Duration;

/// Maximum gap between pasted keys; typing is slower.
const BURST_GAP: Duration = Duration::from_millis(3);
/// How long an Enter directly after a burst is held. If more text arrives, the Enter was a
/// newline of the paste.
const ENTER_HELD: Duration = Duration::from_millis(15);

#[derive(Debug, Default)]
pub struct PasteDetector {
    last_text: Option<Duration>,
    /// Time of a held Enter, which may be a newline of a paste.
    enter: Option<Duration>,
    pasting: bool,
}

impl PasteDetector {
    pub fn typed(&mut self, now: Duration) {
        self.pause(now);
        self.last_text = Some(now);
    }

    /// Records a burst of text. Returns true if a held Enter was a newline before it.
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

    /// After a pause, new text is not part of an earlier paste.
    fn pause(&mut self, now: Duration) {
        self.pasting &= self.last_text.is_some_and(|last| now <= last + ENTER_HELD);
    }

    pub fn hold_enter(&mut self, now: Duration) {
        self.enter = Some(now);
    }

    /// Clears a held Enter and returns whether there was one.
    pub fn take_enter(&mut self) -> bool {
        self.enter.take().is_some()
    }

    /// Records that a held Enter was a newline of the paste.
    pub fn line_ended(&mut self, now: Duration) {
        self.pasting = true;
        self.last_text = Some(now);
    }

    /// When a held Enter submits the message.
    pub fn due(&self) -> Option<Duration> {
        self.enter.map(|since| since + ENTER_HELD)
    }

    /// Whether text arrived so recently that an Enter now must be part of the same input.
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

//! Detects pastes by timing in terminals without bracketed paste: pasted keys arrive faster
//! than anyone types.

use std::time::Duration;

/// Maximum gap between pasted keys. Nobody types this fast.
const BURST_GAP_MAX: Duration = Duration::from_millis(3);
/// How long an Enter directly after a burst is held. If more text arrives, the Enter was a
/// newline of the paste.
const ENTER_HOLD_TIME: Duration = Duration::from_millis(15);

#[derive(Debug, Default)]
pub struct PasteDetector {
    last_text_at: Option<Duration>,
    /// Time of a held Enter, which may be a newline of a paste.
    held_enter_at: Option<Duration>,
    is_pasting: bool,
}

impl PasteDetector {
    /// Records a single typed character.
    pub fn char_typed(&mut self, now: Duration) {
        self.end_paste_after_pause(now);
        self.last_text_at = Some(now);
    }

    /// Records a burst of text. Returns true if a held Enter came before the burst; the Enter is
    /// then a newline of the same paste.
    pub fn burst_typed(&mut self, text: &str, now: Duration) -> bool {
        let had_held_enter = self.held_enter_at.take().is_some();
        match had_held_enter {
            true => self.is_pasting = true,
            false => self.end_paste_after_pause(now),
        }
        self.is_pasting |= text.contains('\n');
        self.last_text_at = Some(now);
        had_held_enter
    }

    fn end_paste_after_pause(&mut self, now: Duration) {
        self.is_pasting &= self
            .last_text_at
            .is_some_and(|last| now <= last + ENTER_HOLD_TIME);
    }

    /// Holds an Enter until it is clear whether more text follows.
    pub fn hold_enter(&mut self, now: Duration) {
        self.held_enter_at = Some(now);
    }

    /// Clears a held Enter and returns whether there was one.
    pub fn take_held_enter(&mut self) -> bool {
        self.held_enter_at.take().is_some()
    }

    /// Records that a held Enter was a newline of a paste.
    pub fn newline_pasted(&mut self, now: Duration) {
        self.is_pasting = true;
        self.last_text_at = Some(now);
    }

    /// When a held Enter will submit the message unless more text arrives.
    pub fn enter_due_at(&self) -> Option<Duration> {
        self.held_enter_at.map(|held_at| held_at + ENTER_HOLD_TIME)
    }

    /// Whether an Enter at `now` may belong to a paste, because text arrived just before it. False
    /// during a paste that was already detected.
    pub fn should_hold_enter(&self, now: Duration) -> bool {
        !self.is_pasting && self.had_text_within(BURST_GAP_MAX, now)
    }

    pub fn is_pasting(&self, now: Duration) -> bool {
        self.is_pasting && self.had_text_within(ENTER_HOLD_TIME, now)
    }

    fn had_text_within(&self, gap: Duration, now: Duration) -> bool {
        self.last_text_at
            .is_some_and(|last| now.saturating_sub(last) <= gap)
    }
}

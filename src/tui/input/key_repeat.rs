//! Distinguishes a held key from repeated presses.

use crossterm::event::KeyCode;
use std::time::Duration;

/// A key that may still be held down. Most terminals do not distinguish repeats from
/// presses, and the first repeat can arrive after a dialog starts to accept keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRepeatGuard {
    code: KeyCode,
    pressed_at: Duration,
    last_event_at: Duration,
    /// Maximum delay between the press and its first repeat.
    delay_max: Duration,
}

impl KeyRepeatGuard {
    const REPEAT_DELAY_MAX: Duration = Duration::from_millis(900);
    const REPEAT_GAP_MAX: Duration = Duration::from_millis(200);

    /// A guard for the next dialog, where a repeat would be an answer.
    pub fn new(code: KeyCode, now: Duration) -> Self {
        Self::with_delay(code, now, Self::REPEAT_DELAY_MAX)
    }

    /// A guard for which a press after `delay_max` is not the first repeat.
    pub fn with_delay(code: KeyCode, now: Duration, delay_max: Duration) -> Self {
        Self {
            code,
            pressed_at: now,
            last_event_at: now,
            delay_max,
        }
    }

    /// Like [`Self::record_press`]. A repeat that the terminal reports as such always counts.
    pub fn is_repeat(&mut self, code: KeyCode, now: Duration, is_reported: bool) -> bool {
        self.record_press(code, now) || is_reported && code == self.code
    }

    /// Records a press of `code` at `now`. Returns whether it counts as a repeat of this key.
    pub fn record_press(&mut self, code: KeyCode, now: Duration) -> bool {
        if code != self.code {
            return false;
        }
        let gap = now.saturating_sub(self.last_event_at);
        self.last_event_at = now;
        gap < Self::REPEAT_GAP_MAX || now.saturating_sub(self.pressed_at) < self.delay_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn held_key_is_always_a_repeat() {
        let mut guard = KeyRepeatGuard::new(KeyCode::Char('y'), ms(0));
        for millis in (620..5_000).step_by(25) {
            assert!(
                guard.record_press(KeyCode::Char('y'), ms(millis)),
                "{millis}"
            );
        }
    }

    #[test]
    fn another_key_or_a_press_after_a_pause_is_not_a_repeat() {
        let mut guard = KeyRepeatGuard::new(KeyCode::Char('y'), ms(0));
        assert!(!guard.record_press(KeyCode::Char('n'), ms(600)));
        assert!(guard.record_press(KeyCode::Char('y'), ms(700)));
        assert!(!guard.record_press(KeyCode::Char('y'), ms(1_000)));
    }
}

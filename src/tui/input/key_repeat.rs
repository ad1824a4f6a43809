//! Telling a key that is held down from one that is pressed again.

use crossterm::event::KeyCode;
use std::time::Duration;

/// A key that may still be held down: most terminals do not tell a repeat from a
/// press, and the first repeat comes later than a dialog takes to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRepeatGuard {
    code: KeyCode,
    since: Duration,
    last: Duration,
}

impl KeyRepeatGuard {
    /// From a press on, a repeat of it comes within this time.
    const REPEAT_DELAY_MAX: Duration = Duration::from_millis(900);
    /// Repeats follow each other within this time.
    const REPEAT_GAP_MAX: Duration = Duration::from_millis(200);

    pub fn new(code: KeyCode, at: Duration) -> Self {
        Self {
            code,
            since: at,
            last: at,
        }
    }

    /// Is a press of `code` at `at` to be taken for this key, still held down?
    pub fn is_repeat(&mut self, code: KeyCode, at: Duration) -> bool {
        if code != self.code {
            return false;
        }
        let gap = at.saturating_sub(self.last);
        self.last = at;
        gap < Self::REPEAT_GAP_MAX || at.saturating_sub(self.since) < Self::REPEAT_DELAY_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Duration {
        Duration::from_millis(at)
    }

    #[test]
    fn held_key_is_always_a_repeat() {
        let mut held = KeyRepeatGuard::new(KeyCode::Char('y'), ms(0));
        for at in (620..5_000).step_by(25) {
            assert!(held.is_repeat(KeyCode::Char('y'), ms(at)), "{at}");
        }
    }

    #[test]
    fn same_key_counts_after_a_pause_and_another_key_at_once() {
        let mut held = KeyRepeatGuard::new(KeyCode::Char('y'), ms(0));
        assert!(!held.is_repeat(KeyCode::Char('n'), ms(600)));
        assert!(held.is_repeat(KeyCode::Char('y'), ms(700)));
        assert!(!held.is_repeat(KeyCode::Char('y'), ms(1_000)));
    }
}

//! Keys that were meant for a dialog or a list that has just closed. They must not act on what is
//! below it, and must not become text.

use crate::tui::input::decode::{latin_key, normalize_key, typed_char};
use crate::tui::input::key_repeat::KeyRepeatGuard;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// How long after something closed a key may still be meant for it.
const LATE_KEY_TIME: Duration = Duration::from_millis(300);
/// How long after a digit that chose in a list the user may still press Enter to confirm it.
pub const ENTER_AFTER_LIST: Duration = Duration::from_secs(1);
/// The same after a letter or digit that answered a question, whose outcome Enter may continue.
pub const ENTER_AFTER_QUESTION: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub struct SpentKeys {
    /// The key that closed something, which may still be held down.
    closing: Option<(KeyModifiers, KeyRepeatGuard)>,
    /// Until when an Enter that follows directly belongs to the character that chose.
    enter_until: Option<Duration>,
    late: Option<LateChoices>,
}

/// The keys of a dialog that closed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateChoices {
    /// The Latin letters and the digits of its choices.
    pub letters: String,
    /// Whether Enter would have chosen.
    pub has_enter: bool,
    pub closed_at: Duration,
}

impl SpentKeys {
    /// Records that this key has closed something. If it types a character, an Enter directly after it
    /// within `enter_time` does nothing.
    pub fn closed_by(&mut self, key: KeyEvent, enter_time: Duration, now: Duration) {
        let (code, modifiers) = normalize_key(key);
        let guard = match typed_char(key) {
            // The next word may begin with the same letter.
            Some(_) => KeyRepeatGuard::with_delay(code, now, LATE_KEY_TIME),
            None => KeyRepeatGuard::new(code, now),
        };
        self.closing = Some((modifiers, guard));
        self.enter_until = typed_char(key).map(|_| now + enter_time);
        self.late = None;
    }

    /// Records that text has arrived at once: the next key does not follow directly.
    pub fn text_arrived(&mut self) {
        self.closing = None;
        self.enter_until = None;
    }

    pub fn closed_by_itself(&mut self, choices: LateChoices) {
        self.late = Some(choices);
    }

    /// Whether this key must do nothing.
    pub fn discards(&mut self, key: KeyEvent, now: Duration) -> bool {
        let (code, modifiers) = normalize_key(key);
        let enter_until = self.enter_until.take();
        if (code, modifiers) == (KeyCode::Enter, KeyModifiers::NONE)
            && enter_until.is_some_and(|until| now < until)
        {
            return true;
        }
        let is_reported_repeat = key.kind == KeyEventKind::Repeat;
        if let Some((closing, guard)) = &mut self.closing
            && *closing == modifiers
            && guard.is_repeat(code, now, is_reported_repeat)
        {
            // The key is still held down, so Enter has not been pressed yet.
            self.enter_until = enter_until;
            return true;
        }
        self.closing = None;
        let late = self
            .late
            .take_if(|late| now < late.closed_at + LATE_KEY_TIME);
        let is_late = late
            .as_ref()
            .is_some_and(|late| late.has_key(code, modifiers));
        self.late = late;
        is_late
    }
}

impl LateChoices {
    fn has_key(&self, code: KeyCode, modifiers: KeyModifiers) -> bool {
        match (code, modifiers) {
            (KeyCode::Char(c), KeyModifiers::NONE) => self.letters.contains(latin_key(c)),
            (KeyCode::Enter, KeyModifiers::NONE) => self.has_enter,
            (KeyCode::Esc, _) => true,
            _ => false,
        }
    }
}

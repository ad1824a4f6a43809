//! A letter pressed in a dialog that may be the first one of a word for the message. It waits a
//! moment for the next key: letters that follow each other are a word that the user is typing.

use crate::domain::AskId;
use crate::tui::dialog::state::QUIET_TIME;
use crossterm::event::KeyEvent;
use std::time::Duration;

/// How long a letter waits. Slow typists need as long between two letters of a word.
const HOLD_TIME: Duration = Duration::from_millis(300);
/// How long it waits if the message has text, which it may continue.
const TEXT_HOLD_TIME: Duration = Duration::from_millis(400);
/// Nobody presses Enter this soon after a letter: both were pasted.
const PASTE_GAP_MAX: Duration = Duration::from_millis(3);

#[derive(Debug)]
pub struct HeldLetter {
    pub question: AskId,
    pub key: KeyEvent,
    pressed_at: Duration,
    pub due_at: Duration,
    /// Whether it answers the question once it is due. Other letters only wait for the rest of
    /// their word.
    pub answers: bool,
    /// Whether it would have granted something when it was pressed.
    pub grants: bool,
}

/// What a held letter waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldAs {
    /// It answers the question unless another key follows.
    Answer { has_text: bool, grants: bool },
    /// It does nothing, unless it turns out to be text.
    Text,
}

impl HeldLetter {
    pub fn new(question: AskId, key: KeyEvent, held_as: HeldAs, now: Duration) -> Self {
        let hold_time = match held_as {
            HeldAs::Answer { has_text: true, .. } => TEXT_HOLD_TIME,
            HeldAs::Answer {
                has_text: false, ..
            } => HOLD_TIME,
            HeldAs::Text => QUIET_TIME,
        };
        Self {
            question,
            key,
            pressed_at: now,
            due_at: now + hold_time,
            answers: held_as != HeldAs::Text,
            grants: matches!(held_as, HeldAs::Answer { grants: true, .. }),
        }
    }

    /// Whether Enter at `now` confirms the letter, as after an answer that is typed in a line.
    pub fn is_confirmed_by_enter(&self, now: Duration) -> bool {
        let is_brief = self.due_at == self.pressed_at + HOLD_TIME;
        self.answers && is_brief && now > self.pressed_at + PASTE_GAP_MAX
    }
}

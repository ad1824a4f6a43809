//! A letter pressed in a dialog that may be the first one of a word for the message. It waits a
//! moment for the next key: letters that follow each other are a word that the user is typing.

use crate::domain::AskId;
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::state::QUIET_TIME;
use crossterm::event::KeyEvent;
use std::time::Duration;

/// How long a letter that grants something waits, so briefly that it seems to act at once.
const GRANT_HOLD_TIME: Duration = Duration::from_millis(150);
/// How long any letter waits if the message has text, which it may continue.
const TEXT_HOLD_TIME: Duration = Duration::from_millis(400);
/// Nobody presses Enter this soon after a letter: both were pasted.
const PASTE_GAP_MAX: Duration = Duration::from_millis(3);

#[derive(Debug)]
pub struct HeldLetter {
    question: AskId,
    pub key: KeyEvent,
    pressed_at: Duration,
    due_at: Duration,
    /// Whether it answers the question once it is due. Other letters only wait for the rest of
    /// their word.
    pub answers: bool,
}

/// What a held letter waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldAs {
    /// It answers the question unless another key follows.
    Answer { has_text: bool },
    /// It does nothing, unless it turns out to be text.
    Text,
}

impl HeldLetter {
    /// Whether Enter at `now` confirms the letter, as after an answer that is typed in a line.
    pub fn is_confirmed_by_enter(&self, now: Duration) -> bool {
        let is_brief = self.due_at == self.pressed_at + GRANT_HOLD_TIME;
        self.answers && is_brief && now > self.pressed_at + PASTE_GAP_MAX
    }
}

impl Dialogs {
    pub fn hold_letter(&mut self, key: KeyEvent, held_as: HeldAs, now: Duration) {
        let hold_time = match held_as {
            HeldAs::Answer { has_text: true } => TEXT_HOLD_TIME,
            HeldAs::Answer { has_text: false } => GRANT_HOLD_TIME,
            HeldAs::Text => QUIET_TIME,
        };
        self.held_letter = self.current().map(|dialog| HeldLetter {
            question: dialog.id,
            key,
            pressed_at: now,
            due_at: now + hold_time,
            answers: held_as != HeldAs::Text,
        });
    }

    /// When the held letter has waited long enough.
    pub fn letter_due_at(&self) -> Option<Duration> {
        self.held_letter.as_ref().map(|held| held.due_at)
    }

    /// Takes the held letter, and whether its question is still the current one.
    pub fn take_held_letter(&mut self) -> Option<(HeldLetter, bool)> {
        let held = self.held_letter.take()?;
        let is_current = self
            .current()
            .is_some_and(|dialog| dialog.id == held.question);
        Some((held, is_current))
    }

    /// The letter that is about to answer the current question.
    pub fn answering_letter(&self) -> Option<KeyEvent> {
        let held = self.held_letter.as_ref()?;
        let current = self.current()?;
        (held.answers && current.id == held.question).then_some(held.key)
    }
}

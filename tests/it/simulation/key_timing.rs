//! Determines from the keys and their times alone whether the user meant to run a call: no part of a
//! word, no paste and no key that follows another one at once may do that. Independent of the
//! program's own bookkeeping.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use humble::protocol::UserAnswer;
use humble::tui::UiInput;
use std::time::Duration;

/// A key runs a call only this long after the key before it.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// A character runs a call only if no other key follows within this time.
const WORD_TIME: Duration = Duration::from_millis(300);
/// Nobody presses two keys this fast.
const PASTE_GAP_MAX: Duration = Duration::from_millis(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typed {
    Key(KeyCode),
    /// A paste, or characters that arrived at once.
    Pasted,
}

/// All keys and pastes, with their times.
#[derive(Debug, Default)]
pub struct KeyTiming {
    typed: Vec<(Typed, Duration)>,
}

impl KeyTiming {
    pub fn observe_input(&mut self, input: &UiInput, now: Duration) {
        let typed = match input {
            UiInput::Key(key) if self.is_held_down(key) => return,
            UiInput::Key(key) => Typed::Key(key.code),
            UiInput::Paste(_) | UiInput::Burst(_) => Typed::Pasted,
            _ => return,
        };
        self.typed.push((typed, now));
    }

    /// Whether the terminal reports a repeat of the last key.
    fn is_held_down(&self, key: &KeyEvent) -> bool {
        let last = self.typed.last().map(|(typed, _)| *typed);
        key.kind == KeyEventKind::Repeat && last == Some(Typed::Key(key.code))
    }

    /// # Errors
    /// The answer runs all calls, and its last key was typed too soon after another one, or may
    /// belong to a word or a paste. `is_word_typed`: the user confirmed with the word `run`.
    pub fn check_answer(
        &self,
        answer: &UserAnswer,
        is_word_typed: bool,
        now: Duration,
    ) -> Result<(), String> {
        let runs_all = match answer {
            // With other decisions, the last key may have refused.
            UserAnswer::Calls(calls) => calls.iter().all(|(_, decision)| decision.runs()),
            _ => false,
        };
        if !runs_all || is_word_typed {
            return Ok(());
        }
        let before = |back: usize| self.typed.iter().rev().nth(back).copied();
        let is_quiet_before = |back: usize| {
            let pressed_at = before(back).map_or(Duration::ZERO, |(_, at)| at);
            before(back + 1).is_none_or(|(_, at)| pressed_at >= at + QUIET_TIME)
        };
        let is_meant = match (before(0), before(1)) {
            (Some((Typed::Key(KeyCode::Char(_)), at)), _) => {
                now >= at + WORD_TIME && is_quiet_before(0)
            }
            // Enter confirms a letter, or runs what the arrow keys selected.
            (
                Some((Typed::Key(KeyCode::Enter), at)),
                Some((Typed::Key(KeyCode::Char(_)), letter_at)),
            ) => {
                let is_confirmed = at > letter_at + PASTE_GAP_MAX && at < letter_at + WORD_TIME;
                is_quiet_before(0) || is_confirmed && is_quiet_before(1)
            }
            (Some((Typed::Key(KeyCode::Enter), _)), _) => is_quiet_before(0),
            _ => false,
        };
        let last = self.typed.len().saturating_sub(4);
        match is_meant {
            true => Ok(()),
            false => Err(format!(
                "a call runs at {now:?} after {:?}",
                &self.typed[last..]
            )),
        }
    }
}

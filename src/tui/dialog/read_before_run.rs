//! No call runs unread: a choice that allows a run works only after every part of the
//! arguments has been drawn, or after the user typed a confirmation.

use crate::domain::Decision;
use crate::domain::{Arguments, Notice};
use crate::protocol::UserAnswer;
use crate::tui::dialog::choices::{choice_for_key, scroll_key};
use crate::tui::dialog::confirmation_word::{ConfirmationKey, confirmation_key};
use crate::tui::dialog::state::{Dialog, DialogAction, DialogMode, DialogPage, QUIET_TIME};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{SharedUiState, UiContext};
use crossterm::event::{KeyEvent, KeyEventKind};
use std::time::Duration;

/// The user types this to run a call unread.
const CONFIRMATION_WORD: &str = "run";
const JUST_DRAWN: &str = "The last part has only just come into view. Press the key again.";

/// How far the user has read what a choice would allow.
pub enum Reading {
    /// This call, or the whole question, has parts that were never drawn.
    Unread(usize),
    /// The last part was drawn less than [`QUIET_TIME`] ago.
    JustDrawn,
    Done,
}

impl Reading {
    fn of(fully_drawn_at: Option<Duration>, now: Duration) -> Self {
        match fully_drawn_at.is_some_and(|drawn_at| now >= drawn_at + QUIET_TIME) {
            true => Self::Done,
            false => Self::JustDrawn,
        }
    }
}

/// How far the user has read what this choice would allow. Only for choices that grant something.
pub fn reading(shared: SharedUiState, dialog: &Dialog, action: DialogAction) -> Reading {
    if dialog.call().is_some() {
        return reading_of_calls(shared, dialog, action);
    }
    if !must_be_read_before(dialog, action) {
        return Reading::Done;
    }
    match dialog.fully_drawn_at() {
        None => Reading::Unread(0),
        drawn_at => Reading::of(drawn_at, shared.now),
    }
}

fn reading_of_calls(shared: SharedUiState, dialog: &Dialog, action: DialogAction) -> Reading {
    let calls_to_run = match action {
        DialogAction::RunAll => (0..dialog.decisions.len())
            .filter(|at| dialog.decisions[*at].is_none())
            .collect(),
        _ => vec![dialog.call_index],
    };
    let fully_drawn_at = |at: &usize| {
        let drawn = dialog.drawn_arguments.get(*at)?.as_ref()?;
        // Only drawn arguments may run, whatever has changed since the last frame.
        let is_current = Some(drawn.arguments()) == arguments_to_run(dialog, *at, shared);
        drawn.fully_drawn_at().filter(|_| is_current)
    };
    let is_undrawn = |at: &usize| fully_drawn_at(at).is_none();
    if let Some(unread) = calls_to_run.iter().copied().find(is_undrawn) {
        return Reading::Unread(unread);
    }
    let last_drawn_at = calls_to_run.iter().filter_map(fully_drawn_at).max();
    match last_drawn_at {
        // Every call is decided already.
        None => Reading::Done,
        drawn_at => Reading::of(drawn_at, shared.now),
    }
}

/// Effect of the reading rule on a key press.
pub enum KeyGate {
    Allow,
    Block,
    /// Blocked, and the dialog has scrolled to an undrawn part that may be the last one.
    BlockNearEnd,
}

/// Blocks a key that would run a call whose arguments have not been drawn, or only just now. The
/// key scrolls to the first undrawn part instead.
pub fn gate_key(dialog: &mut Dialog, key: KeyEvent, cx: &mut UiContext) -> KeyGate {
    let chooses_value = dialog.page() == DialogPage::Values;
    let is_choosing = matches!(dialog.mode, DialogMode::Choosing) && !chooses_value;
    // A repeat of a held key never makes a choice, so there is nothing to block.
    if !is_choosing || key.kind == KeyEventKind::Repeat {
        return KeyGate::Allow;
    }
    let rows = dialog.choices(cx.shared);
    let action = choice_for_key(dialog, &rows, key, cx.shared.keymap).map(|row| row.action);
    let runs_calls = |action: &DialogAction| dialog.call().is_some() && action.grants();
    let Some(action) = action.filter(runs_calls) else {
        return KeyGate::Allow;
    };
    match reading_of_calls(cx.shared, dialog, action) {
        Reading::Unread(unread) => {
            if unread != dialog.call_index {
                let text = "This call was not shown in full. Read it, then press the key again.";
                cx.notify_about_key(Notice::info(text));
            }
            match scroll_to_undrawn(dialog, unread) {
                true => KeyGate::BlockNearEnd,
                false => KeyGate::Block,
            }
        }
        Reading::JustDrawn => {
            cx.notify_about_key(Notice::info(JUST_DRAWN));
            KeyGate::Block
        }
        Reading::Done => KeyGate::Allow,
    }
}

/// The arguments with which a call would run.
fn arguments_to_run<'a>(
    dialog: &'a Dialog,
    at: usize,
    shared: SharedUiState<'a>,
) -> Option<&'a Arguments> {
    if let Some(Some(edited)) = dialog.edited_arguments.get(at) {
        return Some(edited);
    }
    let offered = dialog.calls().get(at)?;
    let call = shared.transcript.call(offered.call)?;
    Some(&call.arguments)
}

/// Scrolls to the first undrawn part of this call's arguments. Returns whether it may be the
/// last one.
fn scroll_to_undrawn(dialog: &mut Dialog, at: usize) -> bool {
    if at != dialog.call_index {
        dialog.show_call(at);
    }
    dialog.scroll_to_undrawn_arguments();
    dialog.undrawn_rows <= dialog.body_height
}

/// Key handling of the field that confirms running a call unread.
pub fn confirm_unread_key(
    shared: SharedUiState,
    dialog: &mut Dialog,
    key: KeyEvent,
) -> Option<UserAnswer> {
    if scroll_key(dialog, key, shared.keymap) {
        return None;
    }
    let DialogMode::ConfirmUnread(editor) = &mut dialog.mode else {
        return None;
    };
    match confirmation_key(editor, CONFIRMATION_WORD, key, shared.keymap) {
        ConfirmationKey::Typed => return None,
        ConfirmationKey::Back => {
            dialog.mode = DialogMode::Choosing;
            return None;
        }
        ConfirmationKey::Confirmed => {}
    }
    dialog.mode = DialogMode::Choosing;
    dialog.run_unread = dialog
        .call()
        .map(|offered| (offered.call, dialog.undrawn_rows));
    dialog.decide(Decision::Run)
}

/// Handles a key that would accept rows the user has not read: scrolls to them and returns a notice.
pub fn require_reading(
    shared: SharedUiState,
    dialog: &mut Dialog,
    key: KeyEvent,
) -> Option<Notice> {
    let action = accepting_action(shared, dialog, key)?;
    match reading(shared, dialog, action) {
        Reading::Unread(_) => {
            dialog.scroll_to_first_undrawn_row();
            let context = KeyContext::QuestionText;
            let down = shared.keymap.layer_key_name(context, LayerKey::PageDown);
            let down = down.map_or_else(String::new, |key| format!(" ({key})"));
            Some(Notice::warning(format!("Read the rest first{down}.")))
        }
        Reading::JustDrawn => Some(Notice::info(JUST_DRAWN)),
        Reading::Done => None,
    }
}

/// The choice of this key, if the user must read the question first.
fn accepting_action(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> Option<DialogAction> {
    if !matches!(dialog.mode, DialogMode::Choosing) {
        return None;
    }
    let rows = dialog.choices(shared);
    let row = choice_for_key(dialog, &rows, key, shared.keymap)?;
    Some(row.action).filter(|action| must_be_read_before(dialog, *action))
}

/// Whether the choice accepts something that the user must read first: an address or a command could
/// hide in rows that were never drawn.
fn must_be_read_before(dialog: &Dialog, action: DialogAction) -> bool {
    dialog.question.read_first && action.grants()
}

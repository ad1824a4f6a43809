//! Nothing runs that was not drawn: a choice that lets a call run works only once every
//! part of its arguments was on the screen, or after a word that is typed on purpose.

use crate::domain::Notice;
use crate::domain::tool::Decision;
use crate::protocol::UserAnswer;
use crate::tui::dialog::choices::{choice_for_key, scroll_key};
use crate::tui::dialog::state::{Dialog, DialogAction, DialogMode, QUIET_TIME};
use crate::tui::input::decode::normalize_key;
use crate::tui::layer::UiContext;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What is to be typed to run a call unread.
const CONFIRMATION_WORD: &str = "run";

fn allows_run(act: DialogAction) -> bool {
    matches!(
        act,
        DialogAction::Run
            | DialogAction::RunForSession
            | DialogAction::RunAlways
            | DialogAction::RunServer
            | DialogAction::RunMatching
            | DialogAction::RunAll
    )
}

/// Is a key held back because it would grant something that was not drawn?
pub enum KeyGate {
    Allow,
    Block,
    /// It scrolls to what can be the last part.
    ScrollToLastPart,
}

/// Would this key grant something that was not drawn, or only just was? Then it scrolls
/// to the first part that was not, and does nothing else.
pub fn gate_key(ask: &mut Dialog, key: KeyEvent, cx: &mut UiContext) -> KeyGate {
    let now = cx.shared.now;
    if !matches!(ask.mode, DialogMode::Choosing) || key.kind == KeyEventKind::Repeat {
        return KeyGate::Allow;
    }
    let rows = ask.choices(cx.shared.transcript);
    let act = choice_for_key(ask, &rows, key).map(|row| row.action);
    let Some(act) = act.filter(|act| ask.call().is_some() && allows_run(*act)) else {
        return KeyGate::Allow;
    };
    let granted = match act {
        DialogAction::RunAll => (0..ask.decisions.len())
            .filter(|at| ask.decisions[*at].is_none())
            .collect(),
        _ => vec![ask.call_index],
    };
    let whole_since = |at: &usize| ask.drawn_arguments.get(*at)?.as_ref()?.fully_drawn_at();
    if let Some(unread) = granted.iter().copied().find(|at| whole_since(at).is_none()) {
        return match scroll_to_undrawn(ask, unread) {
            true => KeyGate::ScrollToLastPart,
            false => KeyGate::Block,
        };
    }
    let newest = granted.iter().filter_map(whole_since).max();
    if newest.is_none_or(|since| now >= since + QUIET_TIME) {
        return KeyGate::Allow;
    }
    let words = "The last part has only just come into view: press the key again.";
    cx.notify(Notice::info(words));
    KeyGate::Block
}

/// Shows the first part of this call's arguments that was not drawn. True where that can
/// be the last one.
fn scroll_to_undrawn(ask: &mut Dialog, at: usize) -> bool {
    if at != ask.call_index {
        ask.show_call(at);
    }
    ask.scroll_to_undrawn();
    ask.undrawn_rows <= ask.body_height
}

/// Keys of the field for the word that runs a call unread.
pub fn confirm_unread_key(ask: &mut Dialog, key: KeyEvent) -> Option<UserAnswer> {
    if scroll_key(ask, key) {
        return None;
    }
    let DialogMode::ConfirmUnread(editor) = &mut ask.mode else {
        return None;
    };
    match normalize_key(key) {
        (KeyCode::Esc, _) => ask.mode = DialogMode::Choosing,
        (KeyCode::Enter, _) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            if editor.text().trim().eq_ignore_ascii_case(CONFIRMATION_WORD) {
                ask.mode = DialogMode::Choosing;
                ask.run_unread = ask.call().map(|offered| (offered.call, ask.undrawn_rows));
                return ask.decide(Decision::Run);
            }
        }
        _ => {
            text_field::handle_key(editor, key);
        }
    }
    None
}

/// What was written in the field of arguments. Edited arguments that the field did not
/// show whole are shown first, as any others are.
pub fn submit_edited(ask: &mut Dialog, decision: Decision, is_drawn: bool) -> Option<UserAnswer> {
    match decision {
        Decision::Edit { arguments } if !is_drawn => {
            let at = ask.call_index;
            ask.show_call(at);
            *ask.edited_arguments.get_mut(at)? = Some(arguments);
            None
        }
        decision => ask.decide(decision),
    }
}

//! No call runs unread: a choice that allows a run works only after every part of the
//! arguments has been drawn, or after the user typed a confirmation.

use crate::domain::Notice;
use crate::domain::tool::Decision;
use crate::protocol::Answer;
use crate::tui::dialog::choices::{chosen_by, scrolls};
use crate::tui::dialog::state::{Act, Form, OpenAsk, QUIET};
use crate::tui::input::decode::normal;
use crate::tui::layer::Cx;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The user types this to run a call unread.
const WORD: &str = "run";

fn grants(act: Act) -> bool {
    matches!(
        act,
        Act::Run
            | Act::RunForSession
            | Act::RunAlways
            | Act::RunServer
            | Act::RunMatching
            | Act::RunAll
    )
}

/// Effect of the reading rule on a key press.
pub enum HoldBack {
    No,
    Yes,
    /// Blocked; the key scrolls to what may be the last undrawn part.
    LastPart,
}

/// Blocks a key that would allow a run of arguments that were not drawn, or only just now.
/// The key scrolls to the first undrawn part instead.
pub fn holds_back(ask: &mut OpenAsk, key: KeyEvent, cx: &mut Cx) -> HoldBack {
    let now = cx.shared.now;
    if !matches!(ask.form, Form::Choosing) || key.kind == KeyEventKind::Repeat {
        return HoldBack::No;
    }
    let rows = ask.rows(cx.shared.transcript);
    let act = chosen_by(ask, &rows, key).map(|row| row.act);
    let Some(act) = act.filter(|act| ask.call().is_some() && grants(*act)) else {
        return HoldBack::No;
    };
    let granted = match act {
        Act::RunAll => (0..ask.decisions.len())
            .filter(|at| ask.decisions[*at].is_none())
            .collect(),
        _ => vec![ask.at],
    };
    let whole_since = |at: &usize| ask.argued.get(*at)?.as_ref()?.whole_since();
    if let Some(unread) = granted.iter().copied().find(|at| whole_since(at).is_none()) {
        return match seek(ask, unread) {
            true => HoldBack::LastPart,
            false => HoldBack::Yes,
        };
    }
    let newest = granted.iter().filter_map(whole_since).max();
    if newest.is_none_or(|since| now >= since + QUIET) {
        return HoldBack::No;
    }
    let text = "The last part has only just come into view. Press the key again.";
    cx.notify(Notice::info(text));
    HoldBack::Yes
}

/// Scrolls to the first undrawn part of this call's arguments. Returns whether it may be the
/// last one.
fn seek(ask: &mut OpenAsk, at: usize) -> bool {
    if at != ask.at {
        ask.show(at);
    }
    ask.seek();
    ask.rows_left <= ask.height
}

/// Key handling of the field that confirms running a call unread.
pub fn unread(ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    if scrolls(ask, key) {
        return None;
    }
    let Form::Unread(editor) = &mut ask.form else {
        return None;
    };
    match normal(key) {
        (KeyCode::Esc, _) => ask.form = Form::Choosing,
        (KeyCode::Enter, _) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            if editor.text().trim().eq_ignore_ascii_case(WORD) {
                ask.form = Form::Choosing;
                ask.unread = ask.call().map(|offered| (offered.call, ask.rows_left));
                return ask.decide(Decision::Run);
            }
        }
        _ => {
            text_field::key(editor, key);
        }
    }
    None
}

/// Submits the argument editor. Edited arguments that the field did not show in full go
/// back to the dialog to be read first.
pub fn written(ask: &mut OpenAsk, decision: Decision, is_drawn: bool) -> Option<Answer> {
    match decision {
        Decision::Edit { arguments } if !is_drawn => {
            let at = ask.at;
            ask.show(at);
            *ask.edited.get_mut(at)? = Some(arguments);
            None
        }
        decision => ask.decide(decision),
    }
}

//! Nothing runs that was not drawn: a choice that lets a call run works only once every
//! part of its arguments was on the screen, or after a word that is typed on purpose.

use crate::domain::Notice;
use crate::domain::tool::Decision;
use crate::protocol::Answer;
use crate::tui::dialog::choices::{chosen_by, scrolls};
use crate::tui::dialog::state::{Act, Form, OpenAsk, QUIET};
use crate::tui::input::decode::normal;
use crate::tui::layer::Cx;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What is to be typed to run a call unread.
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

/// Is a key held back because it would grant something that was not drawn?
pub enum HoldBack {
    No,
    Yes,
    /// It scrolls to what can be the last part.
    LastPart,
}

/// Would this key grant something that was not drawn, or only just was? Then it scrolls
/// to the first part that was not, and does nothing else.
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
    let words = "The last part has only just come into view: press the key again.";
    cx.notify(Notice::info(words));
    HoldBack::Yes
}

/// Shows the first part of this call's arguments that was not drawn. True where that can
/// be the last one.
fn seek(ask: &mut OpenAsk, at: usize) -> bool {
    if at != ask.at {
        ask.show(at);
    }
    ask.seek();
    ask.rows_left <= ask.height
}

/// Keys of the field for the word that runs a call unread.
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

/// What was written in the field of arguments. Edited arguments that the field did not
/// show whole are shown first, as any others are.
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

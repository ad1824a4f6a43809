//! Key handling of a dialog that accepts keys.

use crate::domain::tool::Decision;
use crate::domain::{Arguments, Notice, Pattern};
use crate::protocol::{Answer, Choice, Command, check_pattern, parse_arguments};
use crate::tui::dialog::choices::{FAULT_CHARS_MAX, chosen_by, meant, scrolls};
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::granting;
use crate::tui::dialog::granting::HoldBack;
use crate::tui::dialog::state::{Act, Form, OpenAsk};
use crate::tui::input::decode::normal;
use crate::tui::input::key_repeat::Held;
use crate::tui::layer::{Cx, Handled, Request, Shared};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// On a smaller screen the question is unreadable, so nothing can be approved.
const READABLE_WIDTH: u16 = 12;
const READABLE_HEIGHT: u16 = 4;

pub fn press(dialogs: &mut Dialogs, key: KeyEvent, cx: &mut Cx) {
    let (now, shared) = (cx.shared.now, cx.shared);
    let held = dialogs.decided_by.as_mut();
    let repeats = held.is_some_and(|held| held.repeats(key.code, now));
    let Some(ask) = dialogs.shown_mut() else {
        return;
    };
    if repeats && matches!(ask.form, Form::Choosing) {
        return;
    }
    if decides_unread(shared, ask, key) {
        let text = "Make the window larger to answer.";
        return cx.notify(Notice::warning(text));
    }
    if takes_unread_changes(shared, ask, key) {
        let text = "Scroll to the end first (PgDn).";
        return cx.notify(Notice::warning(text));
    }
    match granting::holds_back(ask, key, cx) {
        HoldBack::No => {}
        HoldBack::Yes => return,
        HoldBack::LastPart => {
            // The same key, held down, must not run the call once its end is visible.
            dialogs.decided_by = Some(Held::new(key.code, now));
            return;
        }
    }
    let decided = ask.decided();
    let answer = match &ask.form {
        Form::Choosing => choosing(shared, ask, key),
        Form::Word(_) => word(ask, key),
        Form::Unread(_) => granting::unread(ask, key),
        Form::Arguments { .. } => arguments(ask, key, cx),
    };
    let has_decided = ask.decided() > decided;
    if answer.is_none() && has_decided {
        // A double key press must not run the next call.
        ask.disarm(now);
        ask.is_seen = false;
    }
    if let Some((call, rows)) = ask.unread.take() {
        cx.ask(Request::RanUnread(call, rows));
    }
    if answer.is_some() || has_decided {
        dialogs.decided_by = Some(Held::new(key.code, now));
    }
    if let Some(answer) = answer {
        dialogs.answer(answer, cx);
    }
}

/// Would this key approve something that the screen is too small to show?
fn decides_unread(shared: Shared, ask: &OpenAsk, key: KeyEvent) -> bool {
    let (width, height) = shared.size;
    if width >= READABLE_WIDTH && height >= READABLE_HEIGHT {
        return false;
    }
    let rows = ask.rows(shared.transcript);
    let row = match (&ask.form, normal(key)) {
        (Form::Arguments { .. } | Form::Unread(_), (KeyCode::Enter, KeyModifiers::NONE)) => {
            return true;
        }
        (Form::Choosing, (KeyCode::Enter, _)) => ask.chosen.and_then(|at| rows.get(at)),
        (Form::Choosing, (KeyCode::Char(c), KeyModifiers::NONE)) => meant(&rows, c),
        _ => None,
    };
    let is_safe = |act| {
        let keeps = Choice::KeepForLater;
        matches!(act, Act::Refuse | Act::Deny) || act == Act::Choose(keeps)
    };
    row.is_some_and(|row| !is_safe(row.act) && row.key != Some('n'))
}

/// Would this key accept changes that the user has not scrolled to the end of? An address
/// or a command could hide below the visible rows. Applies to settings changes, a tool's
/// new definition and a server's instructions.
fn takes_unread_changes(shared: Shared, ask: &OpenAsk, key: KeyEvent) -> bool {
    if ask.was_read() {
        return false;
    }
    let rows = ask.rows(shared.transcript);
    let row = chosen_by(ask, &rows, key);
    let takes = [
        Choice::TakeChanges,
        Choice::Accept,
        Choice::SendAlways,
        Choice::SendOnce,
    ];
    row.is_some_and(|row| takes.iter().any(|choice| row.act == Act::Choose(*choice)))
}

/// Pasted text never answers a question. An open field takes it; otherwise the message
/// does, and the dialog stops accepting keys because the rest of the paste may arrive as
/// key presses.
pub fn paste(ask: &mut OpenAsk, text: &str) -> Handled {
    match &mut ask.form {
        Form::Word(editor) | Form::Unread(editor) => text_field::paste_line(editor, text),
        Form::Arguments { editor, query, .. } => {
            *query = None;
            editor.insert(text);
        }
        Form::Choosing => {
            ask.armed = false;
            return Handled::PassedOn;
        }
    }
    Handled::Consumed
}

fn choosing(shared: Shared, ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    let rows = ask.rows(shared.transcript);
    if scrolls(ask, key) {
        return None;
    }
    match normal(key) {
        (KeyCode::Home, _) => ask.scroll = 0,
        (KeyCode::End, _) => ask.scroll = ask.last_top(),
        (KeyCode::Left, _) => ask.show(ask.at.saturating_sub(1)),
        (KeyCode::Right, _) => ask.show(ask.at + 1),
        (KeyCode::Up, _) => step(ask, rows.len(), -1),
        (KeyCode::Down, _) => step(ask, rows.len(), 1),
        // A repeat of a held key is no second decision.
        _ if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            return act(shared, ask, rows.get(ask.chosen?)?.act);
        }
        (KeyCode::Esc, _) if ask.lists_choices() => ask.list_choices(false),
        (KeyCode::Esc, _) => return escape(ask),
        (KeyCode::Char('?'), KeyModifiers::NONE) => ask.list_choices(!ask.lists_choices()),
        (KeyCode::Char(c), KeyModifiers::NONE) => return act(shared, ask, meant(&rows, c)?.act),
        _ => {}
    }
    None
}

fn step(ask: &mut OpenAsk, count: usize, by: isize) {
    let last = count.saturating_sub(1);
    ask.chosen = Some(match ask.chosen {
        None if by < 0 => last,
        None => 0,
        Some(at) => at.saturating_add_signed(by).min(last),
    });
}

fn escape(ask: &mut OpenAsk) -> Option<Answer> {
    if ask.call().is_some() {
        return ask.decide(Decision::Refuse);
    }
    Some(Answer::Dismissed)
}

fn act(shared: Shared, ask: &mut OpenAsk, act: Act) -> Option<Answer> {
    match act {
        Act::Run => ask.decide(Decision::Run),
        Act::Refuse => ask.decide(Decision::Refuse),
        Act::RunForSession => ask.decide(Decision::RunForSession),
        Act::RunAlways => ask.decide(Decision::RunAlways),
        Act::RunServer => ask.decide(Decision::RunServer),
        Act::Never => ask.decide(Decision::Never),
        Act::RunMatching => {
            let pattern = Pattern::of(&arguments_of(shared, ask)?).to_json();
            let text = serde_json::to_string_pretty(&pattern).ok()?;
            ask.form = Form::Arguments {
                editor: Editor::new(&text),
                fault: None,
                query: None,
                is_pattern: true,
                drawn: None,
            };
            None
        }
        Act::UseFirst => ask.decide(Decision::UseFirst),
        Act::AsText => ask.decide(Decision::TreatAsText),
        Act::RunAll => Some(ask.run_rest()),
        Act::RunUnread => {
            ask.form = Form::Unread(Editor::default());
            None
        }
        Act::Choose(choice) => Some(Answer::Choice(choice)),
        Act::Deny => {
            // Show the tool and its server above the field.
            ask.scroll = 0;
            ask.form = Form::Word(Editor::default());
            None
        }
        Act::Edit => {
            let draft = ask.drafts.get_mut(ask.at).and_then(Option::take);
            let arguments = arguments_of(shared, ask);
            let text = || serde_json::to_string_pretty(&arguments).unwrap_or_default();
            let editor = draft.unwrap_or_else(|| Editor::new(&text()));
            ask.form = Form::Arguments {
                editor,
                fault: None,
                query: None,
                is_pattern: false,
                drawn: None,
            };
            None
        }
    }
}

fn arguments_of(shared: Shared, ask: &OpenAsk) -> Option<Arguments> {
    if let Some(Some(edited)) = ask.edited.get(ask.at) {
        return Some(edited.clone());
    }
    let offered = ask.call()?;
    let call = shared.transcript.call(offered.call)?;
    Some(call.arguments.clone())
}

fn word(ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    if scrolls(ask, key) {
        return None;
    }
    let Form::Word(editor) = &mut ask.form else {
        return None;
    };
    match normal(key) {
        (KeyCode::Esc, _) => ask.form = Form::Choosing,
        (KeyCode::Enter, _) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, _) => {
            let word = editor.text().trim().to_owned();
            let word = Some(word).filter(|word| !word.is_empty());
            return ask.decide(Decision::Deny { word });
        }
        _ => {
            text_field::key(editor, key);
        }
    }
    None
}

fn arguments(ask: &mut OpenAsk, key: KeyEvent, cx: &mut Cx) -> Option<Answer> {
    let tool = ask.call()?.tool.clone();
    let called = arguments_of(cx.shared, ask)?;
    let Form::Arguments {
        editor,
        fault,
        query,
        is_pattern,
        ..
    } = &mut ask.form
    else {
        return None;
    };
    match normal(key) {
        (KeyCode::Esc, _) => {
            let draft = std::mem::take(editor);
            let is_pattern = *is_pattern;
            ask.form = Form::Choosing;
            if !is_pattern {
                *ask.drafts.get_mut(ask.at)? = Some(draft);
            }
        }
        (KeyCode::Enter, KeyModifiers::NONE) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            let written = editor.text();
            let why = if *is_pattern {
                match check_pattern(&called, &written) {
                    Ok(pattern) => return ask.decide(Decision::RunMatching { pattern }),
                    Err(why) => why,
                }
            } else {
                match parse_arguments(&written) {
                    Ok(_) if query.is_some() => return None,
                    Ok(arguments) => {
                        let check = cx.query();
                        *query = Some(check);
                        cx.send(Command::CheckArguments {
                            query: check,
                            tool,
                            arguments,
                        });
                        return None;
                    }
                    Err(why) => why,
                }
            };
            *fault = Some(why.chars().take(FAULT_CHARS_MAX).collect());
        }
        _ => {
            text_field::key(editor, key);
            (*fault, *query) = (None, None);
        }
    }
    None
}

//! Keys of a question's dialog, once it has the keyboard.

use crate::domain::tool::Decision;
use crate::domain::{Arguments, Notice, Pattern, QueryId};
use crate::protocol::{Answer, Choice, Command, check_pattern, parse_arguments};
use crate::tui::dialog::granting;
use crate::tui::dialog::state::{Act, Form, OpenAsk, Row, with_ask};
use crate::tui::input::decode::{key_under, normal};
use crate::tui::input::key_repeat::Held;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::update::engine;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Below this nothing of what is asked can be read.
const READABLE_WIDTH: u16 = 12;
const READABLE_HEIGHT: u16 = 4;
/// Characters kept of what is wrong with edited arguments: a schema's complaint
/// quotes the value, however long that is.
pub const FAULT_CHARS_MAX: usize = 400;

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let now = model.now;
    let held = model.decided_by.as_mut();
    let chooses = model
        .asks
        .first()
        .is_some_and(|ask| matches!(ask.form, Form::Choosing));
    if held.is_some_and(|held| held.repeats(key.code, now)) && chooses {
        return;
    }
    if decides_unread(model, key) {
        let words = "Make the window larger to answer.";
        return model.notify(Notice::warning(words));
    }
    if takes_unread_changes(model, key) {
        let words = "Read all of it first: PgDn.";
        return model.notify(Notice::warning(words));
    }
    if granting::holds_back(model, key) {
        return;
    }
    let decided_before = model.asks.first().map_or(0, OpenAsk::decided);
    let query = QueryId(model.queries.mint());
    let pressed = with_ask(model, |model, ask| {
        let decided = ask.decided();
        let answer = match &ask.form {
            Form::Choosing => choosing(model, ask, key),
            Form::Word(_) => word(ask, key),
            Form::Unread(_) => granting::unread(ask, key),
            Form::Arguments { .. } => arguments(model, ask, key, query, effects),
        };
        if answer.is_none() && ask.decided() > decided {
            // The next call has not been read yet: a key struck twice must not run it.
            ask.armed = false;
            ask.is_seen = false;
            ask.opened = model.now;
        }
        answer.map(|answer| (ask.id, answer))
    });
    let answered = pressed.flatten();
    let unread = model.asks.first_mut().and_then(|ask| ask.unread.take());
    model.unread.extend(unread);
    let decided = model.asks.first().map_or(0, OpenAsk::decided);
    if answered.is_some() || decided > decided_before {
        model.decided_by = Some(Held::new(key.code, now));
    }
    if let Some((ask, answer)) = answered {
        effects.push(Effect::Send(Command::Answer { ask, answer }));
        engine::answered(model);
    }
}

/// Would this key let something happen that the screen is too small to show?
fn decides_unread(model: &Model, key: KeyEvent) -> bool {
    let (width, height) = model.size;
    if width >= READABLE_WIDTH && height >= READABLE_HEIGHT {
        return false;
    }
    let Some(ask) = model.ask() else { return false };
    let rows = ask.rows(&model.transcript);
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

/// An address or a command may stand below what is in view: changes of settings, a
/// tool's new definition and a server's instructions are taken only once their end was
/// scrolled to.
fn takes_unread_changes(model: &Model, key: KeyEvent) -> bool {
    let Some(ask) = model.ask().filter(|ask| !ask.was_read()) else {
        return false;
    };
    let rows = ask.rows(&model.transcript);
    let row = chosen_by(ask, &rows, key);
    let takes = [
        Choice::TakeChanges,
        Choice::Accept,
        Choice::SendAlways,
        Choice::SendOnce,
    ];
    row.is_some_and(|row| takes.iter().any(|choice| row.act == Act::Choose(*choice)))
}

/// Pasted text never answers: the dialog's field takes it. Where none is open the
/// dialog gives the keyboard back, since more of the paste may follow as keys, and
/// the text is left to the message; then this is false.
pub fn paste(model: &mut Model, text: &str) -> bool {
    let Some(ask) = model.asks.first_mut() else {
        return false;
    };
    match &mut ask.form {
        Form::Word(editor) | Form::Unread(editor) => {
            editor.insert(&text.replace(['\n', '\r'], " "));
        }
        Form::Arguments { editor, query, .. } => {
            *query = None;
            editor.insert(text);
        }
        Form::Choosing => {
            ask.armed = false;
            return false;
        }
    }
    true
}

fn choosing(model: &Model, ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    let rows = ask.rows(&model.transcript);
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
        // A key that is held down repeats; nobody decided a second time.
        _ if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            return act(model, ask, rows.get(ask.chosen?)?.act);
        }
        (KeyCode::Esc, _) if ask.lists_choices() => ask.list_choices(false),
        (KeyCode::Esc, _) => return escape(ask),
        (KeyCode::Char('?'), KeyModifiers::NONE) => ask.list_choices(!ask.lists_choices()),
        (KeyCode::Char(c), KeyModifiers::NONE) => return act(model, ask, meant(&rows, c)?.act),
        _ => {}
    }
    None
}

/// Keys that scroll what is asked about, also while a word is typed.
pub fn scrolls(ask: &mut OpenAsk, key: KeyEvent) -> bool {
    let by_row = KeyModifiers::SHIFT | KeyModifiers::CONTROL;
    match normal(key) {
        (KeyCode::PageUp, _) => ask.scroll_by(-ask.page()),
        (KeyCode::PageDown, _) => ask.scroll_by(ask.page()),
        (KeyCode::Up, held) if held.intersects(by_row) => ask.scroll_by(-1),
        (KeyCode::Down, held) if held.intersects(by_row) => ask.scroll_by(1),
        _ => return false,
    }
    true
}

fn step(ask: &mut OpenAsk, count: usize, by: isize) {
    let last = count.saturating_sub(1);
    ask.chosen = Some(match ask.chosen {
        None if by < 0 => last,
        None => 0,
        Some(at) => at.saturating_add_signed(by).min(last),
    });
}

/// The choice that a key takes.
pub fn chosen_by<'a>(ask: &OpenAsk, rows: &'a [Row], key: KeyEvent) -> Option<&'a Row> {
    match normal(key) {
        (KeyCode::Enter, _) => ask.chosen.and_then(|at| rows.get(at)),
        (KeyCode::Char(c), KeyModifiers::NONE) => meant(rows, c),
        _ => None,
    }
}

fn meant(rows: &[Row], c: char) -> Option<&Row> {
    let key = key_under(c);
    rows.iter()
        .find(|row| row.key == Some(key) || row.digit == Some(key))
}

fn escape(ask: &mut OpenAsk) -> Option<Answer> {
    if ask.call().is_some() {
        return ask.decide(Decision::Refuse);
    }
    Some(Answer::Dismissed)
}

fn act(model: &Model, ask: &mut OpenAsk, act: Act) -> Option<Answer> {
    match act {
        Act::Run => ask.decide(Decision::Run),
        Act::Refuse => ask.decide(Decision::Refuse),
        Act::RunForSession => ask.decide(Decision::RunForSession),
        Act::RunAlways => ask.decide(Decision::RunAlways),
        Act::RunServer => ask.decide(Decision::RunServer),
        Act::Never => ask.decide(Decision::Never),
        Act::RunMatching => {
            let pattern = Pattern::of(&arguments_of(model, ask)?).to_json();
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
            // Whom the word is about is read above it.
            ask.scroll = 0;
            ask.form = Form::Word(Editor::default());
            None
        }
        Act::Edit => {
            let draft = ask.drafts.get_mut(ask.at).and_then(Option::take);
            let arguments = arguments_of(model, ask);
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

fn arguments_of(model: &Model, ask: &OpenAsk) -> Option<Arguments> {
    if let Some(Some(edited)) = ask.edited.get(ask.at) {
        return Some(edited.clone());
    }
    let offered = ask.call()?;
    let call = model.transcript.call(offered.call)?;
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

fn arguments(
    model: &Model,
    ask: &mut OpenAsk,
    key: KeyEvent,
    next_query: QueryId,
    effects: &mut Vec<Effect>,
) -> Option<Answer> {
    let tool = ask.call()?.tool.clone();
    let called = arguments_of(model, ask)?;
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
                        *query = Some(next_query);
                        effects.push(Effect::Send(Command::CheckArguments {
                            query: next_query,
                            tool,
                            arguments,
                        }));
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

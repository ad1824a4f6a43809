//! Keys of a question's dialog, once it has the keyboard.

use super::super::ask::{Act, Form, OpenAsk, Row};
use super::super::editor::{Edit, Editor};
use super::super::input::{key_under, normal, typed};
use super::super::keymap::{self, Action, When};
use super::super::model::Model;
use super::super::msg::Effect;
use super::engine;
use crate::domain::tool::Decision;
use crate::protocol::{Answer, Command, check_arguments};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Rows of a page in the scrolled part.
const PAGE_ROWS: usize = 8;

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(mut ask) = model.asks.first().cloned() else {
        return;
    };
    let decided = ask.decided();
    let answer = match &mut ask.form {
        Form::Choosing => choosing(model, &mut ask, key),
        Form::Word(_) => word(&mut ask, key),
        Form::Arguments { .. } => arguments(&mut ask, key),
    };
    if let Some(answer) = answer {
        let id = ask.id;
        effects.push(Effect::Send(Command::Answer { ask: id, answer }));
        engine::answered(model);
    } else if let Some(first) = model.asks.first_mut() {
        if ask.decided() > decided {
            // The next call has not been read yet: a key struck twice must not run it.
            ask.armed = false;
            ask.opened = model.now;
        }
        *first = ask;
    }
}

/// Pasted text never answers; a text field takes it.
pub fn paste(model: &mut Model, text: &str) {
    match model.asks.first_mut().map(|ask| &mut ask.form) {
        Some(Form::Word(editor)) => editor.insert(&text.replace(['\n', '\r'], " ")),
        Some(Form::Arguments { editor, .. }) => editor.insert(text),
        _ => {}
    }
}

fn choosing(model: &Model, ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    let rows = ask.rows(&model.transcript);
    match normal(key) {
        (KeyCode::PageUp, _) => ask.scroll = ask.scroll.saturating_sub(PAGE_ROWS),
        (KeyCode::PageDown, _) => ask.scroll += PAGE_ROWS,
        (KeyCode::Home, _) => ask.scroll = 0,
        (KeyCode::Left, _) => ask.show(ask.at.saturating_sub(1)),
        (KeyCode::Right, _) => ask.show(ask.at + 1),
        (KeyCode::Up, _) => step(ask, rows.len(), -1),
        (KeyCode::Down, _) => step(ask, rows.len(), 1),
        // A key that is held down repeats; nobody decided a second time.
        _ if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            return act(model, ask, rows.get(ask.chosen?)?.act);
        }
        (KeyCode::Esc, _) => return escape(ask),
        (KeyCode::Char(c), KeyModifiers::NONE) => return act(model, ask, meant(&rows, c)?.act),
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
        Act::UseFirst => ask.decide(Decision::UseFirst),
        Act::AsText => ask.decide(Decision::TreatAsText),
        Act::RunAll => Some(ask.run_rest()),
        Act::Choose(choice) => Some(Answer::Choice(choice)),
        Act::Deny => {
            ask.form = Form::Word(Editor::default());
            None
        }
        Act::Edit => {
            let call = ask
                .call()
                .and_then(|offered| model.transcript.call(offered.call));
            let arguments =
                call.and_then(|call| serde_json::to_string_pretty(&call.arguments).ok());
            ask.form = Form::Arguments {
                editor: Editor::new(&arguments.unwrap_or_default()),
                fault: None,
            };
            None
        }
    }
}

fn word(ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
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
            field_key(editor, key);
        }
    }
    None
}

fn arguments(ask: &mut OpenAsk, key: KeyEvent) -> Option<Answer> {
    let tool = ask.call()?.tool.clone();
    let Form::Arguments { editor, fault } = &mut ask.form else {
        return None;
    };
    match normal(key) {
        (KeyCode::Esc, _) => ask.form = Form::Choosing,
        (KeyCode::Enter, KeyModifiers::NONE) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => match check_arguments(&tool, &editor.text()) {
            Ok(arguments) => return ask.decide(Decision::Edit { arguments }),
            Err(why) => *fault = Some(why),
        },
        _ => {
            field_key(editor, key);
            *fault = None;
        }
    }
    None
}

/// A key of any text field: an editing key of the message, or a character.
pub fn field_key(editor: &mut Editor, key: KeyEvent) -> bool {
    let action = keymap::find(key, |when| when == When::Message);
    match (action, typed(key)) {
        (Some(Action::Edit(Edit::Newline)), _) => editor.edit(Edit::Newline),
        (Some(Action::Edit(edit)), _) => editor.edit(edit),
        (None, Some(c)) => {
            editor.insert(c.encode_utf8(&mut [0; 4]));
            true
        }
        _ => false,
    }
}

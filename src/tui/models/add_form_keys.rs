//! Keys of the form for another server of models: its fields, the check, saving.

use crate::domain::{ModelRef, Notice, QueryId};
use crate::protocol::Command;
use crate::tui::dialog::keys::field_key;
use crate::tui::input::decode::{normal, typed};
use crate::tui::model::{Model, Overlay};
use crate::tui::models::add_form as form;
use crate::tui::models::add_form::{Connect, PROVIDERS};
use crate::tui::msg::Effect;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

pub fn open(model: &mut Model) {
    let mut form = Connect::default();
    form.suggest_key(&model.shelf.stocks.key_variables);
    model.overlay = Some(Overlay::Connect(Box::new(form)));
}

/// Keys of the form for another server.
pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let set = Arc::clone(&model.shelf.stocks);
    let Some(form) = model.connect_dialog() else {
        return;
    };
    let last = form.last();
    let leaves = std::mem::take(&mut form.is_leaving) || !form.is_filled();
    match normal(key) {
        (KeyCode::Esc, _) if leaves => model.overlay = None,
        (KeyCode::Esc, _) => {
            form.is_leaving = true;
            let words = "Esc again drops what you typed here.";
            model.notify(Notice::info(words));
        }
        (KeyCode::Up, _) | (KeyCode::Tab, KeyModifiers::SHIFT) => {
            form.at = form.at.saturating_sub(1);
        }
        (KeyCode::Down | KeyCode::Tab, _) => form.at = (form.at + 1).min(last),
        (KeyCode::Enter, _) if form.at < form::SAVE => form.at += 1,
        (KeyCode::Enter, _) => save(model, effects),
        (code, _) if form.at == form::PROVIDER => {
            let count = PROVIDERS.len();
            let to = match (code, typed(key)) {
                (KeyCode::Left, _) => (form.provider + count - 1) % count,
                (KeyCode::Right, _) | (_, Some(' ')) => (form.provider + 1) % count,
                (_, Some(c @ '1'..='4')) => usize::from(c as u8 - b'1'),
                _ => return,
            };
            form.provider = to;
            form.changed(&set.key_variables);
        }
        // Nobody sees where in a hidden key the cursor would be.
        (KeyCode::Left | KeyCode::Right | KeyCode::Home, _) if form.at == form::KEY => {}
        (code, _) => {
            if typed(key).is_some() || code == KeyCode::Backspace {
                form.begin_typing();
            }
            if form.field().is_some_and(|field| field_key(field, key)) {
                form.changed(&set.key_variables);
            }
        }
    }
}

/// Checks what was filled in, or saves it although the check failed.
fn save(model: &mut Model, effects: &mut Vec<Effect>) {
    let query = QueryId(model.queries.mint());
    let Some(form) = model.connect_dialog() else {
        return;
    };
    let Some(new) = form.new_model() else {
        form.at = form::MODEL;
        form.fault = Some(Notice::warning("Please name the model first."));
        return;
    };
    if form.at == form::SAVE_ANYWAY && form.failed {
        return effects.push(Effect::Send(Command::AddModel(new)));
    }
    if form.query.is_none() {
        form.fault = None;
        form.query = Some(query);
        effects.push(Effect::Send(Command::TryModel { query, model: new }));
    }
}

/// The check is back: what is right is saved at once.
pub fn tried(
    model: &mut Model,
    query: QueryId,
    result: Result<(), Notice>,
    effects: &mut Vec<Effect>,
) {
    let Some(form) = model.connect_dialog() else {
        return;
    };
    if form.query != Some(query) {
        return;
    }
    form.query = None;
    match (result, form.new_model()) {
        (Ok(()), Some(new)) => effects.push(Effect::Send(Command::AddModel(new))),
        (Err(notice), _) => {
            form.fault = Some(notice);
            form.failed = true;
        }
        (Ok(()), None) => {}
    }
}

/// A model was added and is used: what asked for it is done.
pub fn added(model: &mut Model, _added: &ModelRef) {
    if matches!(model.overlay, Some(Overlay::Connect(_))) {
        model.overlay = None;
    }
}

//! Keys of the dialog of models, the command that opens it, and the offer of a
//! first run.

use super::super::connect::{self, Connect, PROVIDERS};
use super::super::editor::Editor;
use super::super::input::{key_under, normal, typed};
use super::super::model::{Model, Overlay, Pick, Picked};
use super::super::msg::Effect;
use super::super::shelf::{ModelRow, Models, Offered, choosable, rows};
use super::approval::field_key;
use crate::domain::{ModelRef, Notice, QueryId, Stocks, Think};
use crate::protocol::Command;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

const PAGE_ROWS: usize = 10;
const THINK: [(&str, Think); 5] = [
    ("on", Think::On),
    ("off", Think::Off),
    ("low", Think::Low),
    ("medium", Think::Medium),
    ("high", Think::High),
];

/// `/models`, and what may follow it.
pub fn run(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    let (word, name) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let name = name.trim().to_owned();
    match (word, name.is_empty()) {
        ("", _) => open(model, None, effects),
        ("pull", true) => open(model, Some(Editor::default()), effects),
        ("pull", false) => {
            effects.push(Effect::Send(Command::PullModel { server: None, name }));
        }
        ("stop", true) => effects.push(Effect::Send(Command::StopPull)),
        ("rm", false) => {
            effects.push(Effect::Send(Command::RemoveModel { server: None, name }));
        }
        ("rm", true) => {
            let notice = Notice::warning("Please name the model: /models rm NAME.");
            model.notify(notice);
        }
        _ => model.notify(Notice::warning(
            "Please enter /models, or pull NAME, rm NAME or stop behind it.",
        )),
    }
}

fn open(model: &mut Model, pulling: Option<Editor>, effects: &mut Vec<Effect>) {
    model.overlay = Some(Overlay::Models(Box::new(Models {
        pulling,
        ..Models::default()
    })));
    effects.push(Effect::Send(Command::ListStocks));
}

pub fn stocks_changed(model: &mut Model, stocks: Arc<Stocks>) {
    let chosen = chosen_row(model).map(|row| (row.server.clone(), row.name().to_owned()));
    let before = model.offered().len();
    model.shelf.stocks = stocks;
    if model.offered().len() != before {
        model.shelf.offer.changed = model.now;
        model.shelf.offer.chosen = None;
    }
    // Rows came or went: what the arrows stood on stays under them.
    let filter = filter(model);
    let shelf = Arc::clone(&model.shelf.stocks);
    let found = choosable(&rows(&shelf, &filter));
    let at = chosen.and_then(|(server, name)| {
        found
            .iter()
            .position(|row| *row.server == server && row.name() == name)
    });
    if let Some(open) = model.models_dialog() {
        let last = found.len().saturating_sub(1);
        open.chosen = at.unwrap_or(open.chosen).min(last);
    }
}

fn filter(model: &Model) -> String {
    match &model.overlay {
        Some(Overlay::Models(open)) => open.filter.text(),
        _ => String::new(),
    }
}

fn chosen_row(model: &Model) -> Option<ModelRow<'_>> {
    let Some(Overlay::Models(open)) = &model.overlay else {
        return None;
    };
    let rows = choosable(&rows(&model.shelf.stocks, &open.filter.text()));
    rows.get(open.chosen).copied()
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let count = choosable(&rows(&model.shelf.stocks, &filter(model))).len();
    let Some(open) = model.models_dialog() else {
        return;
    };
    if open.pulling.is_some() {
        return pull_field(model, key, effects);
    }
    let last = count.saturating_sub(1);
    match normal(key) {
        (KeyCode::Esc, _) if open.in_list => open.in_list = false,
        (KeyCode::Esc, _) => model.overlay = None,
        (KeyCode::Tab, _) => open.in_list = !open.in_list,
        (KeyCode::Up, _) => open.chosen = open.chosen.saturating_sub(1),
        (KeyCode::Down, _) => open.chosen = (open.chosen + 1).min(last),
        (KeyCode::PageUp, _) => open.chosen = open.chosen.saturating_sub(PAGE_ROWS),
        (KeyCode::PageDown, _) => open.chosen = (open.chosen + PAGE_ROWS).min(last),
        (KeyCode::Enter, _) => choose(model, effects),
        (KeyCode::Delete, _) if open.in_list => remove(model, effects),
        (KeyCode::Char(c), KeyModifiers::NONE) if open.in_list => match key_under(c) {
            'p' => open.pulling = Some(Editor::new(&open.filter.text())),
            'd' => remove(model, effects),
            'x' => effects.push(Effect::Send(Command::StopPull)),
            'r' => effects.push(Effect::Send(Command::ListStocks)),
            'a' => connect(model),
            'k' => open.chosen = open.chosen.saturating_sub(1),
            'j' => open.chosen = (open.chosen + 1).min(last),
            _ => {}
        },
        _ if !open.in_list && field_key(&mut open.filter, key) => open.chosen = 0,
        _ => {}
    }
}

/// The name of a model to pull is typed.
fn pull_field(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let server = chosen_row(model).map(|row| row.server.clone());
    let Some(open) = model.models_dialog() else {
        return;
    };
    let Some(field) = &mut open.pulling else {
        return;
    };
    match normal(key) {
        (KeyCode::Esc, _) => open.pulling = None,
        (KeyCode::Enter, _) => {
            let name = field.text().trim().to_owned();
            open.pulling = None;
            // The server on whose row the arrows stand, where it is an Ollama.
            let is_ollama = |server: &_| matches!(server, crate::domain::ModelServer { provider, .. } if *provider == crate::domain::ProviderKind::Ollama);
            let server = server.filter(is_ollama);
            if !name.is_empty() {
                effects.push(Effect::Send(Command::PullModel { server, name }));
            }
        }
        _ => {
            field_key(field, key);
        }
    }
}

fn choose(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(row) = chosen_row(model) else { return };
    let configured = row.configured.cloned();
    let (server, name) = (row.server.clone(), row.model().to_owned());
    model.overlay = None;
    match configured {
        Some(reference) => {
            super::overlay::picked(model, &Picked::Model(reference), effects);
        }
        None => effects.push(Effect::Send(Command::UseModel {
            server,
            model: name,
        })),
    }
}

fn remove(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(row) = chosen_row(model) else { return };
    if row.listed.is_none() {
        let notice = Notice::warning("The server does not list this model.");
        return model.notify(notice.advise("To drop it from the list, edit config.json."));
    }
    let (server, name) = (row.server.clone(), row.model().to_owned());
    effects.push(Effect::Send(Command::RemoveModel {
        server: Some(server),
        name,
    }));
}

/// Keys of the offer of a first run. False where the key is not for it.
pub fn offer_key(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) -> bool {
    if !model.offer_takes_keys() {
        return false;
    }
    let count = model.offered().len();
    let chosen = model.shelf.offer.chosen;
    match normal(key) {
        (KeyCode::Esc, _) => {
            model.shelf.offer.closed = true;
            let notice = Notice::info("Later then: /models shows this choice again.");
            model.notify(notice);
        }
        (KeyCode::Up, KeyModifiers::NONE) => {
            let above = chosen.map_or(count, |at| at).saturating_sub(1);
            model.shelf.offer.chosen = Some(above);
        }
        (KeyCode::Down, KeyModifiers::NONE) => {
            let below = chosen.map_or(0, |at| (at + 1).min(count - 1));
            model.shelf.offer.chosen = Some(below);
        }
        (KeyCode::Enter, KeyModifiers::NONE) => match chosen {
            Some(at) => take_offer(model, at, effects),
            None => return false,
        },
        (KeyCode::Char(c @ '1'..='9'), KeyModifiers::NONE) => {
            let at = usize::from(c as u8 - b'1');
            if at >= count || !model.offer_was_read() {
                return false;
            }
            take_offer(model, at, effects);
        }
        _ => return false,
    }
    true
}

fn take_offer(model: &mut Model, at: usize, effects: &mut Vec<Effect>) {
    // A key that is held down chooses once.
    if !model.offer_was_read() {
        return;
    }
    model.shelf.offer.changed = model.now;
    match model.offered().get(at).copied() {
        Some(Offered::Model(server, listed)) => {
            let (server, name) = (server.clone(), listed.name.clone());
            effects.push(Effect::Send(Command::UseModel {
                server,
                model: name,
            }));
        }
        Some(Offered::Another) => connect(model),
        Some(Offered::Demo) => effects.push(Effect::StartDemo),
        None => {}
    }
}

pub fn connect(model: &mut Model) {
    let mut form = Connect::default();
    form.suggest_key(&model.shelf.stocks.key_variables);
    model.overlay = Some(Overlay::Connect(Box::new(form)));
}

/// Keys of the form for another server.
pub fn connect_key(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let set = Arc::clone(&model.shelf.stocks);
    let Some(form) = model.connect_dialog() else {
        return;
    };
    let last = form.last();
    match normal(key) {
        (KeyCode::Esc, _) => model.overlay = None,
        (KeyCode::Up, _) | (KeyCode::Tab, KeyModifiers::SHIFT) => {
            form.at = form.at.saturating_sub(1);
        }
        (KeyCode::Down | KeyCode::Tab, _) => form.at = (form.at + 1).min(last),
        (KeyCode::Enter, _) if form.at < connect::SAVE => form.at += 1,
        (KeyCode::Enter, _) => save(model, effects),
        (code, _) if form.at == connect::PROVIDER => {
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
        (KeyCode::Left | KeyCode::Right | KeyCode::Home, _) if form.at == connect::KEY => {}
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
        form.at = connect::MODEL;
        form.fault = Some(Notice::warning("Please name the model first."));
        return;
    };
    if form.at == connect::SAVE_ANYWAY && form.failed {
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

/// `/think`, and what may follow it.
pub fn think(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    let word = argument.to_lowercase();
    let found = THINK.iter().find(|(name, _)| *name == word);
    if let Some((_, think)) = found {
        return set_think(model, *think, effects);
    }
    if !argument.is_empty() {
        let words = "Please enter on, off, low, medium or high.";
        return model.notify(Notice::warning(words));
    }
    if model.selected.is_none() {
        let notice = Notice::warning("No model is chosen yet.");
        return model.notify(notice.advise("Choose one with /models."));
    }
    let labels = [
        "on  think before answering",
        "off  answer at once",
        "low  think a little",
        "medium",
        "high  think long",
    ];
    let rows = THINK.iter().zip(labels);
    let present = model.shelf.think;
    model.overlay = Some(Overlay::Pick(Pick {
        title: "Thinking",
        zero: "Keep it as it is",
        rows: rows
            .map(|((_, think), label)| (Picked::Think(*think), label.to_owned()))
            .collect(),
        chosen: THINK
            .iter()
            .position(|(_, think)| Some(*think) == present)
            .unwrap_or(0),
        typed: String::new(),
    }));
}

pub fn set_think(model: &mut Model, think: Think, effects: &mut Vec<Effect>) {
    if let Some(name) = model
        .selected
        .as_ref()
        .map(|selected| selected.name.clone())
    {
        let word = think_word(think);
        let said = format!("Thinking of {name}: {word}, until humble ends.");
        model.notify(Notice::info(said));
    }
    effects.push(Effect::Send(Command::SetThink(think)));
}

pub fn think_word(think: Think) -> &'static str {
    let known = THINK.iter().find(|(_, known)| *known == think);
    known.map_or("on", |(word, _)| word)
}

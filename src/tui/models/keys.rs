//! Keys of the dialog of models and the command that opens it; how long a model
//! thinks.

use crate::domain::stock::no_name;
use crate::domain::{Notice, Stocks, Think};
use crate::protocol::Command;
use crate::tui::dialog::keys::field_key;
use crate::tui::input::decode::{key_under, normal};
use crate::tui::model::{Model, Overlay, Pick, Picked};
use crate::tui::models::add_form_keys;
use crate::tui::models::state::{ModelRow, Models, choosable, is_nothing_known, rows};
use crate::tui::msg::Effect;
use crate::tui::widgets::editor::Editor;
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
    let chosen_before = chosen.is_some();
    let at = chosen.and_then(|(server, name)| {
        found
            .iter()
            .position(|row| *row.server == server && row.name() == name)
    });
    if let Some(open) = model.models_dialog() {
        open.is_lost |= chosen_before && at.is_none();
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
    if open.is_lost {
        return None;
    }
    let rows = choosable(&rows(&model.shelf.stocks, &open.filter.text()));
    rows.get(open.chosen).copied()
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let count = choosable(&rows(&model.shelf.stocks, &filter(model))).len();
    let nothing = is_nothing_known(&model.shelf.stocks);
    let Some(open) = model.models_dialog() else {
        return;
    };
    if open.pulling.is_some() {
        return pull_field(model, key, effects);
    }
    let last = count.saturating_sub(1);
    let key_pressed = normal(key);
    if open.is_lost && moves(key_pressed, open.in_list) {
        // The first step shows where the arrows are.
        open.is_lost = false;
        return;
    }
    match key_pressed {
        (KeyCode::Char(c), KeyModifiers::NONE)
            if nothing && !open.in_list && key_under(c) == 'a' && open.filter.is_blank() =>
        {
            add_form_keys::open(model);
        }
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
            'c' => effects.push(Effect::Send(Command::StopPull)),
            'r' => effects.push(Effect::Send(Command::ListStocks)),
            'a' => add_form_keys::open(model),
            'k' => open.chosen = open.chosen.saturating_sub(1),
            'j' => open.chosen = (open.chosen + 1).min(last),
            _ => {}
        },
        _ if !open.in_list && field_key(&mut open.filter, key) => {
            open.chosen = 0;
            open.is_lost = false;
        }
        _ => {}
    }
}

/// Is this a key of the arrows' kind?
fn moves((code, held): (KeyCode, KeyModifiers), in_list: bool) -> bool {
    let letter = |c| in_list && held == KeyModifiers::NONE && matches!(key_under(c), 'j' | 'k');
    match code {
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => true,
        KeyCode::Char(c) => letter(c),
        _ => false,
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
            if let Some(notice) = no_name(&name).filter(|_| !name.is_empty()) {
                return model.notify(notice);
            }
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
            crate::tui::update::overlay::picked(model, &Picked::Model(reference), effects);
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

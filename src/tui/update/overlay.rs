//! Keys of what lies over the panes: lists, the palette, help and logs.

use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::dialog::keys::field_key;
use crate::tui::input::decode::normal;
use crate::tui::keymap::Action;
use crate::tui::model::{Focus, Model, Overlay, Pick, Picked};
use crate::tui::models::add_form_keys;
use crate::tui::msg::Effect;
use crate::tui::update::{actions, calls, commands};
use crate::tui::widgets::text_viewer_keys;
use crate::tui::{history_search, log, models, servers, sessions, trust};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Rows of a page in help and logs.
const PAGE_ROWS: isize = 10;

/// The rows that a key moves a list by, where it moves one.
pub fn step(key: KeyEvent) -> Option<isize> {
    match normal(key).0 {
        KeyCode::Up => Some(-1),
        KeyCode::Down => Some(1),
        KeyCode::PageUp => Some(-PAGE_ROWS),
        KeyCode::PageDown => Some(PAGE_ROWS),
        _ => None,
    }
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let action = crate::tui::keymap::find(key, |when| when == crate::tui::keymap::When::Always);
    if matches!(model.overlay, Some(Overlay::Sessions(_))) {
        return sessions::keys::press(model, key, effects);
    }
    match model.overlay {
        Some(Overlay::Models(_)) => return models::keys::press(model, key, effects),
        Some(Overlay::Connect(_)) => return add_form_keys::press(model, key, effects),
        Some(Overlay::Trust(_)) => return trust::keys::press(model, key, effects),
        Some(Overlay::Reading(_)) => return text_viewer_keys::press(model, key, effects),
        _ => {}
    }
    if action == Some(Action::Back) || closes_itself(model, action) {
        model.overlay = None;
        return;
    }
    if let Some(step) = step(key) {
        return scroll(model, step);
    }
    match &mut model.overlay {
        Some(Overlay::Palette { .. }) => palette(model, key, effects),
        Some(Overlay::Recall { .. }) => history_search::press(model, key),
        Some(Overlay::Log(_)) => log::keys::press(model, key, effects),
        Some(Overlay::ServerLog(_)) => text_viewer_keys::press_log(model, key, effects),
        Some(Overlay::Pick(pick)) => {
            if let Some(number) = number(pick, key) {
                let picked = pick.rows.get(number).map(|(picked, _)| picked.clone());
                model.overlay = None;
                if let Some(picked) = picked {
                    crate::tui::update::overlay::picked(model, &picked, effects);
                }
            }
        }
        _ => {}
    }
}

/// The key that opened it closes it.
fn closes_itself(model: &Model, action: Option<Action>) -> bool {
    matches!(
        (&model.overlay, action),
        (Some(Overlay::Help { .. }), Some(Action::Help))
            | (Some(Overlay::Log(_)), Some(Action::Log))
            | (Some(Overlay::Palette { .. }), Some(Action::Commands))
            | (Some(Overlay::Recall { .. }), Some(Action::Recall))
    )
}

pub fn scroll(model: &mut Model, rows: isize) {
    match &mut model.overlay {
        Some(Overlay::Help { scroll }) => *scroll = scroll.saturating_add_signed(rows),
        // Logs are read from their end.
        Some(Overlay::Log(pane)) => pane.scroll(rows),
        Some(Overlay::ServerLog(pane)) => pane.scroll(rows),
        Some(Overlay::Reading(text)) => text.scroll(rows),
        Some(Overlay::Palette { filter, chosen }) => {
            let last = commands::palette(&filter.text()).len().saturating_sub(1);
            *chosen = chosen.saturating_add_signed(rows).min(last);
        }
        Some(Overlay::Recall { filter, chosen }) => {
            let found = history_search::found(&model.history.prompts, &filter.text());
            let last = found.len().saturating_sub(1);
            *chosen = chosen.saturating_add_signed(rows).min(last);
        }
        Some(Overlay::Trust(_)) => trust::keys::scroll(model, rows),
        Some(Overlay::Pick(pick)) => {
            pick.chosen = pick.chosen.saturating_add_signed(rows).min(pick.rows.len());
        }
        _ => {}
    }
}

/// The row that was picked: a digit at once where no longer number begins with
/// it, the arrows' row with Enter. The row behind the last is "0, nothing".
fn number(pick: &mut Pick, key: KeyEvent) -> Option<usize> {
    let count = pick.rows.len();
    let row = |number: usize| number.checked_sub(1).unwrap_or(count);
    match normal(key) {
        (KeyCode::Enter, _) if pick.typed.is_empty() => Some(pick.chosen),
        (KeyCode::Enter, _) => {
            let number: usize = std::mem::take(&mut pick.typed).parse().ok()?;
            (number <= count).then(|| row(number))
        }
        (KeyCode::Backspace, _) => {
            pick.typed.pop();
            None
        }
        (KeyCode::Char(c @ '0'..='9'), KeyModifiers::NONE) => {
            pick.typed.push(c);
            let number: usize = pick.typed.parse().ok()?;
            if number > count {
                pick.typed.clear();
                return None;
            }
            pick.chosen = row(number);
            (number == 0 || number * 10 > count).then(|| row(number))
        }
        _ => None,
    }
}

pub fn picked(model: &mut Model, picked: &Picked, effects: &mut Vec<Effect>) {
    let command = match picked {
        Picked::Model(chosen) => {
            model.notify(Notice::info(format!("Using {}.", chosen.name)));
            Command::SelectModel(chosen.clone())
        }
        Picked::Server(server) => return servers::commands::toggle(model, server, effects),
        Picked::Call(call) => return calls::cancel_one(model, *call, effects),
        Picked::Persona(name) => Command::SelectPersona(name.clone()),
        Picked::Mode(mode) => Command::SetToolMode(*mode),
        Picked::Think(think) => return models::keys::set_think(model, *think, effects),
        Picked::Branch(branch) => Command::SwitchBranch(branch.clone()),
    };
    effects.push(Effect::Send(command));
}

fn palette(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::Palette { filter, chosen }) = &mut model.overlay else {
        return;
    };
    if normal(key).0 != KeyCode::Enter {
        *chosen = 0;
        field_key(filter, key);
        return;
    }
    let found = commands::palette(&filter.text());
    let action = found.get(*chosen).map(|binding| binding.action);
    model.overlay = None;
    if let Some(action) = action {
        // A palette's command means the whole program, not the pane in focus.
        let focus = std::mem::replace(&mut model.focus, Focus::Message);
        actions::run(model, action, "", effects);
        if model.overlay.is_none() && model.focus == Focus::Message {
            model.focus = focus;
        }
    }
}

pub fn paste(model: &mut Model, text: &str) {
    let line = text.replace(['\n', '\r'], " ");
    match &mut model.overlay {
        Some(Overlay::Palette { filter, chosen } | Overlay::Recall { filter, chosen }) => {
            *chosen = 0;
            filter.insert(&line);
        }
        Some(Overlay::Sessions(open)) => {
            open.chosen = 0;
            open.filter.insert(&line);
        }
        Some(Overlay::Models(open)) => {
            open.chosen = 0;
            open.pulling
                .as_mut()
                .unwrap_or(&mut open.filter)
                .insert(&line);
        }
        Some(Overlay::Connect(form)) => {
            let line: String = line.chars().filter(|c| !c.is_control()).collect();
            form.begin_typing();
            if let Some(field) = form.field() {
                field.insert(line.trim());
                form.changed(&model.shelf.stocks.key_variables);
            }
        }
        _ => {}
    }
}

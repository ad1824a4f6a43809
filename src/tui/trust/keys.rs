//! Keys of `/trust`: looking at a decision, taking it back, and seeing how a withheld
//! tool changed.

use crate::domain::{Notice, Trusted};
use crate::protocol::Command;
use crate::tui::input::decode::{key_under, normal};
use crate::tui::keymap;
use crate::tui::keymap::{Action, When};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::Effect;
use crate::tui::trust::state::TrustList;
use crate::tui::update::overlay;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub fn open(model: &mut Model) {
    model.overlay = Some(Overlay::Trust(TrustList::default()));
}

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let back = keymap::find(key, |when| when == When::Always) == Some(Action::Back);
    let trusted = model.trusted.clone();
    let Some(Overlay::Trust(list)) = &mut model.overlay else {
        return;
    };
    list.chosen = list.chosen.min(trusted.len().saturating_sub(1));
    if back {
        if list.detail.take().is_none() {
            model.overlay = None;
        }
        return;
    }
    if let Some(step) = overlay::step(key) {
        return scroll(model, step);
    }
    let Some(chosen) = trusted.get(list.chosen) else {
        return;
    };
    // A key that is held down decides once.
    if key.kind == KeyEventKind::Repeat {
        return;
    }
    match normal(key) {
        (KeyCode::Enter, KeyModifiers::NONE) => match chosen {
            Trusted::Waiting(change) => {
                let (server, tool) = (change.server.clone(), change.tool.name.clone());
                model.overlay = None;
                effects.push(Effect::Send(Command::ReviewTool { server, tool }));
            }
            _ => {
                list.detail = match list.detail {
                    None => Some(0),
                    Some(_) => None,
                }
            }
        },
        (KeyCode::Delete, KeyModifiers::NONE) => revoke(model, chosen, effects),
        (KeyCode::Char(c), KeyModifiers::NONE) if key_under(c) == 'x' => {
            revoke(model, chosen, effects);
        }
        _ => {}
    }
}

fn revoke(model: &mut Model, chosen: &Trusted, effects: &mut Vec<Effect>) {
    if let Trusted::Waiting(_) = chosen {
        let said = "It is withheld already: Enter shows how it changed.";
        return model.notify(Notice::info(said));
    }
    if let Some(Overlay::Trust(list)) = &mut model.overlay {
        list.detail = None;
    }
    effects.push(Effect::Send(Command::Revoke(Box::new(chosen.clone()))));
}

pub fn scroll(model: &mut Model, rows: isize) {
    let last = model.trusted.len().saturating_sub(1);
    if let Some(Overlay::Trust(list)) = &mut model.overlay {
        match &mut list.detail {
            Some(top) => *top = top.saturating_add_signed(rows),
            None => list.chosen = list.chosen.saturating_add_signed(rows).min(last),
        }
    }
}

//! Keys of the offer of a first run. A digit or an arrow only points; Enter takes, so
//! that a message which begins with a digit writes no settings.

use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::input::decode::normal;
use crate::tui::model::Model;
use crate::tui::models::add_form_keys;
use crate::tui::models::state::Offered;
use crate::tui::msg::Effect;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// False where the key is not for it.
pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) -> bool {
    if !model.offer_takes_keys() {
        return false;
    }
    let count = model.offered().len();
    let was_read = model.offer_was_read();
    let offer = &mut model.shelf.offer;
    match normal(key) {
        (KeyCode::Esc, _) => {
            offer.closed = true;
            offer.typed.clear();
            let notice = Notice::info("Later then: /models shows this choice again.");
            model.notify(notice);
        }
        (KeyCode::Up, KeyModifiers::NONE) => {
            offer.point(offer.chosen.map_or(count, |at| at).saturating_sub(1));
        }
        (KeyCode::Down, KeyModifiers::NONE) => {
            offer.point(offer.chosen.map_or(0, |at| (at + 1).min(count - 1)));
        }
        (KeyCode::Backspace, KeyModifiers::NONE) if offer.typed.pop().is_some() => {
            offer.chosen = None;
        }
        (KeyCode::Enter, KeyModifiers::NONE) => match offer.chosen {
            Some(at) => take(model, at, effects),
            None => return false,
        },
        (KeyCode::Char(c @ '1'..='9'), KeyModifiers::NONE) => {
            let at = usize::from(c as u8 - b'1');
            if at >= count || !was_read {
                return false;
            }
            offer.chosen = Some(at);
            offer.typed.push(c);
        }
        _ => return false,
    }
    true
}

/// The digits that pointed were the beginning of a message.
pub fn give_back(model: &mut Model) {
    if !model.shelf.offer.typed.is_empty() {
        let typed = std::mem::take(&mut model.shelf.offer.typed);
        model.shelf.offer.chosen = None;
        model.editor.insert(&typed);
    }
}

fn take(model: &mut Model, at: usize, effects: &mut Vec<Effect>) {
    // A key that is held down chooses once.
    if !model.offer_was_read() {
        return;
    }
    model.shelf.offer.changed = model.now;
    model.shelf.offer.typed.clear();
    match model.offered().get(at).copied() {
        Some(Offered::Model(server, listed)) => {
            let (server, name) = (server.clone(), listed.name.clone());
            effects.push(Effect::Send(Command::UseModel {
                server,
                model: name,
            }));
        }
        Some(Offered::Another) => add_form_keys::open(model),
        Some(Offered::Demo) => effects.push(Effect::StartDemo),
        None => {}
    }
}

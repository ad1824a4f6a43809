//! Keys of a text that is read whole, and of what a server wrote to stderr.

use crate::tui::input::decode::{key_under, normal};
use crate::tui::keymap;
use crate::tui::keymap::{Action, When};
use crate::tui::model::{Model, Overlay};
use crate::tui::msg::Effect;
use crate::tui::update::calls::send_to_clipboard;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let action = keymap::find(key, |when| when == When::Always);
    let Some(Overlay::Reading(text)) = &mut model.overlay else {
        return;
    };
    match (normal(key), action) {
        (_, Some(Action::Back)) => model.overlay = None,
        ((KeyCode::Up, _), _) => text.scroll(-1),
        ((KeyCode::Down, _), _) => text.scroll(1),
        ((KeyCode::PageUp, _), _) => text.page(-1),
        ((KeyCode::PageDown | KeyCode::Char(' '), _), _) => text.page(1),
        ((KeyCode::Home, _), _) => text.jump(false),
        ((KeyCode::End, _), _) => text.jump(true),
        ((KeyCode::Char(c), KeyModifiers::NONE), _) if key_under(c) == 'y' => {
            let copied = text.copied().to_owned();
            send_to_clipboard(model, copied, effects);
        }
        _ => {}
    }
}

/// What is not scrolling, which all logs share.
pub fn press_log(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::ServerLog(pane)) = &mut model.overlay else {
        return;
    };
    match normal(key) {
        (KeyCode::Home, _) => pane.back = usize::MAX,
        (KeyCode::End, _) => pane.back = 0,
        (KeyCode::Char(c), KeyModifiers::NONE) if key_under(c) == 'y' => {
            let text = pane.text();
            send_to_clipboard(model, text, effects);
        }
        _ => {}
    }
}

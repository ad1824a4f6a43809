//! Searching what was typed before (Ctrl+R).

use crate::tui::dialog::keys::field_key;
use crate::tui::input::decode::normal;
use crate::tui::model::{Focus, Model, Overlay};
use crossterm::event::{KeyCode, KeyEvent};

/// Rows that a search finds at most: more are no help to anybody.
const FOUND_MAX: usize = 200;

/// The prompts that hold every word of `filter`, newest first.
pub fn found<'a>(prompts: &'a [String], filter: &str) -> Vec<&'a str> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let holds_all = |prompt: &&String| {
        let prompt = prompt.to_lowercase();
        words.iter().all(|word| prompt.contains(word))
    };
    let newest_first = prompts.iter().rev();
    newest_first
        .filter(holds_all)
        .take(FOUND_MAX)
        .map(String::as_str)
        .collect()
}

pub fn press(model: &mut Model, key: KeyEvent) {
    let Some(Overlay::Recall { filter, chosen }) = &mut model.overlay else {
        return;
    };
    if normal(key).0 != KeyCode::Enter {
        *chosen = 0;
        field_key(filter, key);
        return;
    }
    let found = found(&model.history.prompts, &filter.text());
    let prompt = found.get(*chosen).map(|prompt| (*prompt).to_owned());
    model.overlay = None;
    if let Some(prompt) = prompt {
        // It is put where it can be changed, and sent by a second Enter.
        model.editor.set(&prompt);
        model.focus = Focus::Message;
    }
}

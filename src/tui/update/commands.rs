//! Commands that begin with `/`: completing them, running them, and what is said
//! about one that does not exist.

use crate::domain::Notice;
use crate::tui::input::decode::normal;
use crate::tui::keymap;
use crate::tui::keymap::Binding;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::update::actions;
use crate::tui::widgets::nearest::nearest;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The commands that what is typed may become.
pub fn completions(model: &Model) -> Vec<(&'static str, &'static Binding)> {
    let typed = model.editor.one_line().filter(|line| line.starts_with('/'));
    let (Some(typed), Some(_)) = (typed, model.completion) else {
        return Vec::new();
    };
    let found: Vec<_> = keymap::commands()
        .filter(|(command, _)| command.starts_with(typed))
        .collect();
    // A command that stands there whole needs no list.
    match found.as_slice() {
        [(only, _)] if *only == typed => Vec::new(),
        _ => found,
    }
}

/// Keys of the open list. False where the key is not for it.
pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) -> bool {
    let found = completions(model);
    if found.is_empty() {
        return false;
    }
    let chosen = model.completion.unwrap_or(0).min(found.len() - 1);
    match normal(key) {
        (KeyCode::Up, KeyModifiers::NONE) => {
            model.completion = Some((chosen + found.len() - 1) % found.len());
        }
        (KeyCode::Down, KeyModifiers::NONE) => model.completion = Some((chosen + 1) % found.len()),
        (KeyCode::Tab, KeyModifiers::NONE) => take(model, found[chosen]),
        (KeyCode::Esc, _) => model.completion = None,
        // Enter runs what stands there, or what the arrows stand on.
        (KeyCode::Enter, KeyModifiers::NONE) => {
            let typed = model.editor.text();
            let exact = found.iter().any(|(command, _)| *command == typed);
            if chosen == 0 && (exact || typed == "/") {
                return false;
            }
            model.editor.take();
            actions::run(model, found[chosen].1.action, "", effects);
        }
        _ => return false,
    }
    true
}

fn take(model: &mut Model, (command, binding): (&str, &Binding)) {
    let space = if binding.usage.is_empty() { "" } else { " " };
    model.editor.set(&format!("{command}{space}"));
}

/// Runs a command that was typed whole. One that is unknown stays where it is, so
/// that it can be mended.
pub fn run_typed(model: &mut Model, line: &str, effects: &mut Vec<Effect>) {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = name.to_lowercase();
    let known = keymap::commands().find(|(command, _)| *command == name);
    let Some((_, binding)) = known else {
        let mut notice = Notice::warning(format!("There is no command {name}."));
        let known = keymap::commands().map(|(command, _)| command);
        if let Some(near) = nearest(&name, known) {
            notice = notice.advise(format!("Did you mean {near}?"));
        }
        return model.notify(notice);
    };
    model.editor.take();
    actions::run(model, binding.action, argument.trim(), effects);
}

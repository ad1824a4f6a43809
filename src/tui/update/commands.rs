//! Commands that begin with `/`: completing them, running them, and what is said
//! about one that does not exist.

use crate::domain::Notice;
use crate::tui::composer::state::Completion;
use crate::tui::input::decode::normal;
use crate::tui::keymap::{self, Action, Binding};
use crate::tui::layer::Request;
use crate::tui::model::Model;
use crate::tui::widgets::nearest::nearest;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Keys of the open list. False where the key is not for it.
pub fn press(model: &mut Model, key: KeyEvent) -> bool {
    let found = model.composer.completions();
    if found.is_empty() {
        return false;
    }
    let chosen = model.composer.selected_completion(found.len());
    match normal(key) {
        (KeyCode::Up, KeyModifiers::NONE) => {
            select(model, (chosen + found.len() - 1) % found.len());
        }
        (KeyCode::Down, KeyModifiers::NONE) => select(model, (chosen + 1) % found.len()),
        (KeyCode::Tab, KeyModifiers::NONE) => take(model, found[chosen]),
        (KeyCode::Esc, _) => model.composer.completion = Completion::Closed,
        // Enter runs what stands there, or what the arrows stand on.
        (KeyCode::Enter, KeyModifiers::NONE) => {
            let typed = model.composer.editor.text();
            let exact = found.iter().any(|(command, _)| *command == typed);
            if chosen == 0 && (exact || typed == "/") {
                return false;
            }
            model.composer.editor.take();
            run(model, found[chosen].1.action, "");
        }
        _ => return false,
    }
    true
}

fn select(model: &mut Model, row: usize) {
    model.composer.completion = Completion::Selected(row);
}

fn run(model: &mut Model, action: Action, argument: &str) {
    let argument = argument.to_owned();
    model.requests.push_back(Request::Command(action, argument));
}

fn take(model: &mut Model, (command, binding): (&str, &Binding)) {
    let space = if binding.usage.is_empty() { "" } else { " " };
    model.composer.editor.set(&format!("{command}{space}"));
}

/// Runs a command that was typed whole. One that is unknown stays where it is, so
/// that it can be mended.
pub fn run_typed(model: &mut Model, line: &str) {
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
    model.composer.editor.take();
    run(model, binding.action, argument.trim());
}

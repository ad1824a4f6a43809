//! Searches for the note whose path is being typed.

use crate::protocol::{Command, NoteCommand};
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;

/// Requests the notes that match the typed path, if it has changed.
pub fn after_input(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let fragment = model.composer.typed_note_path().map(str::to_owned);
    if fragment == model.composer.searched_note {
        return;
    }
    model.composer.searched_note.clone_from(&fragment);
    if let Some(fragment) = fragment {
        let command = Command::Note(NoteCommand::FindPaths(fragment));
        effects.push(UiEffect::Send(command));
    }
}

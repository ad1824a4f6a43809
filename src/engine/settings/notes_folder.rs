//! Sets the folder of notes at the user's request, after showing its full path.

use crate::config::{self, NotesFolder};
use crate::domain::Notice;
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SettingsResult};
use crate::engine::questions::PendingQuestion;
use crate::protocol::{QuestionOwner, UserChoice};
use crate::questions;

/// Checks the folder that the user typed. The result is passed to [`ask`].
pub fn check(typed: String, cx: &mut EngineCx) {
    cx.jobs.spawn_blocking(move || {
        let folder = NotesFolder::find(&typed);
        JobResult::Settings(SettingsResult::NotesFolderChecked(folder))
    });
}

pub fn ask(checked: Result<NotesFolder, Notice>, cx: &mut EngineCx) {
    let folder = match checked {
        Ok(folder) => folder,
        Err(notice) => return cx.notice(notice),
    };
    let previous = cx.settings.notes.vault.as_ref();
    if previous == Some(&folder.path) && !folder.is_new {
        let path = folder.path.display();
        return cx.notice(Notice::info(format!("{path} is already the notes folder.")));
    }
    let previous = previous.map(|path| path.display().to_string());
    let path = folder.path.display().to_string();
    let question = questions::notes_folder(&path, previous.as_deref(), folder.is_new);
    let pending = PendingQuestion::UseNotesFolder(folder);
    cx.ask(QuestionOwner::Program, question, pending);
}

/// If the user agreed, stores the folder, and creates it if it is new.
pub fn handle_answer(folder: NotesFolder, choice: UserChoice, cx: &mut EngineCx) {
    if choice != UserChoice::Save {
        return;
    }
    let home = cx.home.clone();
    cx.write_config(move || {
        let saved = folder
            .create_if_new()
            .and_then(|()| config::set_notes_vault(&home, &folder).map_err(|error| error.notice()));
        let saved = saved.map(|()| folder.path);
        JobResult::Settings(SettingsResult::NotesFolderSaved(saved))
    });
}

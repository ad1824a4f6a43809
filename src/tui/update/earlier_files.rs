//! The files of an earlier run's unsent prompts, which are read again from their paths.

use crate::domain::attachment::AttachmentSource;
use crate::domain::{Notice, QueryId, UnsentFile};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::layer::UiRequest;
use crate::tui::ui_model::UiModel;

const FILE_NAMES_MAX: usize = 3;

/// Requests a file of an earlier run by its absolute path. `None` if its path is unknown.
pub fn request(model: &mut UiModel, file: &UnsentFile) -> Option<QueryId> {
    let source = AttachmentSource::Path(file.path.clone()?);
    let query = model.with_context(|cx| cx.next_query_id());
    let command = Command::Attach { query, source };
    model.requests.push_back(UiRequest::Send(command));
    Some(query)
}

/// Attaches the files of the last run's message again.
pub fn restore(model: &mut UiModel, files: Vec<UnsentFile>) {
    for file in files {
        let query = match model.attachments.is_full() {
            true => None,
            false => request(model, &file),
        };
        match query {
            Some(query) => model.attachments.add_earlier(query, file),
            None => model.attachments.add_lost(vec![file]),
        }
    }
}

/// Reports the files of the last run that cannot be attached again, once all have been tried.
pub fn report_lost(model: &mut UiModel) {
    let queue = &model.composer.queue;
    if model.attachments.is_restoring() || queue.is_restoring() {
        return;
    }
    let lost = model.attachments.lost().iter().chain(queue.lost_files());
    let names: Vec<&str> = lost.map(|file| file.name.as_str()).collect();
    if !names.is_empty() {
        let message = format!("{} could not be attached again.", file_names(&names));
        model.notices.queue(Notice::warning(message));
    }
}

/// The first names, and how many more there are.
pub fn file_names(files: &[&str]) -> String {
    let shown = files.iter().take(FILE_NAMES_MAX);
    let shown: Vec<String> = shown
        .map(|name| Clean::name(name).as_str().to_owned())
        .collect();
    match files.len() - shown.len() {
        0 => shown.join(", "),
        1 => format!("{} and 1 more file", shown.join(", ")),
        more => format!("{} and {more} more files", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_beyond_the_third_are_counted() {
        for (files, expected) in [
            (&["a"][..], "a"),
            (&["a", "b", "c"], "a, b, c"),
            (&["a", "b", "c", "d"], "a, b, c and 1 more file"),
            (&["a", "b", "c", "d", "e"], "a, b, c and 2 more files"),
        ] {
            assert_eq!(file_names(files), expected);
        }
    }
}

//! Files of a message that was cleared, in case the message comes back.

use super::file::AttachedFile;
use super::state::AttachmentList;

/// The files of the texts that the last Ctrl+C cleared.
#[derive(Debug, Default)]
pub(super) struct ClearedFiles(Vec<(String, Vec<AttachedFile>)>);

impl AttachmentList {
    /// Removes the files of the message, and those of the message before an edit, because their texts
    /// are being cleared. Returns whether the message itself had any.
    pub fn clear_with_message(&mut self, text: &str, text_before_edit: &str) -> bool {
        let before_edit = self.before_edit.take().unwrap_or_default();
        let shown = std::mem::take(&mut self.files);
        let had_files = !shown.is_empty() || !self.lost.is_empty();
        self.lost.clear();
        let removed = [(text, shown), (text_before_edit, before_edit)];
        let removed = removed.map(|(text, files)| (text.to_owned(), restorable(files)));
        let cleared = removed.into_iter().filter(|(_, files)| !files.is_empty());
        let cleared: Vec<_> = cleared.collect();
        if had_files || !cleared.is_empty() {
            self.cleared = ClearedFiles(cleared);
        }
        had_files
    }

    pub fn has_cleared(&self) -> bool {
        !self.cleared.0.is_empty()
    }

    /// Restores the files of a cleared message whose text is back, unless other files are attached.
    /// Returns false if nothing was restored.
    pub fn restore_cleared(&mut self, text: &str) -> bool {
        let cleared = &mut self.cleared.0;
        let index = cleared.iter().position(|(earlier, _)| earlier == text);
        let Some(index) = index.filter(|_| self.files.is_empty()) else {
            return false;
        };
        self.files = cleared.remove(index).1;
        true
    }
}

/// The files that were read, each to be confirmed again if it may hold secrets.
fn restorable(mut files: Vec<AttachedFile>) -> Vec<AttachedFile> {
    files.retain(|file| file.read.is_some());
    for file in &mut files {
        file.is_secret_confirmed = false;
    }
    files
}

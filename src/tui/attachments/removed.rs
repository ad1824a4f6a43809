//! Files that the user removed, which undo brings back, and files that are attached already.

use crate::domain::Attachment;
use crate::domain::attachment::ATTACHMENTS_MAX;
use crate::tui::attachments::file::AttachedFile;
use crate::tui::attachments::state::AttachmentList;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Whether both are the same file with the same contents, whatever path named it.
pub fn is_same_file(one: &Attachment, other: &Attachment) -> bool {
    let has_same_path = one.path.is_some() && one.path == other.path;
    one == other || has_same_path && one.hash == other.hash
}

impl AttachmentList {
    /// Keeps a removed file that the message does not mention, unless it was never read. `text` is the
    /// text of the message.
    pub fn keep_removed(&mut self, file: AttachedFile, text: &str) {
        if file.read.is_none() {
            return;
        }
        if self.removed_files.len() == ATTACHMENTS_MAX {
            self.removed_files.remove(0);
        }
        self.removed_files.push((file, digest(text)));
    }

    /// Attaches the last removed file that is not attached now, and returns its name. Does nothing if
    /// the message has changed since the removal, because that change is undone first; with
    /// `is_last_step`, there is nothing else to undo, so the message does not matter.
    pub fn restore_removed(&mut self, text: &str, is_last_step: bool) -> Option<String> {
        let attached: Vec<&Attachment> = self.attached().collect();
        let is_gone = |(file, _): &(AttachedFile, u64)| {
            let read = file.read.as_ref();
            read.is_some_and(|read| {
                let is_same = |other: &&Attachment| is_same_file(other, &read.attachment);
                !attached.iter().any(is_same)
            })
        };
        let index = self.removed_files.iter().rposition(is_gone)?;
        let is_due = is_last_step || self.removed_files[index].1 == digest(text);
        if !is_due || self.files.len() >= ATTACHMENTS_MAX {
            return None;
        }
        let (file, _) = self.removed_files.remove(index);
        let name = file.name.clone();
        self.files.push(file);
        Some(name)
    }

    /// The files that were read.
    fn attached(&self) -> impl Iterator<Item = &Attachment> {
        let read = self.files.iter().filter_map(|file| file.read.as_ref());
        read.map(|read| &*read.attachment)
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

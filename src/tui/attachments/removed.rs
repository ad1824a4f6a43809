//! Files that the user removed, which undo brings back, and files that are attached already.

use crate::domain::Attachment;
use crate::domain::attachment::ATTACHMENTS_MAX;
use crate::tui::attachments::state::{AttachedFile, AttachmentList};

/// Whether both are the same file with the same contents, whatever path named it.
pub fn is_same_file(one: &Attachment, other: &Attachment) -> bool {
    let has_same_path = one.path.is_some() && one.path == other.path;
    one == other || has_same_path && one.hash == other.hash
}

impl AttachmentList {
    /// Keeps a removed file that was read and is not mentioned in the message. `revision` is the
    /// message's.
    pub fn keep_removed(&mut self, file: AttachedFile, revision: u64) {
        if file.read.is_none() {
            return;
        }
        let (files, kept_revision) = &mut self.removed_files;
        if *kept_revision != revision {
            files.clear();
        }
        files.push(file);
        *kept_revision = revision;
    }

    /// Attaches the file again that was removed last and not attached again yet, unless the message has
    /// changed since or takes no more files. Returns its name.
    pub fn restore_removed(&mut self, revision: u64) -> Option<String> {
        let (files, kept_revision) = &mut self.removed_files;
        if *kept_revision != revision || self.files.len() >= ATTACHMENTS_MAX {
            return None;
        }
        let file = files.pop()?;
        let name = file.name.clone();
        self.files.push(file);
        Some(name)
    }
}

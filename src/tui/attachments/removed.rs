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
    /// Keeps a removed file that the message does not mention. `revision` is that of the message.
    pub fn keep_removed(&mut self, file: AttachedFile, revision: u64) {
        if file.read.is_some() {
            self.removed_drop = Some((file, revision));
        }
    }

    /// Attaches the file again that was removed last, unless the message has changed since. Returns
    /// its name.
    pub fn restore_removed(&mut self, revision: u64) -> Option<String> {
        let has_room = self.files.len() < ATTACHMENTS_MAX;
        let is_last_change = |removed: &mut (AttachedFile, u64)| has_room && removed.1 == revision;
        let (file, _) = self.removed_drop.take_if(is_last_change)?;
        let name = file.name.clone();
        self.files.push(file);
        Some(name)
    }
}

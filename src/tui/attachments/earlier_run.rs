//! Saves the files of a message with its draft, and restores those of an earlier run by reading
//! them again.

use crate::domain::{QueryId, UnsentFile};
use crate::tui::attachments::file::AttachedFile;
use crate::tui::attachments::state::AttachmentList;
use crate::tui::composer::draft::DraftFiles;

impl AttachedFile {
    pub(super) fn to_unsent(&self) -> UnsentFile {
        match &self.read {
            Some(read) => UnsentFile::from(&*read.attachment),
            None => UnsentFile {
                name: self.name.clone(),
                path: self.earlier_path.clone(),
            },
        }
    }
}

impl AttachmentList {
    /// Adds a file of an earlier run that is being read again.
    pub fn add_earlier(&mut self, query: QueryId, file: UnsentFile) {
        self.add(query, &file.name, None);
        if let Some(added) = self.files.last_mut() {
            added.earlier_path = file.path;
        }
    }

    /// The files that are saved with a draft.
    pub fn draft_files(&self) -> DraftFiles {
        let to_unsent = |files: &[AttachedFile]| {
            files
                .iter()
                .map(AttachedFile::to_unsent)
                .collect::<Vec<_>>()
        };
        let mut shown = to_unsent(&self.files);
        shown.extend(self.lost.iter().cloned());
        DraftFiles {
            shown,
            before_edit: self.before_edit.as_deref().map(to_unsent),
        }
    }

    /// Adds files of an earlier run that cannot be attached again.
    pub fn add_lost(&mut self, files: Vec<UnsentFile>) {
        self.lost.extend(files);
    }

    pub fn lost(&self) -> &[UnsentFile] {
        &self.lost
    }

    /// Drops the names of lost files once no unsent message is left.
    pub fn clear_lost(&mut self) {
        self.lost.clear();
    }

    /// Whether a file of an earlier run is still being read.
    pub fn is_restoring(&self) -> bool {
        let is_restoring = |file: &AttachedFile| file.earlier_path.is_some() && file.read.is_none();
        self.files.iter().any(is_restoring)
    }
}

//! The followed resources: those of the message, whose changes the engine reports.

use super::state::AttachmentList;
use crate::domain::attachment::AttachedResource;

impl AttachmentList {
    /// The resources of the message that are not followed yet, and the followed ones that are no
    /// longer in it. Both are recorded as handled.
    pub fn take_resource_changes(&mut self) -> (Vec<AttachedResource>, Vec<AttachedResource>) {
        let files = self.files.iter().chain(self.before_edit.iter().flatten());
        let read = files.filter(|file| file.read.is_some());
        let current: Vec<_> = read.filter_map(|file| file.resource.clone()).collect();
        let mut gone = std::mem::replace(&mut self.followed, current.clone());
        let mut added = current;
        added.retain(
            |resource| match gone.iter().position(|old| old == resource) {
                Some(index) => {
                    gone.remove(index);
                    false
                }
                None => true,
            },
        );
        (added, gone)
    }

    /// Clears the followed resources, because the engine has stopped following all of them.
    pub fn clear_followed(&mut self) {
        self.followed.clear();
    }
}

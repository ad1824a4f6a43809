//! A file attached to the message.

use crate::domain::QueryId;
use crate::domain::attachment::{AttachedResource, ReadAttachment, shown_path};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    pub(super) query: QueryId,
    /// The name as the user typed it, not sanitized.
    pub name: String,
    /// The resource that was read, unless this is a file.
    pub resource: Option<AttachedResource>,
    /// The file as it was read; `None` while it is being read.
    pub read: Option<ReadAttachment>,
    /// Sending the file needs no confirmation, even if it may hold secrets: the user was asked before,
    /// or it belongs to an earlier prompt.
    pub is_secret_confirmed: bool,
    /// The path from an earlier run, from which the file is read again.
    pub(super) earlier_path: Option<String>,
    /// The message mentions the file, so the file is removed with its mention.
    pub is_mentioned: bool,
}

impl AttachedFile {
    /// The path in the text that mentions the file.
    pub fn mentioned_path(&self) -> Cow<'_, str> {
        shown_path(&self.name)
    }
}

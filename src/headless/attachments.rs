//! The files of `--attach`: the prompt waits until the engine has read them.

use super::AskSession;
use crate::domain::attachment::{ATTACHMENTS_MAX, AttachmentSource, ReadAttachment};
use crate::domain::{Attachment, Notice, QueryId};
use crate::protocol::Command;
use std::sync::Arc;

/// The files to attach, in the order of the command line.
#[derive(Debug, Default)]
pub struct FilesToAttach {
    paths: Vec<String>,
    /// `None` until the file has been read. Empty until reading starts.
    files: Vec<Option<Arc<Attachment>>>,
}

impl FilesToAttach {
    /// The files at `paths`, not read yet.
    ///
    /// # Errors
    /// There are more files than a prompt may have.
    pub fn new(paths: Vec<String>) -> Result<Self, String> {
        if paths.len() > ATTACHMENTS_MAX {
            return Err(format!("At most {ATTACHMENTS_MAX} files can be attached."));
        }
        Ok(Self {
            paths,
            files: Vec::new(),
        })
    }

    fn is_complete(&self) -> bool {
        self.files.len() == self.paths.len() && self.files.iter().all(Option::is_some)
    }

    pub(super) fn take(&mut self) -> Vec<Arc<Attachment>> {
        self.files.drain(..).flatten().collect()
    }
}

impl AskSession {
    /// Asks the engine to read the files, once. Returns whether all have been read.
    pub(super) async fn request_files(&mut self) -> bool {
        let files = &mut self.request.files;
        if files.files.is_empty() {
            files.files = vec![None; files.paths.len()];
            for (index, path) in files.paths.clone().into_iter().enumerate() {
                let query = QueryId(index as u64);
                let source = AttachmentSource::Path(path);
                self.send(Command::Attach { query, source }).await;
            }
        }
        self.request.files.is_complete()
    }

    /// Returns false if the file cannot be attached.
    pub(super) fn store_file(
        &mut self,
        query: QueryId,
        result: Result<ReadAttachment, Notice>,
    ) -> bool {
        let ReadAttachment {
            attachment,
            may_hold_secrets,
            ..
        } = match result {
            Ok(read) => read,
            Err(notice) => {
                self.print_notice(&notice);
                return false;
            }
        };
        if may_hold_secrets {
            let message = format!(
                "{} may hold secrets, and is sent to the model.",
                attachment.name
            );
            self.print_notice(&Notice::warning(message));
        }
        let index = usize::try_from(query.0).unwrap_or(usize::MAX);
        if let Some(slot) = self.request.files.files.get_mut(index) {
            *slot = Some(attachment);
        }
        true
    }
}

//! The contents of attached files, each in a file named by its hash. Several conversations may
//! share a file.

use super::StoreError;
use crate::domain::attachment::{
    AttachmentContents, AttachmentKind, IMAGE_BYTES_MAX, TEXT_FILE_BYTES_MAX, content_hash,
    is_content_hash,
};
use crate::domain::{Attachment, Session};
use crate::files;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Maximum size of the contents read for one conversation, newest prompts first.
const LOADED_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// A decoded text may be longer than its file.
const STORED_BYTES_MAX: u64 = IMAGE_BYTES_MAX + 2 * TEXT_FILE_BYTES_MAX;
/// Nothing is removed if a session file or journal is larger, because it is not searched.
const SEARCHED_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Exists after the trash was emptied of old conversations. The next start then removes contents that
/// no conversation uses.
const UNUSED_MARKER: &str = ".unused";
/// Younger files may belong to a turn that has just started.
const UNUSED_AGE_MIN: Duration = Duration::from_secs(3_600);

#[derive(Debug, Clone)]
pub struct AttachmentStore {
    folder: PathBuf,
}

impl AttachmentStore {
    /// Manages the contents in `folder`, which is created along with the first file.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Saves the contents of these attachments, unless they are saved already.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save<'a>(
        &self,
        attachments: impl IntoIterator<Item = &'a Arc<Attachment>>,
    ) -> Result<(), StoreError> {
        for attachment in attachments {
            let path = self.path(attachment);
            self.save_one(&path, attachment)
                .map_err(|error| StoreError::Unwritable {
                    path,
                    why: files::describe_io_error(&error),
                })?;
        }
        Ok(())
    }

    fn save_one(&self, path: &Path, attachment: &Attachment) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        let bytes = match &attachment.contents {
            AttachmentContents::Text(text) => text.as_bytes().to_vec(),
            AttachmentContents::Image(base64) => {
                let decoded = BASE64_STANDARD.decode(base64.as_bytes());
                decoded.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?
            }
            AttachmentContents::Missing => return Ok(()),
        };
        files::create_folder(&self.folder)?;
        match files::create_new(path, &bytes, files::PRIVATE_MODE) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    /// Reads the contents of a session's attachments. Those beyond the limit stay missing.
    pub fn load_session(&self, session: &mut Session) {
        let mut budget = LOADED_BYTES_MAX;
        let branches = session.branches.iter_mut();
        let branches = branches.flat_map(|branch| branch.messages.iter_mut().rev());
        let messages = session.messages.iter_mut().rev().chain(branches);
        for attachment in messages.flat_map(|message| message.attachments.iter_mut()) {
            self.load(attachment, &mut budget);
        }
        let branches = session.branches.iter_mut();
        let records = std::iter::once(&mut session.metadata.cancelled)
            .chain(branches.map(|branch| &mut branch.cancelled));
        for cancelled in records {
            cancelled.for_each_mut(|turn| {
                for attachment in &mut turn.attachments {
                    self.load(attachment, &mut budget);
                }
            });
        }
    }

    /// Reads the contents of the attachments of one prompt.
    pub fn load_all(&self, attachments: &mut [Arc<Attachment>]) {
        let mut budget = LOADED_BYTES_MAX;
        for attachment in attachments {
            self.load(attachment, &mut budget);
        }
    }

    fn load(&self, attachment: &mut Arc<Attachment>, budget: &mut u64) {
        if attachment.bytes > *budget {
            return;
        }
        let Some(contents) = self.read(attachment) else {
            tracing::warn!("the contents of an attachment are missing or damaged");
            return;
        };
        *budget -= attachment.bytes;
        Arc::make_mut(attachment).contents = contents;
    }

    /// `None` if they cannot be read or no longer have the attachment's hash.
    fn read(&self, attachment: &Attachment) -> Option<AttachmentContents> {
        let bytes = files::read(&self.path(attachment), STORED_BYTES_MAX).ok()??;
        if content_hash(&bytes) != attachment.hash {
            return None;
        }
        match attachment.kind {
            AttachmentKind::Text => {
                let text = String::from_utf8(bytes).ok()?;
                Some(AttachmentContents::Text(text.into()))
            }
            AttachmentKind::Image { .. } => {
                let base64 = BASE64_STANDARD.encode(&bytes);
                Some(AttachmentContents::Image(base64.into()))
            }
        }
    }

    /// Records that contents may be unused now, because conversations were removed for good.
    pub(super) fn mark_unused(&self) {
        if self.folder.is_dir() {
            let _ = fs::write(self.folder.join(UNUSED_MARKER), "");
        }
    }

    /// Removes the contents that no file in these folders mentions and that are not new, if
    /// conversations were removed for good since the last time. Removes nothing if a file cannot be
    /// read.
    pub fn remove_unused(&self, folders: &[PathBuf]) {
        let marker = self.folder.join(UNUSED_MARKER);
        if !marker.exists() {
            return;
        }
        let mut unused = self.old_files();
        for folder in folders {
            let items = match fs::read_dir(folder) {
                Ok(items) => items,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_) => return,
            };
            for item in items {
                let Ok(item) = item else { return };
                if item.path().is_dir() {
                    continue;
                }
                match files::read(&item.path(), SEARCHED_BYTES_MAX) {
                    Ok(Some(bytes)) => retain_unmentioned(&mut unused, &bytes),
                    Ok(None) => {}
                    Err(_) => return,
                }
            }
        }
        for (_, path) in unused {
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_file(marker);
    }

    /// Each with its hash.
    fn old_files(&self) -> Vec<(String, PathBuf)> {
        let items = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_old = |path: &Path| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            let age = modified.map(|time| SystemTime::now().duration_since(time));
            age.is_ok_and(|age| age.is_ok_and(|age| age >= UNUSED_AGE_MIN))
        };
        items
            .map(|item| item.path())
            .filter_map(|path| {
                let hash = path.file_stem()?.to_str()?.to_owned();
                (is_content_hash(&hash) && is_old(&path)).then_some((hash, path))
            })
            .collect()
    }

    fn path(&self, attachment: &Attachment) -> PathBuf {
        let extension = match attachment.kind {
            AttachmentKind::Text => "txt",
            AttachmentKind::Image { .. } => attachment.kind.name(),
        };
        self.folder.join(format!("{}.{extension}", attachment.hash))
    }
}

/// Drops the files whose hashes occur in `bytes`. Reads the text once, however many files there
/// are.
fn retain_unmentioned(files: &mut Vec<(String, PathBuf)>, bytes: &[u8]) {
    let mentioned: HashSet<&[u8]> = bytes
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| word.len() == 64)
        .collect();
    if !mentioned.is_empty() {
        files.retain(|(hash, _)| !mentioned.contains(hash.as_bytes()));
    }
}

//! Reads a file that the user attaches.

use super::error::AttachError;
use super::format::FileFormat;
use super::sensitive::may_hold_secrets;
use crate::domain::Attachment;
use crate::domain::attachment::{
    AttachmentContents, AttachmentKind, IMAGE_BYTES_MAX, ReadAttachment, TEXT_FILE_BYTES_MAX,
    content_hash,
};
use crate::files;
use crate::text::token_estimate::{self, Vocabulary};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MEGABYTE: u64 = 1024 * 1024;

/// Reads a file given by its path, which may begin with `~`; a relative path starts at `root`.
/// `home` is this program's own folder.
///
/// # Errors
/// The file does not exist, cannot be read, is empty or too large, or is neither text nor an image
/// of a supported format.
pub fn read_path(name: &str, root: &Path, home: &Path) -> Result<ReadAttachment, AttachError> {
    let path = root.join(files::expand_home(name));
    let unreadable = |error: &std::io::Error| AttachError::Unreadable {
        name: name.to_owned(),
        why: files::describe_io_error(error),
    };
    let metadata = match std::fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(AttachError::NotFound(name.to_owned()));
        }
        result => result.map_err(|error| unreadable(&error))?,
    };
    if metadata.is_dir() {
        return Err(AttachError::IsFolder(name.to_owned()));
    }
    if !metadata.is_file() {
        return Err(AttachError::NotRegular(name.to_owned()));
    }
    let bytes = match files::read(&path, IMAGE_BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(too_large(name, IMAGE_BYTES_MAX));
        }
        Err(error) => return Err(unreadable(&error)),
    };
    // A link with a harmless name may lead to a file with secrets.
    let absolute = path.canonicalize().unwrap_or(path);
    attachment(name, Some(absolute), bytes, home)
}

pub(super) fn attachment(
    name: &str,
    path: Option<PathBuf>,
    bytes: Vec<u8>,
    home: &Path,
) -> Result<ReadAttachment, AttachError> {
    if bytes.is_empty() {
        return Err(AttachError::Empty(name.to_owned()));
    }
    let size = bytes.len() as u64;
    let (kind, hash, contents) = match FileFormat::detect(&bytes) {
        FileFormat::Image(kind) if kind.has_too_many_pixels() => {
            let name = name.to_owned();
            return Err(AttachError::TooManyPixels { name });
        }
        FileFormat::Image(kind) => {
            let base64 = BASE64_STANDARD.encode(&bytes);
            let contents = AttachmentContents::Image(base64.into());
            (kind, content_hash(&bytes), contents)
        }
        FileFormat::Text(_) if size > TEXT_FILE_BYTES_MAX => {
            return Err(too_large(name, TEXT_FILE_BYTES_MAX));
        }
        FileFormat::Text(text) => {
            let hash = content_hash(text.as_bytes());
            let contents = AttachmentContents::Text(text.into());
            (AttachmentKind::Text, hash, contents)
        }
        FileFormat::Other(format) => {
            let name = name.to_owned();
            return Err(AttachError::NotSupported { name, format });
        }
    };
    let text = match &contents {
        AttachmentContents::Text(text) => Some(&**text),
        AttachmentContents::Image(_) | AttachmentContents::Missing => None,
    };
    let has_secrets = |path: &PathBuf| {
        may_hold_secrets(path, text, home) || may_hold_secrets(Path::new(name), text, home)
    };
    let text_tokens = text.map(|text| token_estimate::estimate(text, Vocabulary::default()));
    let may_hold_secrets = path.as_ref().is_some_and(has_secrets);
    let attachment = Attachment {
        name: name.to_owned(),
        path,
        kind,
        bytes: size,
        hash,
        contents: contents.clone(),
    };
    Ok(ReadAttachment {
        may_hold_secrets,
        tokens: text_tokens.unwrap_or_else(|| attachment.image_tokens()),
        attachment: Arc::new(attachment),
    })
}

/// Builds an attachment from a resource of an MCP server. Its name is not a path.
///
/// # Errors
/// The contents are empty or too large, or neither text nor an image of a supported format.
pub fn attach_resource(name: &str, bytes: Vec<u8>) -> Result<ReadAttachment, AttachError> {
    if bytes.len() as u64 > IMAGE_BYTES_MAX {
        return Err(too_large(name, IMAGE_BYTES_MAX));
    }
    attachment(name, None, bytes, Path::new(""))
}

fn too_large(name: &str, bytes_max: u64) -> AttachError {
    AttachError::TooLarge {
        name: name.to_owned(),
        megabytes: bytes_max / MEGABYTE,
    }
}

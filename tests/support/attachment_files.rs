//! Files that tests attach to prompts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use humble::attachments::read_path;
use humble::domain::Attachment;
use std::path::Path;
use std::sync::Arc;

/// A PNG image of one pixel.
pub const PNG_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub fn png() -> Vec<u8> {
    BASE64_STANDARD.decode(PNG_BASE64).expect("Base64")
}

/// Writes a file into `folder` and reads it to attach it.
pub fn attach(folder: &Path, name: &str, contents: &[u8]) -> Arc<Attachment> {
    std::fs::write(folder.join(name), contents).expect("written");
    let read = read_path(name, folder, Path::new("/no/home"));
    read.expect("the file can be attached").attachment
}

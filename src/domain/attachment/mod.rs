//! Files attached to prompts: images, and text files whose contents become part of the prompt.

mod image_support;
mod prompt_text;

pub use image_support::ImageSupport;
pub use prompt_text::prompt_with_files;

use super::ServerId;
use crate::text::Clean;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of files attached to one prompt.
pub const ATTACHMENTS_MAX: usize = 10;
pub const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;
pub const TEXT_FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Maximum total size of the images in one request, in bytes. The oldest images are left out
/// first.
pub const REQUEST_IMAGE_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// Number of hexadecimal digits of a content hash.
const HASH_LENGTH: usize = 64;

/// Longest side to which servers scale an image down, in pixels.
const IMAGE_SIDE_MAX: u64 = 1_568;
/// Pixels of a scaled image per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// Maximum number of pixels of an image. A tiny file may declare billions, and the server of the model
/// decodes them all.
pub const IMAGE_PIXELS_MAX: u64 = 100_000_000;
/// Estimated tokens of an image of unknown size.
const UNKNOWN_IMAGE_TOKENS: u64 = 1_600;

/// A file attached to a prompt.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The path as the user chose it, or a description such as `clipboard.png`. Unsanitized.
    pub name: String,
    /// The absolute path; `None` for an image from the clipboard or a resource of a server.
    pub path: Option<PathBuf>,
    pub kind: AttachmentKind,
    /// Size of the contents in bytes.
    pub bytes: u64,
    /// SHA-256 of the contents, in hexadecimal digits.
    pub hash: String,
    pub contents: AttachmentContents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AttachmentKind {
    Text,
    Image {
        format: ImageFormat,
        /// In pixels; `None` if unknown.
        width: Option<u32>,
        height: Option<u32>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageFormat {
    Png,
    Jpeg,
    Gif,
    Webp,
}

#[derive(Debug, Clone)]
pub enum AttachmentContents {
    Text(Arc<str>),
    /// An image in Base64, as requests contain it.
    Image(Arc<str>),
    /// The saved contents could not be read back.
    Missing,
}

impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.name == other.name && self.path == other.path
    }
}

impl Eq for Attachment {}

/// Events show an attachment without its contents.
impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Summary<'a> {
            name: &'a str,
            #[serde(flatten)]
            kind: AttachmentKind,
            bytes: u64,
            hash: &'a str,
        }
        Summary {
            name: &self.name,
            kind: self.kind,
            bytes: self.bytes,
            hash: &self.hash,
        }
        .serialize(serializer)
    }
}

impl ImageFormat {
    const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp];

    /// The name in session files, which is also the file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type in requests, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

impl AttachmentKind {
    /// The name in session files, which is also the extension of the saved contents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image { format, .. } => format.name(),
        }
    }

    /// Whether this is an image with more than [`IMAGE_PIXELS_MAX`] pixels.
    pub fn has_too_many_pixels(self) -> bool {
        match self {
            Self::Image {
                width: Some(width),
                height: Some(height),
                ..
            } => u64::from(width) * u64::from(height) > IMAGE_PIXELS_MAX,
            _ => false,
        }
    }

    /// The estimated tokens of an image: its pixels after scaling the longest side down to
    /// 1,568, divided by 750.
    pub fn image_tokens(width: Option<u32>, height: Option<u32>) -> u64 {
        let (Some(width), Some(height)) = (width, height) else {
            return UNKNOWN_IMAGE_TOKENS;
        };
        let (width, height) = (u64::from(width), u64::from(height));
        let side = width.max(height).max(IMAGE_SIDE_MAX);
        let scaled = |length: u64| length * IMAGE_SIDE_MAX / side;
        (scaled(width) * scaled(height))
            .div_ceil(PIXELS_PER_TOKEN)
            .max(1)
    }
}

impl Attachment {
    pub fn is_image(&self) -> bool {
        matches!(self.kind, AttachmentKind::Image { .. })
    }

    /// The image as a request contains it; `None` for text and for missing contents.
    pub fn image(&self) -> Option<AttachedImage> {
        let (AttachmentKind::Image { format, .. }, AttachmentContents::Image(base64)) =
            (self.kind, &self.contents)
        else {
            return None;
        };
        Some(AttachedImage {
            format,
            base64: Arc::clone(base64),
            bytes: self.bytes,
            tokens: self.image_tokens(),
        })
    }

    /// The same file under another name.
    pub fn renamed(&self, name: String) -> Arc<Self> {
        Arc::new(Self {
            name,
            ..self.clone()
        })
    }

    /// The text of an attached text file.
    pub fn text(&self) -> Option<&Arc<str>> {
        match &self.contents {
            AttachmentContents::Text(text) => Some(text),
            AttachmentContents::Image(_) | AttachmentContents::Missing => None,
        }
    }

    /// Estimated tokens of an image; 0 for text.
    pub fn image_tokens(&self) -> u64 {
        match self.kind {
            AttachmentKind::Text => 0,
            AttachmentKind::Image { width, height, .. } => {
                AttachmentKind::image_tokens(width, height)
            }
        }
    }
}

/// A path as shown to the user and typed back: characters that could forge text in a message are
/// escaped.
pub fn shown_path(path: &str) -> Cow<'_, str> {
    let is_harmless = !path.contains('\n') && Clean::escaped(path).as_str() == path;
    match is_harmless {
        true => Cow::Borrowed(path),
        false => Cow::Owned(Clean::unambiguous_line(path).as_str().to_owned()),
    }
}

/// An image of a request. Reference-counted, so each round of a turn shares its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedImage {
    pub format: ImageFormat,
    pub base64: Arc<str>,
    /// Size of the image file.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentSource {
    /// A path as typed: absolute, below `~`, or relative to the folder where humble was started.
    Path(String),
    /// A path that was dropped on the terminal, or text that looks like one.
    Dropped(String),
    Clipboard,
    /// A resource of an MCP server. The URI is only a name for that server.
    Resource {
        server: ServerId,
        uri: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedResource {
    pub server: ServerId,
    pub uri: String,
}

/// A file that was read in order to be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAttachment {
    pub attachment: Arc<Attachment>,
    /// The file probably holds credentials.
    pub may_hold_secrets: bool,
    /// Estimated tokens.
    pub tokens: u64,
}

/// A file or folder that matches what the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// The path as the user would type it, unsanitized. A folder ends in a slash.
    pub path: String,
    pub is_folder: bool,
}

/// The matching files and folders, best match first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundFiles {
    pub files: Vec<FoundFile>,
    /// Not all files were searched.
    pub is_partial: bool,
}

/// The hash by which saved contents are found.
pub fn content_hash(contents: &[u8]) -> String {
    let digest = Sha256::digest(contents);
    digest
        .iter()
        .fold(String::with_capacity(HASH_LENGTH), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// Whether `hash` has the form of a [`content_hash`]. Hashes come from session files, which other
/// programs may edit, and become part of a path.
pub fn is_content_hash(hash: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    hash.len() == HASH_LENGTH && hash.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(width: u32, height: u32) -> u64 {
        AttachmentKind::image_tokens(Some(width), Some(height))
    }

    #[test]
    fn image_tokens_follow_the_scaled_area() {
        assert_eq!(tokens(750, 100), 100);
        assert_eq!(tokens(1, 1), 1);
        assert_eq!(tokens(1_568, 1_568), 3_279);
        assert_eq!(tokens(15_680, 15_680), 3_279, "scaled down");
        assert_eq!(tokens(3_136, 300), 314, "scaled to 1,568 x 150");
        assert_eq!(tokens(u32::MAX, u32::MAX), 3_279);
        assert_eq!(AttachmentKind::image_tokens(None, Some(1)), 1_600);
    }

    #[test]
    fn only_lower_case_sha_256_is_a_content_hash() {
        assert!(is_content_hash(&content_hash(b"x")));
        assert!(!is_content_hash(""));
        assert!(!is_content_hash(&content_hash(b"x").to_uppercase()));
        assert!(!is_content_hash(&format!(
            "../{}",
            &content_hash(b"x")[3..]
        )));
    }
}

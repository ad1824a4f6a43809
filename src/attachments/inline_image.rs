//! Images that arrive inside other data, such as tool results.

use super::format::FileFormat;
use crate::domain::AttachedImage;
use crate::domain::attachment::{AttachmentKind, IMAGE_BYTES_MAX};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Why an image cannot be sent to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InlineImageError {
    #[error("the image is larger than {} MB", IMAGE_BYTES_MAX >> 20)]
    TooLarge,
    #[error("the data is not Base64")]
    NotBase64,
    #[error("the data is not a PNG, JPEG, GIF or WebP image")]
    NotAnImage,
}

/// Decodes an image. Its first bytes decide its format, because a declared media type may be
/// wrong, and model servers reject a request with a wrong one.
///
/// # Errors
/// See [`InlineImageError`].
pub fn image_from_base64(data: &str) -> Result<AttachedImage, InlineImageError> {
    let encoded_max = (IMAGE_BYTES_MAX as usize).div_ceil(3) * 4;
    if data.len() > encoded_max {
        return Err(InlineImageError::TooLarge);
    }
    let bytes = BASE64_STANDARD
        .decode(data)
        .map_err(|_| InlineImageError::NotBase64)?;
    match FileFormat::detect(&bytes) {
        FileFormat::Image(AttachmentKind::Image {
            format,
            width,
            height,
        }) => Ok(AttachedImage {
            format,
            base64: data.into(),
            bytes: bytes.len() as u64,
            tokens: AttachmentKind::image_tokens(width, height),
        }),
        _ => Err(InlineImageError::NotAnImage),
    }
}

//! Images that arrive inside other data, such as tool results.

use super::format::FileFormat;
use crate::domain::AttachedImage;
use crate::domain::attachment::{AttachmentKind, IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Why an image cannot be sent to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InlineImageError {
    #[error("the image is larger than {} MB", IMAGE_BYTES_MAX >> 20)]
    TooLarge,
    #[error("the image has more than {} megapixels", IMAGE_PIXELS_MAX / 1_000_000)]
    TooManyPixels,
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
        FileFormat::Image(kind) if kind.has_too_many_pixels() => {
            Err(InlineImageError::TooManyPixels)
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_file_with_billions_of_pixels_is_refused() {
        let png = |width: u32, height: u32| {
            let start = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
            let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
            let bytes = [&start[..], &size, b"\x08\x02\0\0\0"].concat();
            image_from_base64(&BASE64_STANDARD.encode(bytes))
        };
        assert!(png(10_000, 10_000).is_ok());
        let error = png(50_000, 50_000).expect_err("too many pixels");
        assert_eq!(error.to_string(), "the image has more than 100 megapixels");
        assert!(png(u32::MAX, u32::MAX).is_err());
    }
}

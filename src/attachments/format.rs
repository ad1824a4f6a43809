//! The type of a file, recognized by its first bytes. Names and extensions are not trusted.

use crate::domain::attachment::{AttachmentKind, ImageFormat};
use encoding_rs::{UTF_16BE, UTF_16LE};
use imagesize::ImageType;

/// The detected format of a file, with its decoded contents or the properties of its image.
#[derive(Debug, PartialEq)]
pub(super) enum FileFormat {
    Text(String),
    Image(AttachmentKind),
    /// Cannot be attached. A noun phrase that names the format as far as it is known.
    Other(&'static str),
}

/// Unsupported formats that users try to attach, with their first bytes.
const KNOWN_FORMATS: [(&[u8], &str); 5] = [
    (b"%PDF-", "a PDF file, not text"),
    (
        b"PK\x03\x04",
        "a ZIP archive or an office document, not text",
    ),
    (b"\x1f\x8b", "a compressed file, not text"),
    (b"\x7fELF", "a program, not text"),
    (b"SQLite format 3\0", "a database, not text"),
];
const BINARY: &str = "a binary file, not text";

impl FileFormat {
    pub(super) fn detect(bytes: &[u8]) -> Self {
        if let Ok(image_type) = imagesize::image_type(bytes) {
            let format = match image_type {
                ImageType::Png => ImageFormat::Png,
                ImageType::Jpeg => ImageFormat::Jpeg,
                ImageType::Gif => ImageFormat::Gif,
                ImageType::Webp => ImageFormat::Webp,
                _ => return Self::detect_text(bytes).unwrap_or(Self::Other(BINARY)),
            };
            let size = imagesize::blob_size(bytes).ok();
            let pixels = |length: usize| u32::try_from(length).ok();
            return Self::Image(AttachmentKind::Image {
                format,
                width: size.and_then(|size| pixels(size.width)),
                height: size.and_then(|size| pixels(size.height)),
            });
        }
        let known = KNOWN_FORMATS
            .iter()
            .find(|(start, _)| bytes.starts_with(start));
        match known {
            Some((_, name)) => Self::Other(name),
            None => Self::detect_text(bytes).unwrap_or(Self::Other(BINARY)),
        }
    }

    /// UTF-8, or UTF-16 with a byte order mark. Text contains no NUL.
    fn detect_text(bytes: &[u8]) -> Option<Self> {
        let text = match bytes {
            [0xff, 0xfe, rest @ ..] => {
                UTF_16LE.decode_without_bom_handling_and_without_replacement(rest)?
            }
            [0xfe, 0xff, rest @ ..] => {
                UTF_16BE.decode_without_bom_handling_and_without_replacement(rest)?
            }
            [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok()?.into(),
            _ => std::str::from_utf8(bytes).ok()?.into(),
        };
        (!text.contains('\0')).then(|| Self::Text(text.into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(format: ImageFormat, width: u32, height: u32) -> FileFormat {
        FileFormat::Image(AttachmentKind::Image {
            format,
            width: Some(width),
            height: Some(height),
        })
    }

    #[test]
    fn images_are_recognized_by_their_first_bytes() {
        let gif = b"GIF89a\x03\x00\x02\x00\x80\x00\x00";
        assert_eq!(FileFormat::detect(gif), image(ImageFormat::Gif, 3, 2));
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        assert_eq!(FileFormat::detect(png), image(ImageFormat::Png, 640, 480));
        let truncated = FileFormat::detect(&png[..12]);
        let unknown_size = AttachmentKind::Image {
            format: ImageFormat::Png,
            width: None,
            height: None,
        };
        assert_eq!(truncated, FileFormat::Image(unknown_size));
    }

    #[test]
    fn text_is_utf_8_or_marked_utf_16() {
        let text = |bytes: &[u8]| FileFormat::detect(bytes);
        let hangul = FileFormat::Text("한글\n".to_owned());
        assert_eq!(text("한글\n".as_bytes()), hangul);
        assert_eq!(text("\u{feff}한글\n".as_bytes()), hangul);
        let units = || "한글\n".encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text(&[&[0xff, 0xfe], &little[..]].concat()), hangul);
        assert_eq!(text(&[&[0xfe, 0xff], &big[..]].concat()), hangul);
        assert_eq!(text(&little), FileFormat::Other(BINARY), "no mark");
        assert_eq!(text(&[0xff, 0xfe, 0x00, 0xd8]), FileFormat::Other(BINARY));
        assert_eq!(text(b"a\0b"), FileFormat::Other(BINARY));
        assert_eq!(text(b"\xc7\xd1"), FileFormat::Other(BINARY), "EUC-KR");
        assert_eq!(
            text(b"BM is a text"),
            FileFormat::Text("BM is a text".into())
        );
        assert_eq!(text(b"%PDF-1.7"), FileFormat::Other("a PDF file, not text"));
    }
}

//! Reads a response body within a limit, after decompression, and decodes it to text.

use encoding_rs::Encoding;
use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use std::io::{self, Write};

/// Maximum size of a page after decompression.
pub const BODY_BYTES_MAX: usize = 5 << 20;
/// Size of the beginning of a page in which its encoding may be declared.
const ENCODING_PREFIX_BYTES: usize = 1_024;
const CHARSET: &str = "charset=";

/// The media type of a response and the encoding that it names.
pub struct ContentType {
    /// Such as `text/html`; empty if the server sent none.
    pub media_type: String,
    charset: Option<String>,
}

impl ContentType {
    pub fn of(response: &Response) -> Self {
        let header = response.headers().get(CONTENT_TYPE);
        let header = header.and_then(|value| value.to_str().ok()).unwrap_or("");
        let mut parts = header.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            let is_charset = key.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches('"').to_owned())
        });
        Self {
            media_type,
            charset,
        }
    }

    pub fn is_html(&self) -> bool {
        matches!(&*self.media_type, "text/html" | "application/xhtml+xml")
    }

    /// Whether the content may be text.
    pub fn is_text(&self) -> bool {
        const TEXT_SUBTYPES: &str = "json xml javascript x-javascript yaml x-yaml toml x-sh";
        let media_type = self.media_type.as_str();
        let is_text_subtype = |subtype| TEXT_SUBTYPES.split(' ').any(|text| text == subtype);
        self.is_html()
            || media_type.starts_with("text/")
            || media_type.ends_with("+json")
            || (media_type.ends_with("+xml") && media_type != "image/svg+xml")
            || media_type.is_empty()
            || media_type
                .strip_prefix("application/")
                .is_some_and(is_text_subtype)
    }
}

/// The start of a body.
#[derive(Debug)]
pub struct Body {
    pub bytes: Vec<u8>,
    /// The body is longer than the part that was read.
    pub is_truncated: bool,
}

/// Reads at most [`BODY_BYTES_MAX`] decompressed bytes. `on_progress` receives the number read so
/// far.
///
/// # Errors
/// The connection broke, or the compression is unknown or invalid: a text for the model.
pub async fn read_body(
    mut response: Response,
    on_progress: impl Fn(usize),
) -> Result<Body, String> {
    let encoding = response.headers().get(CONTENT_ENCODING);
    let encoding = encoding.map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    let mut decoder = match encoding.as_deref().map(str::trim) {
        None | Some("" | "identity") => BodyDecoder::Plain(BoundedBuffer::default()),
        Some("gzip" | "x-gzip") => {
            BodyDecoder::Gzip(Box::new(MultiGzDecoder::new(BoundedBuffer::default())))
        }
        Some(other) => {
            let name: String = other.chars().take(40).collect();
            return Err(format!(
                "The server compressed the page as `{name}`, which was not requested and cannot be \
                 read."
            ));
        }
    };
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            let why = crate::http_util::root_cause(&error);
            format!("The connection broke while the page was read: {why}. Try again.")
        })?;
        let Some(chunk) = chunk else {
            return decoder.finish();
        };
        let is_written = decoder.write(&chunk);
        let buffer = decoder.buffer();
        if buffer.is_full {
            let bytes = std::mem::take(&mut buffer.bytes);
            return Ok(Body {
                bytes,
                is_truncated: true,
            });
        }
        is_written.map_err(|_| invalid_gzip())?;
        on_progress(buffer.bytes.len());
    }
}

fn invalid_gzip() -> String {
    "The server sent a page with invalid gzip compression.".to_owned()
}

enum BodyDecoder {
    Plain(BoundedBuffer),
    Gzip(Box<MultiGzDecoder<BoundedBuffer>>),
}

impl BodyDecoder {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(buffer) => buffer.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk).and_then(|()| decoder.flush()),
        }
    }

    fn buffer(&mut self) -> &mut BoundedBuffer {
        match self {
            Self::Plain(buffer) => buffer,
            Self::Gzip(decoder) => decoder.get_mut(),
        }
    }

    fn finish(self) -> Result<Body, String> {
        let buffer = match self {
            Self::Plain(buffer) => buffer,
            Self::Gzip(decoder) => decoder.finish().map_err(|_| invalid_gzip())?,
        };
        Ok(Body {
            bytes: buffer.bytes,
            is_truncated: buffer.is_full,
        })
    }
}

/// Accepts a limited number of bytes. Writing more is an error, which ends decompression.
#[derive(Debug, Default)]
struct BoundedBuffer {
    bytes: Vec<u8>,
    /// More bytes were written than fit.
    is_full: bool,
}

impl Write for BoundedBuffer {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        let room = BODY_BYTES_MAX - self.bytes.len();
        self.bytes
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// First bytes of files in common formats. Servers send many of them as text or without a type.
const BINARY_SIGNATURES: [&[u8]; 22] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x7fELF",
    b"\0asm",
    b"OggS",
    b"fLaC",
    b"ID3",
    b"\x1aE\xdf\xa3",
];

/// Decodes a body; `None` if it is not text. The encoding is taken from a byte order mark, the
/// header or a declaration at the start of the page, in this order, and is UTF-8 otherwise.
pub fn decode_text(bytes: &[u8], content_type: &ContentType) -> Option<String> {
    let declared = || {
        let prefix = &bytes[..bytes.len().min(ENCODING_PREFIX_BYTES)];
        declared_charset(prefix)
    };
    let label = content_type.charset.clone().or_else(declared);
    let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    if is_binary(bytes) {
        return None;
    }
    // A byte order mark takes precedence.
    let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes);
    (!text.contains('\0')).then(|| text.into_owned())
}

fn is_binary(bytes: &[u8]) -> bool {
    let is_riff = bytes.starts_with(b"RIFF")
        && bytes
            .get(8..12)
            .is_some_and(|kind| matches!(kind, b"WEBP" | b"WAVE" | b"AVI "));
    let is_mp4 = bytes.get(4..8) == Some(b"ftyp");
    let has_signature = BINARY_SIGNATURES
        .iter()
        .any(|signature| match signature.len() {
            // Text may begin with these letters too, but contains no control characters.
            0..=3 => bytes.starts_with(signature) && has_control_characters(bytes),
            _ => bytes.starts_with(signature),
        });
    is_riff || is_mp4 || has_signature
}

fn has_control_characters(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(ENCODING_PREFIX_BYTES)];
    start
        .iter()
        .any(|byte| byte.is_ascii_control() && !b"\t\n\x0c\r\x1b".contains(byte))
}

/// The encoding in `<meta charset=…>` or `<?xml encoding=…?>`.
fn declared_charset(prefix: &[u8]) -> Option<String> {
    let prefix = String::from_utf8_lossy(prefix).to_ascii_lowercase();
    let start = match prefix.find(CHARSET) {
        Some(start) => start + CHARSET.len(),
        None => {
            prefix
                .starts_with("<?xml")
                .then(|| prefix.find("encoding="))??
                + "encoding=".len()
        }
    };
    let value = prefix[start..].trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c));
    Some(value[..end.unwrap_or(value.len())].to_owned()).filter(|label| !label.is_empty())
}

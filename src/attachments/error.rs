//! Why a file cannot be attached.

use crate::domain::Notice;
use crate::domain::attachment::IMAGE_PIXELS_MAX;
use crate::text::Clean;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    #[error("there is no file {0}")]
    NotFound(String),
    #[error("{0} is a folder")]
    IsFolder(String),
    #[error("{0} is not a regular file")]
    NotRegular(String),
    #[error("{0} is empty")]
    Empty(String),
    #[error("{name} cannot be read: {why}")]
    Unreadable { name: String, why: String },
    #[error("{name} is larger than {megabytes} MB")]
    TooLarge { name: String, megabytes: u64 },
    #[error("{name} has more than {} megapixels", IMAGE_PIXELS_MAX / 1_000_000)]
    TooManyPixels { name: String },
    /// Neither text nor one of the supported image formats. `format` is a noun phrase such as
    /// `a PDF file, not text`.
    #[error("{name} is {format}")]
    NotSupported { name: String, format: &'static str },
    #[error("the clipboard holds no image")]
    NoImageInClipboard,
    #[error("no program here can read images from the clipboard")]
    NoClipboardProgram { install_hint: &'static str },
    #[error("{program} did not return the image: {why}")]
    ClipboardFailed { program: &'static str, why: String },
}

impl AttachError {
    pub fn notice(&self) -> Notice {
        let mut sentence = Clean::single_line(&self.to_string()).as_str().to_owned();
        if let Some(first) = sentence.get(..1).map(str::to_uppercase)
            && self.starts_with_word()
        {
            sentence.replace_range(..1, &first);
        }
        let notice = Notice::warning(format!("{sentence}."));
        match self {
            Self::IsFolder(_) => notice.with_advice("Attach the files in it one by one."),
            Self::NotSupported { .. } => {
                notice.with_advice("Text files and PNG, JPEG, GIF and WebP images can be attached.")
            }
            Self::NoClipboardProgram { install_hint } => notice.with_advice(*install_hint),
            _ => notice,
        }
    }

    /// Whether the message starts with a word, not with a name.
    fn starts_with_word(&self) -> bool {
        matches!(
            self,
            Self::NotFound(_) | Self::NoImageInClipboard | Self::NoClipboardProgram { .. }
        )
    }
}

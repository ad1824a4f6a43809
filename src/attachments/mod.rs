//! Files that the user attaches to prompts: reads them, takes images from the clipboard, and finds
//! files by part of their path. Saves images and sounds of tool results. `reader`, `finder`,
//! `mentioned` and `result_media` block on disk access, so callers must run them on a blocking
//! thread.

mod clipboard;
mod error;
mod finder;
mod format;
mod inline_image;
mod mentioned;
mod reader;
mod result_media;
mod sensitive;

pub use clipboard::{ClipboardEnv, read_clipboard};
pub use error::AttachError;
pub use finder::FileFinder;
pub use inline_image::{InlineImageError, image_from_base64};
pub use mentioned::{MentionedPaths, look_up_mentioned};
pub use reader::{attach_resource, read_path};
pub use result_media::save_result_media;

//! Pure text: sanitising, widths, wrapping, lenient JSON, Python literals, Markdown, colours of code,
//! server-sent events. No I/O.

pub mod exact;
pub mod grapheme;
pub mod highlight;
pub mod json;
pub mod markdown;
pub mod near;
mod outline;
pub mod python;
pub mod sanitize;
mod sequence;
pub mod sse;
pub mod surrogate;
pub mod tokens;
mod visible;
pub mod words;
pub mod wrap;

pub use outline::{Event as OutlineEvent, Outline};
pub use sanitize::Clean;

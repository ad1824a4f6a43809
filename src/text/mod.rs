//! Pure text: sanitising, widths, wrapping, lenient JSON. No I/O.

pub mod grapheme;
pub mod json;
pub mod sanitize;
pub mod wrap;

pub use sanitize::Clean;

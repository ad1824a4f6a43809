//! Sanitizes lines for standard output and standard error, because some of their text comes from
//! servers.

use super::advice;
use crate::domain::Notice;
use crate::text::Clean;

/// Sanitizes text and joins it into one line.
pub fn clean_line(text: &str) -> String {
    Clean::single_line(text).as_str().to_owned()
}

/// A notice with its advice on one sanitized line.
pub fn notice_line(notice: &Notice) -> String {
    clean_line(&advice::notice_line(notice))
}

//! Lines for standard output and standard error. All text is made clean here, since some of
//! it comes from servers.

use super::advice;
use crate::domain::Notice;
use crate::text::Clean;

/// Words on one clean line.
pub fn clean_line(words: &str) -> String {
    Clean::single_line(words).as_str().to_owned()
}

/// A notice on one clean line.
pub fn notice_line(notice: &Notice) -> String {
    clean_line(&advice::notice_line(notice))
}

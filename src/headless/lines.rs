//! Lines for standard output and standard error. All text is made clean here, since some of
//! it comes from servers.

use super::advice;
use crate::domain::Notice;
use crate::text::Clean;

/// Words on one clean line.
pub fn line(words: &str) -> String {
    Clean::line(words).as_str().to_owned()
}

/// A notice on one clean line.
pub fn sentence(notice: &Notice) -> String {
    line(&advice::sentence(notice))
}

//! Writes to standard output.

use std::io::{self, ErrorKind, Write};

/// Writes text and flushes. A closed pipe is not an error: the reader has read enough.
///
/// # Errors
/// Any other write error.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

//! Writes to standard output.

use std::io::{self, ErrorKind, Write};

/// Writes a text. Whoever reads it may have read enough: a closed pipe is no error.
///
/// # Errors
/// It could not be written for another reason.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

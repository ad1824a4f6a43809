//! What `humble mcp …` writes to standard output and standard error.

use crate::app::output;
use crate::headless::mcp as words;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};

/// A clean line for standard error. Where nobody reads it there is nobody to tell.
pub(super) fn print_error_line(line: &str) {
    let err = io::stderr();
    let columns = err.is_terminal().then(|| tcgetwinsize(&err).ok()).flatten();
    let columns = columns
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    let _ = (&err).write_all(words::wrap_lines(line, 0, columns).as_bytes());
}

/// Writes to standard output.
pub(super) fn print(text: &str) -> Result<()> {
    output::print(text).context("the result could not be written")
}

/// How wide the terminal is that standard output is, if it is one.
pub(super) fn stdout_columns() -> Option<u16> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&out).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

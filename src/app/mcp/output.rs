//! Standard output and standard error of `humble mcp`.

use crate::app::output;
use crate::headless::mcp as cli_output;
use crate::headless::output::PrintedOutput;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};

/// Writes a sanitized line to standard error, wrapped to the width of the terminal. Ignores write
/// errors.
pub(super) fn print_to_stderr(line: &str) {
    let err = io::stderr();
    let columns = err.is_terminal().then(|| tcgetwinsize(&err).ok()).flatten();
    let columns = columns
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    let _ = (&err).write_all(cli_output::wrap_lines(line, 0, columns).as_bytes());
}

pub(in crate::app) fn print(output: impl Into<PrintedOutput>) -> Result<()> {
    output::print(output).context("could not write the result")
}

pub(in crate::app) fn stdout_columns() -> Option<u16> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&out).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

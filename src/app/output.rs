//! Writes to standard output, and asks the user questions on the terminal.

use crate::headless::lines::clean_line;
use crate::headless::output::{self, PrintedOutput};
use anyhow::{Context, Result};
use std::io::{self, BufRead, ErrorKind};

/// A closed pipe is not an error: the reader has read enough.
pub(super) fn print(output: impl Into<PrintedOutput>) -> io::Result<()> {
    match output::print(output) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Asks on standard error. Anything but yes means no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    eprint!("{} ", clean_line(&format!("{question} (y/N)")));
    let mut answer = String::new();
    let result = io::stdin().lock().read_line(&mut answer);
    result.context("could not read the answer")?;
    let answer = answer.trim().to_lowercase();
    // On a Korean keyboard layout, the `y` key types `ㅛ`.
    Ok(matches!(answer.as_str(), "y" | "yes" | "ㅛ"))
}

//! Writes to standard output, and asks the user questions on the terminal.

use crate::headless::lines::clean_line;
use anyhow::{Context, Result};
use std::io::{self, BufRead, ErrorKind, Write};

/// A closed pipe is not an error: the reader has read enough.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
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

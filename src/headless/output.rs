//! The one writer of finished output to standard output, so that nothing from outside can control
//! the terminal, whichever command prints it.

use crate::text::Clean;
use crate::text::terminal_json::escape_invisible_in_json;
use serde_json::Value;
use std::io::{self, IsTerminal, Write};

/// Complete lines, not sanitized.
#[derive(Debug, PartialEq)]
pub enum PrintedOutput {
    Text(String),
    Json(String),
}

impl From<String> for PrintedOutput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// One value on one line.
impl From<Value> for PrintedOutput {
    fn from(value: Value) -> Self {
        Self::Json(format!("{value}\n"))
    }
}

/// Writes to standard output: raw to a pipe or file. To a terminal, text is sanitized, and JSON
/// has `\u` escapes instead, so that its values stay the same.
pub fn print(output: impl Into<PrintedOutput>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let text = match output.into() {
        PrintedOutput::Text(text) if out.is_terminal() => Clean::new(&text).into(),
        PrintedOutput::Json(json) if out.is_terminal() => escape_invisible_in_json(&json),
        PrintedOutput::Text(text) | PrintedOutput::Json(text) => text,
    };
    out.write_all(text.as_bytes())?;
    out.flush()
}

//! A JSON file as text and as values at once. It is changed in its text, so that
//! a rewrite touches nothing but the value in question: what was not understood
//! stays as it was, to the byte.

use super::ConfigError;
use super::json_edit::{self, PathStep};
use crate::files;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Larger files are not settings that a person wrote.
pub(super) const BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct JsonDocument {
    path: PathBuf,
    text: String,
    /// Always an object.
    root: Value,
}

impl JsonDocument {
    /// Reads `path`; `None` where there is no such file, which is normal.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ConfigError> {
        let bytes = files::read(path, BYTES_MAX)
            .map_err(|fault| ConfigError::from_read_error(path, &fault))?;
        bytes.map(|bytes| Self::parse(path, bytes)).transpose()
    }

    /// What a file that does not exist yet starts from.
    pub(super) fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            text: "{}\n".to_owned(),
            root: Value::Object(Map::new()),
        }
    }

    pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        let malformed = |(line, column): (usize, usize), fault: String, advice| {
            let path = path.to_owned();
            ConfigError::Malformed {
                path,
                line,
                column,
                fault,
                advice,
            }
        };
        let text = String::from_utf8(bytes).map_err(|fault| {
            let good = fault.utf8_error().valid_up_to();
            let good = String::from_utf8_lossy(&fault.as_bytes()[..good]).into_owned();
            let what = "a byte that is not UTF-8".to_owned();
            malformed(
                line_and_column(&good, good.len()),
                what,
                "Save it as UTF-8.",
            )
        })?;
        if text.starts_with('\u{feff}') {
            let advice = "Save it as UTF-8 without a byte order mark.";
            return Err(malformed(
                (1, 1),
                "it begins with a byte order mark".to_owned(),
                advice,
            ));
        }
        if text.trim().is_empty() {
            let advice = "Write {} into it, or delete it.";
            return Err(malformed((1, 1), "the file is empty".to_owned(), advice));
        }
        match serde_json::from_str(&text) {
            Ok(root @ Value::Object(_)) => Ok(Self {
                path: path.to_owned(),
                text,
                root,
            }),
            Ok(other) => {
                let start = text.len() - text.trim_start().len();
                let fault = format!("it is {}, an object is expected", type_description(&other));
                let advice = "Put what it holds into an object: { … }.";
                Err(malformed(line_and_column(&text, start), fault, advice))
            }
            Err(fault) => {
                let at = byte_offset(&text, fault.line(), fault.column());
                let (what, advice) = explain_parse_error(&fault, &text[at..]);
                Err(malformed(line_and_column(&text, at), what, advice))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn root(&self) -> &Map<String, Value> {
        self.root.as_object().expect("the parser saw to it")
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// The line, from 1 on, on which what `steps` lead to begins, or the last of
    /// what there is on the way.
    pub(super) fn line_of(&self, steps: &[PathStep<'_>]) -> usize {
        line_and_column(&self.text, json_edit::find(&self.text, steps).start).0
    }

    /// Puts `value` where `steps` lead, making the objects that are missing on the
    /// way, and changes no other byte.
    pub(super) fn set(&mut self, steps: &[PathStep<'_>], value: &Value) -> Result<(), ConfigError> {
        if self.lookup(steps)? != Some(value) {
            self.text = json_edit::set(&self.text, steps, value);
            self.root =
                serde_json::from_str(&self.text).expect("an edit of valid JSON leaves valid JSON");
        }
        Ok(())
    }

    /// What `steps` lead to, if it is there.
    fn lookup(&self, steps: &[PathStep<'_>]) -> Result<Option<&Value>, ConfigError> {
        let mut here = &self.root;
        for (depth, step) in steps.iter().enumerate() {
            let next = match (here, step) {
                (Value::Object(map), PathStep::Key(key)) => map.get(*key),
                (Value::Array(items), PathStep::Index(index)) => items.get(*index),
                (other, _) => return Err(self.wrong_shape(&steps[..depth], other)),
            };
            match next {
                Some(next) => here = next,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    fn wrong_shape(&self, steps: &[PathStep<'_>], found: &Value) -> ConfigError {
        let name = match steps.last() {
            Some(PathStep::Key(key)) => format!("`{key}`"),
            Some(PathStep::Index(index)) => format!("entry {}", index + 1),
            None => "the file".to_owned(),
        };
        ConfigError::WrongShape {
            path: self.path.clone(),
            line: self.line_of(steps),
            fault: format!(
                "{name} is {}, an object is expected",
                type_description(found)
            ),
        }
    }
}

/// What a value is, in words. Values themselves are not quoted: one of them may
/// be a secret in the wrong place.
pub(super) fn type_description(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Line and column, from 1 on, of a byte; the column counts characters, as the
/// editors of people do.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The byte that the parser's line and column point at. Its columns count bytes,
/// the one read last included, and start over at a line end.
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (line_start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What is wrong and what to do, from the parser's words and the text from the
/// fault on.
fn explain_parse_error(fault: &serde_json::Error, rest: &str) -> (String, &'static str) {
    let said = fault.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    let (what, advice) = match rest.chars().next() {
        Some('/' | '#') => ("a comment", "JSON knows no comments: remove it."),
        Some('\'') => (
            "a single quotation mark",
            "Write texts in \"double\" quotation marks.",
        ),
        _ if fault.is_eof() => (
            "the file ends too early",
            "Close what is open: a bracket or a quotation mark is missing.",
        ),
        _ if said.contains("trailing comma") => {
            ("trailing comma", "Remove the comma after the last entry.")
        }
        _ if said == "expected ident" => (
            "a word that is none of true, false and null",
            "Write texts in \"double\" quotation marks.",
        ),
        _ if said.contains("expected `,`") => (
            said,
            "Put a comma between two entries, and a bracket at the end.",
        ),
        _ if said.contains("control character") => {
            (said, "Write \\n for a line end within a text.")
        }
        _ => (said, "Correct it there."),
    };
    (what.to_owned(), advice)
}

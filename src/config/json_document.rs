//! A JSON file as both text and parsed values. Edits are made in the text, so that a rewrite
//! changes only the target value and keeps everything else byte for byte.

use super::ConfigError;
use super::json_edit::{self, PathStep};
use super::repeated_keys::{RepeatedKey, find_repeated_keys};
use crate::files;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Larger files are not hand-written settings.
pub(super) const BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(super) struct JsonDocument {
    path: PathBuf,
    text: String,
    /// Always an object.
    root: Value,
}

impl JsonDocument {
    /// `None` if the file does not exist, which is normal.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ConfigError> {
        let bytes = files::read(path, BYTES_MAX)
            .map_err(|error| ConfigError::from_read_error(path, &error))?;
        bytes.map(|bytes| Self::parse(path, bytes)).transpose()
    }

    pub(super) fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            text: "{}\n".to_owned(),
            root: Value::Object(Map::new()),
        }
    }

    pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        let malformed = |(line, column): (usize, usize), problem: String, advice| {
            let path = path.to_owned();
            ConfigError::Malformed {
                path,
                line,
                column,
                problem,
                advice,
            }
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid_bytes = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let valid_text = String::from_utf8_lossy(valid_bytes).into_owned();
            let problem = "a byte that is not UTF-8".to_owned();
            malformed(
                line_and_column(&valid_text, valid_text.len()),
                problem,
                "Save it as UTF-8.",
            )
        })?;
        if text.starts_with('\u{feff}') {
            let advice = "Save it as UTF-8 without a byte order mark.";
            return Err(malformed(
                (1, 1),
                "the file begins with a byte order mark".to_owned(),
                advice,
            ));
        }
        if text.trim().is_empty() {
            let advice = "Write {} to it, or delete it.";
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
                let problem = format!(
                    "the file is {}, expected an object",
                    type_description(&other)
                );
                let advice = "Wrap its contents in an object: { … }.";
                Err(malformed(line_and_column(&text, start), problem, advice))
            }
            Err(error) => {
                let offset = byte_offset(&text, error.line(), error.column());
                let (problem, advice) = explain_parse_error(&error, &text[offset..]);
                Err(malformed(line_and_column(&text, offset), problem, advice))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn root(&self) -> &Map<String, Value> {
        self.root.as_object().expect("the root is always an object")
    }

    pub(super) fn repeated_keys(&self) -> Vec<RepeatedKey> {
        find_repeated_keys(&self.text)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// The line, from 1, of the value at `steps`, or of its nearest existing container.
    pub(super) fn line_of(&self, steps: &[PathStep<'_>]) -> usize {
        line_and_column(&self.text, json_edit::find(&self.text, steps).start).0
    }

    /// Sets the value at `steps`, creating missing objects, and changes no other byte. A `null` where
    /// an object should be counts as missing.
    pub(super) fn set(&mut self, steps: &[PathStep<'_>], value: &Value) -> Result<(), ConfigError> {
        if let Some(depth) = self.depth_of_null(steps) {
            let nested = steps[depth..].iter().rev().try_fold(value.clone(), nest);
            if let Some(nested) = nested {
                return self.set(&steps[..depth], &nested);
            }
        }
        if self.lookup(steps)? != Some(value) {
            self.text = json_edit::set(&self.text, steps, value);
            self.root =
                serde_json::from_str(&self.text).expect("an edit of valid JSON leaves valid JSON");
        }
        Ok(())
    }

    /// The number of steps that lead to a `null`, if `steps` leads on from there.
    fn depth_of_null(&self, steps: &[PathStep<'_>]) -> Option<usize> {
        (1..steps.len())
            .find(|depth| matches!(self.lookup(&steps[..*depth]), Ok(Some(Value::Null))))
    }

    /// Replaces or removes a value of the root, but not in the text. For documents that are not edited.
    pub(super) fn replace_for_reading(&mut self, key: &str, value: Option<Value>) {
        let root = self.root.as_object_mut();
        let root = root.expect("the root is always an object");
        match value {
            Some(value) => root.insert(key.to_owned(), value),
            None => root.shift_remove(key),
        };
    }

    fn lookup(&self, steps: &[PathStep<'_>]) -> Result<Option<&Value>, ConfigError> {
        let mut value = &self.root;
        for (depth, step) in steps.iter().enumerate() {
            let next = match (value, step) {
                (Value::Object(map), PathStep::Key(key)) => map.get(*key),
                (Value::Array(items), PathStep::Index(index)) => items.get(*index),
                (other, _) => return Err(self.wrong_shape(&steps[..depth], other)),
            };
            match next {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    fn wrong_shape(&self, steps: &[PathStep<'_>], value: &Value) -> ConfigError {
        let name = match steps.last() {
            Some(PathStep::Key(key)) => format!("`{key}`"),
            Some(PathStep::Index(index)) => format!("entry {}", index + 1),
            None => "the file".to_owned(),
        };
        ConfigError::WrongShape {
            path: self.path.clone(),
            line: self.line_of(steps),
            problem: format!("{name} is {}, expected an object", type_description(value)),
        }
    }
}

/// An object with the value under this key; `None` for an index.
fn nest(value: Value, step: &PathStep<'_>) -> Option<Value> {
    match step {
        PathStep::Key(key) => Some(json!({ *key: value })),
        PathStep::Index(_) => None,
    }
}

/// The value itself is not quoted, since it may be a misplaced secret.
pub(super) fn type_description(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Line and column of a byte offset, from 1. The column counts characters, as editors do.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The byte offset of the parser's line and column. Its columns count bytes, including the
/// last one read, and restart at each line end.
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut offset = (line_start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The problem and the advice, from the parser's error and the text that starts at its position.
fn explain_parse_error(error: &serde_json::Error, rest: &str) -> (String, &'static str) {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let next_char = rest.chars().next();
    let unexpected = next_char.map(|next| format!("expected a value, found \"{next}\""));
    let unexpected = unexpected.as_deref().unwrap_or(message);
    let (message, advice) = match next_char {
        Some('/' | '#') => ("a comment", "JSON has no comments: remove it."),
        Some('\'') => (
            "a single quotation mark",
            "Put strings in \"double\" quotation marks.",
        ),
        _ if error.is_eof() => (
            "the file ends unexpectedly",
            "A closing bracket or quotation mark is missing.",
        ),
        _ if message == "expected value" => (unexpected, "Correct it in the file."),
        _ if message.contains("trailing comma") => {
            ("trailing comma", "Remove the comma after the last entry.")
        }
        _ if message == "expected ident" => (
            "a word other than true, false or null",
            "Put strings in \"double\" quotation marks.",
        ),
        _ if message.contains("expected `,`") => (
            message,
            "Put a comma between entries, and a bracket at the end.",
        ),
        _ if message.contains("control character") => {
            (message, "Write \\n for a line break in a string.")
        }
        _ => (message, "Correct it in the file."),
    };
    (message.to_owned(), advice)
}

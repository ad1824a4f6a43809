//! Typed access to the fields of a JSON object. `null` counts as absent; a value of another
//! type is an error that names the expected type.

use super::json_document::type_description;
use crate::text::suggest::nearest;
use serde_json::{Map, Value};
use std::time::Duration;

pub(super) type ConfigObject = Map<String, Value>;
/// The problem with a field and what was expected instead, without a final period.
pub(super) type FieldError = String;

/// The longest timeout: one day.
const SECONDS_MAX: f64 = 86_400.0;

pub(super) fn get<'a>(entry: &'a ConfigObject, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

fn typed_field<'a, T>(
    entry: &'a ConfigObject,
    key: &str,
    expected: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<Option<T>, FieldError> {
    let Some(value) = get(entry, key) else {
        return Ok(None);
    };
    match read(value) {
        Some(field) => Ok(Some(field)),
        None => Err(format!(
            "`{key}` is {}, expected {expected}",
            describe_value(value)
        )),
    }
}

/// Describes a value. Only numbers and booleans are quoted, since they cannot be secrets.
fn describe_value(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        other => type_description(other).to_owned(),
    }
}

pub(super) fn text<'a>(entry: &'a ConfigObject, key: &str) -> Result<Option<&'a str>, FieldError> {
    typed_field(entry, key, "a string", Value::as_str)
}

pub(super) fn non_empty_text<'a>(
    entry: &'a ConfigObject,
    key: &str,
) -> Result<Option<&'a str>, FieldError> {
    match text(entry, key)? {
        Some(text) if text.trim().is_empty() => Err(format!("`{key}` is empty")),
        field => Ok(field),
    }
}

pub(super) fn boolean(entry: &ConfigObject, key: &str) -> Result<Option<bool>, FieldError> {
    typed_field(entry, key, "true or false", Value::as_bool)
}

pub(super) fn object<'a>(
    entry: &'a ConfigObject,
    key: &str,
) -> Result<Option<&'a ConfigObject>, FieldError> {
    typed_field(entry, key, "an object", Value::as_object)
}

/// A whole number from 1 to `u32::MAX`.
pub(super) fn count(entry: &ConfigObject, key: &str) -> Result<Option<u32>, FieldError> {
    typed_field(entry, key, "a whole number of at least 1", |value| {
        let number = value.as_f64()?;
        let is_in_range = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
        is_in_range.then_some(number as u32)
    })
}

pub(super) fn seconds(entry: &ConfigObject, key: &str) -> Result<Option<Duration>, FieldError> {
    let expected = "a number of seconds above 0 and at most 86400";
    typed_field(entry, key, expected, |value| {
        let seconds = value.as_f64()?;
        let is_in_range = seconds > 0.0 && seconds <= SECONDS_MAX;
        is_in_range.then(|| Duration::from_secs_f64(seconds))
    })
}

pub(super) fn text_list(
    entry: &ConfigObject,
    key: &str,
) -> Result<Option<Vec<String>>, FieldError> {
    typed_field(entry, key, "a list of strings", |value| {
        let texts = value.as_array()?.iter().map(Value::as_str);
        texts.map(|text| text.map(str::to_owned)).collect()
    })
}

/// An object of strings, in file order.
pub(super) fn text_pairs(
    entry: &ConfigObject,
    key: &str,
) -> Result<Vec<(String, String)>, FieldError> {
    let Some(table) = object(entry, key)? else {
        return Ok(Vec::new());
    };
    table
        .iter()
        .map(|(name, value)| match value.as_str() {
            Some(text) => Ok((name.clone(), text.to_owned())),
            None => Err(format!(
                "`{name}` in `{key}` is {}, expected a string",
                type_description(value)
            )),
        })
        .collect()
}

/// One of `choices`. Ignores case, which varies in files written by the older humble-ai-cli.
pub(super) fn one_of<'w>(
    entry: &ConfigObject,
    key: &str,
    choices: &[&'w str],
) -> Result<Option<&'w str>, FieldError> {
    let expected = format!("one of {}", quoted_list(choices));
    let Some(value) = typed_field(entry, key, &expected, Value::as_str)? else {
        return Ok(None);
    };
    let matches = |choice: &&&str| choice.eq_ignore_ascii_case(value);
    match choices.iter().find(matches) {
        Some(choice) => Ok(Some(choice)),
        None => Err(unknown_value(key, value, choices)),
    }
}

pub(super) fn unknown_value(key: &str, value: &str, choices: &[&str]) -> FieldError {
    let suggestion = nearest(value, choices.iter().copied())
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let quoted = start_to_quote(value);
    format!(
        "`{key}` is `{quoted}`, expected one of {}{suggestion}",
        quoted_list(choices)
    )
}

pub(super) fn start_to_quote(value: &str) -> String {
    value.chars().take(QUOTED_CHARS_MAX).collect()
}

const QUOTED_CHARS_MAX: usize = 40;

pub(super) fn quoted_list(choices: &[&str]) -> String {
    let quoted: Vec<_> = choices.iter().map(|choice| format!("`{choice}`")).collect();
    quoted.join(", ")
}

pub(super) fn with_period(sentence: &str) -> String {
    if sentence.ends_with('?') {
        sentence.to_owned()
    } else {
        format!("{sentence}.")
    }
}

//! Fields of one entry, typed leniently: `null` is as good as absent, and what is
//! of another type is told with what was expected in its place.

use super::json_document::kind;
use crate::text::suggest::nearest;
use serde_json::{Map, Value};
use std::time::Duration;

pub(super) type Entry = Map<String, Value>;
/// What is wrong with a field and what is expected, without a full stop.
pub(super) type Fault = String;

/// The longest time-out that can be set: one day.
const SECONDS_MAX: f64 = 86_400.0;

pub(super) fn get<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

fn typed<'a, T>(
    entry: &'a Entry,
    key: &str,
    expected: &str,
    read: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<Option<T>, Fault> {
    let Some(value) = get(entry, key) else {
        return Ok(None);
    };
    match read(value) {
        Some(read) => Ok(Some(read)),
        None => Err(format!(
            "`{key}` is {}, {expected} is expected",
            show(value)
        )),
    }
}

/// Numbers and truth values are no secrets and may be quoted.
fn show(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        other => kind(other).to_owned(),
    }
}

pub(super) fn text<'a>(entry: &'a Entry, key: &str) -> Result<Option<&'a str>, Fault> {
    typed(entry, key, "a text", Value::as_str)
}

/// A text that must not be empty.
pub(super) fn name<'a>(entry: &'a Entry, key: &str) -> Result<Option<&'a str>, Fault> {
    match text(entry, key)? {
        Some(found) if found.trim().is_empty() => Err(format!("`{key}` is empty")),
        found => Ok(found),
    }
}

pub(super) fn flag(entry: &Entry, key: &str) -> Result<Option<bool>, Fault> {
    typed(entry, key, "true or false", Value::as_bool)
}

pub(super) fn table<'a>(entry: &'a Entry, key: &str) -> Result<Option<&'a Entry>, Fault> {
    typed(entry, key, "an object", Value::as_object)
}

/// A whole number from 1 to `u32::MAX`.
pub(super) fn count(entry: &Entry, key: &str) -> Result<Option<u32>, Fault> {
    typed(entry, key, "a whole number from 1 on", |value| {
        let number = value.as_f64()?;
        let fits = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
        fits.then_some(number as u32)
    })
}

pub(super) fn seconds(entry: &Entry, key: &str) -> Result<Option<Duration>, Fault> {
    let expected = "a number of seconds above 0, at most 86400,";
    typed(entry, key, expected, |value| {
        let seconds = value.as_f64()?;
        let fits = seconds > 0.0 && seconds <= SECONDS_MAX;
        fits.then(|| Duration::from_secs_f64(seconds))
    })
}

pub(super) fn texts(entry: &Entry, key: &str) -> Result<Option<Vec<String>>, Fault> {
    typed(entry, key, "a list of texts", |value| {
        let texts = value.as_array()?.iter().map(Value::as_str);
        texts.map(|text| text.map(str::to_owned)).collect()
    })
}

/// An object whose values are texts, in its order.
pub(super) fn pairs(entry: &Entry, key: &str) -> Result<Vec<(String, String)>, Fault> {
    let Some(table) = table(entry, key)? else {
        return Ok(Vec::new());
    };
    table
        .iter()
        .map(|(name, value)| match value.as_str() {
            Some(text) => Ok((name.clone(), text.to_owned())),
            None => Err(format!(
                "`{name}` in `{key}` is {}, a text is expected",
                kind(value)
            )),
        })
        .collect()
}

/// One of `words`, in upper or lower case: files of humble-ai-cli hold both.
pub(super) fn one_of<'w>(
    entry: &Entry,
    key: &str,
    words: &[&'w str],
) -> Result<Option<&'w str>, Fault> {
    let expected = format!("one of {}", listed(words));
    let Some(found) = typed(entry, key, &expected, Value::as_str)? else {
        return Ok(None);
    };
    let is_meant = |word: &&&str| word.eq_ignore_ascii_case(found);
    match words.iter().find(is_meant) {
        Some(word) => Ok(Some(word)),
        None => Err(unknown(key, found, words)),
    }
}

/// A value that is none of `words`, with the nearest of them.
pub(super) fn unknown(key: &str, found: &str, words: &[&str]) -> Fault {
    let meant = nearest(found, words.iter().copied())
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    let found: String = found.chars().take(FOUND_MAX).collect();
    format!(
        "`{key}` is `{found}`, one of {} is expected{meant}",
        listed(words)
    )
}

/// Characters of a wrong value that are quoted.
const FOUND_MAX: usize = 40;

fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// A fault as a sentence.
pub(super) fn sentence(fault: &str) -> String {
    if fault.ends_with('?') {
        fault.to_owned()
    } else {
        format!("{fault}.")
    }
}

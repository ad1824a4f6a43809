//! Reads the arguments of a call. Errors are texts for the model.

use rmcp::model::JsonObject;
use serde_json::Value;
use std::fmt::Display;

/// Of an argument, in an error message.
const QUOTED_CHARS_MAX: usize = 100;
/// Floating-point numbers above 2^53 are not exact.
const WHOLE_NUMBER_MAX: f64 = 9_007_199_254_740_992.0;

/// Rejects arguments other than `known`.
pub fn reject_unknown(arguments: &JsonObject, tool: &str, known: &[&str]) -> Result<(), String> {
    let unknown = arguments.keys().find(|key| !known.contains(&key.as_str()));
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let accepted = match known {
        [] => "takes no arguments".to_owned(),
        _ => format!("takes only `{}`", known.join("`, `")),
    };
    Err(format!(
        "There is no argument `{}`: {tool} {accepted}.",
        shortened(unknown)
    ))
}

/// The beginning of a value of any length, for an error message.
pub fn shortened(value: impl Display) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The arguments with numbers and booleans written as strings where the schema of the tool wants a
/// string, because some clients send `2024` as a number.
pub fn with_strings(arguments: &JsonObject, schema: &JsonObject) -> JsonObject {
    let wants_string = |key: &str| {
        let property = schema.get("properties").and_then(|known| known.get(key));
        property.and_then(|property| property.get("type")) == Some(&Value::from("string"))
    };
    let pairs = arguments.iter().map(|(key, value)| {
        let value = match value {
            Value::Number(_) | Value::Bool(_) if wants_string(key) => value.to_string().into(),
            value => value.clone(),
        };
        (key.clone(), value)
    });
    pairs.collect()
}

/// A string without surrounding whitespace. `None` if it is absent, `null` or blank.
pub fn text<'a>(
    arguments: &'a JsonObject,
    key: &str,
    example: &str,
    chars_max: usize,
) -> Result<Option<&'a str>, String> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            if text.chars().count() > chars_max {
                return Err(format!(
                    "`{key}` is longer than {chars_max} characters: shorten it."
                ));
            }
            Ok(Some(text).filter(|text| !text.is_empty()))
        }
        Some(_) => Err(format!("`{key}` must be a string such as \"{example}\".")),
    }
}

/// A number, also as a string, as some models write it.
pub fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        value => value.as_f64()?,
    };
    number.is_finite().then_some(number)
}

/// A whole number, also as `5.0` or `"5"`.
pub fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = number(value)?;
        let is_whole = number.fract() == 0.0 && (0.0..=WHOLE_NUMBER_MAX).contains(&number);
        is_whole.then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_in_arguments_may_be_written_as_strings() {
        for (value, expected) in [
            (json!(5), Some(5)),
            (json!(5.0), Some(5)),
            (json!("5"), Some(5)),
            (json!(" 5.0 "), Some(5)),
            (json!("five"), None),
            (json!("5.5"), None),
            (json!(-1), None),
            (json!("inf"), None),
            (json!("NaN"), None),
            (json!(1e300), None),
            (json!([5]), None),
            (json!(true), None),
        ] {
            assert_eq!(whole_number(&value), expected, "{value}");
        }
        assert_eq!(number(&json!("-37.5")), Some(-37.5));
    }
}

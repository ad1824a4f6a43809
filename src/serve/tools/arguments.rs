//! Reads the arguments of a call. Errors are texts for the model.

use crate::domain::Arguments;
use serde_json::Value;

/// Rejects arguments other than `known`.
pub fn reject_unknown(arguments: &Arguments, tool: &str, known: &[&str]) -> Result<(), String> {
    let unknown = arguments.keys().find(|key| !known.contains(&key.as_str()));
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let takes = match known {
        [] => "takes no arguments".to_owned(),
        _ => format!("takes only `{}`", known.join("`, `")),
    };
    Err(format!("There is no argument `{unknown}`: {tool} {takes}."))
}

/// A string without surrounding whitespace. `None` if it is absent, `null` or blank.
pub fn text<'a>(
    arguments: &'a Arguments,
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

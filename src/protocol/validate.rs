//! Parses text edited in the approval dialog with the same rules as the engine.

use crate::domain::{ArgumentPattern, Arguments};

/// Parses an edited pattern, which must match the arguments of the call it was edited for.
///
/// # Errors
/// Returns the first problem as text for the user.
pub fn parse_pattern_for(
    call_arguments: &Arguments,
    text: &str,
) -> Result<ArgumentPattern, String> {
    let pattern = parse_arguments(text)?;
    let pattern = ArgumentPattern::from_json(&pattern)?;
    match pattern.matches(call_arguments) {
        true => Ok(pattern),
        false => Err("it does not match this call".to_owned()),
    }
}

/// Parses edited arguments. The engine checks them against the tool's schema, see
/// [`super::Command::CheckArguments`].
///
/// # Errors
/// Returns the first problem as text for the user.
pub fn parse_arguments(text: &str) -> Result<Arguments, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        // The parser counts bytes; users count characters.
        let line = text
            .lines()
            .nth(error.line().saturating_sub(1))
            .unwrap_or_default();
        let end = line.floor_char_boundary(error.column());
        let column = line[..end].chars().count();
        format!("not JSON at line {}, character {column}", error.line())
    })?;
    match value {
        serde_json::Value::Object(arguments) => Ok(Arguments::from(arguments).with_digits_of(text)),
        _ => Err("arguments must be a JSON object: { … }".to_owned()),
    }
}

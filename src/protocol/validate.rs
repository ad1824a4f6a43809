//! Parses text edited in the approval dialog with the same rules as the engine.

use crate::domain::{ArgumentPattern, Arguments};

/// Parses an edited pattern. It must match the call for which it was written.
///
/// # Errors
/// The first error, for the user.
pub fn parse_pattern_for(called: &Arguments, text: &str) -> Result<ArgumentPattern, String> {
    let pattern = ArgumentPattern::from_json(&parse_arguments(text)?)?;
    match pattern.matches(called) {
        true => Ok(pattern),
        false => Err("it does not match this call".to_owned()),
    }
}

/// Parses edited arguments. The engine checks them against the tool's schema, see
/// [`super::Command::CheckArguments`].
///
/// # Errors
/// The first error, for the user.
pub fn parse_arguments(text: &str) -> Result<Arguments, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|fault| {
        // The parser counts bytes; users count characters.
        let line = text
            .lines()
            .nth(fault.line().saturating_sub(1))
            .unwrap_or_default();
        let before = line.floor_char_boundary(fault.column());
        let column = line[..before].chars().count();
        format!("not JSON at line {}, character {column}", fault.line())
    })?;
    match value {
        serde_json::Value::Object(arguments) => Ok(arguments),
        _ => Err("arguments must be a JSON object: { … }".to_owned()),
    }
}

//! Reads what a person wrote in a field of the approval dialog, as the engine will.

use crate::domain::{ArgumentPattern, Arguments};

/// Checks an edited pattern as the engine will (S7.2 `8`): it has to match the call
/// that it is made for.
///
/// # Errors
/// The first fault, in words for the person.
pub fn parse_pattern_for(called: &Arguments, text: &str) -> Result<ArgumentPattern, String> {
    let pattern = ArgumentPattern::from_json(&parse_arguments(text)?)?;
    match pattern.matches(called) {
        true => Ok(pattern),
        false => Err("it does not match this call, so it would not do what it says".to_owned()),
    }
}

/// Reads edited arguments. Whether they satisfy the tool's schema is for the engine to
/// find out: see [`super::Command::CheckArguments`].
///
/// # Errors
/// The first fault, in words for the user.
pub fn parse_arguments(text: &str) -> Result<Arguments, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|fault| {
        // The parser counts bytes; a person counts characters.
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
        _ => Err("arguments are a JSON object: { … }".to_owned()),
    }
}

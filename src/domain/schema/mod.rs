//! Checks a call's arguments against its tool's input schema.
//!
//! Neither is trusted: the schema comes from a server, the arguments from a model. A few
//! hundred bytes of schema can require an astronomical number of steps, and the validator
//! can neither count steps nor be cancelled. Therefore steps are estimated first
//! ([`cost`]), patterns run on a linear-time engine, and anything too expensive is
//! [`SchemaCheck::Unchecked`], which leaves the decision to the server. Callers run checks
//! on a blocking thread, with a deadline.

mod cost;
#[cfg(test)]
mod tests;

use super::{Arguments, Tool};
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use std::sync::Arc;

/// The largest tool definition whose schema is compiled, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// The size limit of a compiled pattern and of its cache. Nested repetitions exceed it
/// quickly, so they are rejected early.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// The longest error in characters. Errors quote the value, which may be long.
const ERROR_CHARS_MAX: usize = 400;

/// The label of calls with [`SchemaCheck::Unchecked`] arguments.
pub const UNCHECKED_LABEL: &str = "not checked against the schema";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaCheck {
    Valid,
    /// The first error and its location.
    Invalid(String),
    /// The schema does not compile or the check would take too long. The server decides.
    Unchecked,
}

/// The arguments of a call and the tool whose schema they must match.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentCheck {
    pub tool: Arc<Tool>,
    pub arguments: Arguments,
}

impl ArgumentCheck {
    /// Blocks during the check: usually for microseconds, and for at most [`cost::STEPS_MAX`]
    /// validator steps.
    pub fn run(self) -> SchemaCheck {
        if self.tool.bytes > SCHEMA_BYTES_MAX {
            return SchemaCheck::Unchecked;
        }
        let schema = Value::Object(self.tool.input_schema.clone());
        check_value(&schema, &Value::Object(self.arguments))
    }
}

/// Checks a value that a server or a model sent. Blocks like [`ArgumentCheck::run`]. The caller
/// limits the size of the schema to [`SCHEMA_BYTES_MAX`].
pub fn check_value(schema: &Value, value: &Value) -> SchemaCheck {
    if !cost::is_affordable(schema, value) {
        return SchemaCheck::Unchecked;
    }
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX);
    let options = jsonschema::options().with_pattern_options(patterns);
    let Ok(validator) = options.build(schema) else {
        return SchemaCheck::Unchecked;
    };
    match validator.validate(value) {
        Ok(()) => SchemaCheck::Valid,
        Err(error) => SchemaCheck::Invalid(describe_error(&error)),
    }
}

fn describe_error(error: &ValidationError) -> String {
    let path = error.instance_path().to_string();
    let mut text: String = error.to_string().chars().take(ERROR_CHARS_MAX).collect();
    if !path.is_empty() {
        text += " at ";
        text.extend(path.chars().take(ERROR_CHARS_MAX));
    }
    text
}

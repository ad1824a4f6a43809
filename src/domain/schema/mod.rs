//! Checks a call's arguments against its tool's input schema.
//!
//! Neither is trusted: the schema comes from a server, the arguments from a model. A few
//! hundred bytes of schema can require an astronomical number of steps, and the validator
//! can neither count steps nor be cancelled. Therefore steps are estimated first
//! ([`cost`]), patterns run on a linear-time engine, and anything too expensive is
//! [`SchemaCheck::Unchecked`], which leaves the decision to the server. Callers run checks
//! on a blocking thread, with a deadline.

mod cost;
mod error_text;
mod repair;
#[cfg(test)]
mod tests;

use super::{Arguments, Tool};
use crate::text::json_changes::JsonChange;
use error_text::describe_error;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::sync::Arc;

/// The largest tool definition whose schema is compiled, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// The size limit of a compiled pattern and of its cache. Nested repetitions exceed it
/// quickly, so they are rejected early.
const PATTERN_BYTES_MAX: usize = 256 * 1024;

/// The label of calls with [`SchemaCheck::Unchecked`] arguments.
pub const UNCHECKED_LABEL: &str = "not checked against the schema";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaCheck {
    Valid,
    /// Not valid as written, but the meaning is clear: these arguments are valid.
    Repaired {
        arguments: Arguments,
        changes: Vec<JsonChange>,
    },
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
    /// Arguments of a model are repaired, those of a user are not.
    pub may_repair: bool,
}

impl ArgumentCheck {
    /// Blocks during the check: usually for microseconds, and for at most [`cost::STEPS_MAX`]
    /// validator steps.
    pub fn run(self) -> SchemaCheck {
        if self.tool.bytes > SCHEMA_BYTES_MAX {
            return SchemaCheck::Unchecked;
        }
        let schema = Value::Object(self.tool.input_schema.clone());
        let arguments = Value::from(self.arguments);
        let Some(validator) = compile(&schema, &arguments) else {
            return SchemaCheck::Unchecked;
        };
        match validate(&validator, &arguments) {
            SchemaCheck::Invalid(problem) if self.may_repair => {
                match repair::repair(&schema, &validator, &arguments) {
                    Some(repaired) => SchemaCheck::Repaired {
                        arguments: repaired.arguments,
                        changes: repaired.changes,
                    },
                    None => SchemaCheck::Invalid(problem),
                }
            }
            check => check,
        }
    }
}

/// Checks a value that a server or a model sent. Blocks like [`ArgumentCheck::run`]. The caller
/// limits the size of the schema to [`SCHEMA_BYTES_MAX`].
pub fn check_value(schema: &Value, value: &Value) -> SchemaCheck {
    match compile(schema, value) {
        Some(validator) => validate(&validator, value),
        None => SchemaCheck::Unchecked,
    }
}

/// `None` if the schema does not compile, or if checking `value` would take too long.
fn compile(schema: &Value, value: &Value) -> Option<Validator> {
    if cost::count_steps(schema, value)? > cost::STEPS_MAX {
        return None;
    }
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).ok()
}

fn validate(validator: &Validator, value: &Value) -> SchemaCheck {
    match validator.validate(value) {
        Ok(()) => SchemaCheck::Valid,
        Err(error) => SchemaCheck::Invalid(describe_error(&error)),
    }
}

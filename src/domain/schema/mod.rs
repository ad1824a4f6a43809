//! Checks a call's arguments against its tool's input schema.
//!
//! Both come from outside: the schema from a server, the arguments from a model. A few
//! hundred bytes of schema can ask for more steps than the universe has time for, and the
//! validator can neither count its steps nor be cancelled. So the steps are counted
//! first ([`cost`]), patterns run on an engine that takes linear time, and whatever would
//! still be too much is [`SchemaCheck::Unchecked`]: the server decides. Callers run a
//! check on a thread that may block, with a deadline.

mod cost;
#[cfg(test)]
mod tests;

use super::{Arguments, Tool};
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use std::sync::Arc;

/// Bytes of a tool's definition above which its schema is not compiled.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a compiled pattern and of its cache. Repetitions of repetitions exceed this
/// quickly, and are refused before they cost time.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Characters of a fault: it quotes the value, however long that is.
const ERROR_CHARS_MAX: usize = 400;

/// Shown wherever a call is shown whose arguments are [`SchemaCheck::Unchecked`].
pub const UNCHECKED_LABEL: &str = "not checked against the schema";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaCheck {
    Valid,
    /// The first fault and where it is.
    Invalid(String),
    /// The schema does not compile, or the check would take too long: the server decides.
    Unchecked,
}

/// Arguments that are to be checked, and what against.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentCheck {
    /// The tool whose input schema they have to satisfy.
    pub tool: Arc<Tool>,
    pub arguments: Arguments,
}

impl ArgumentCheck {
    /// Blocks for as long as the check takes: usually microseconds, and bounded by
    /// [`cost::STEPS_MAX`] validator steps.
    pub fn run(self) -> SchemaCheck {
        if self.tool.bytes > SCHEMA_BYTES_MAX {
            return SchemaCheck::Unchecked;
        }
        let schema = Value::Object(self.tool.input_schema.clone());
        let arguments = Value::Object(self.arguments);
        if !cost::is_affordable(&schema, &arguments) {
            return SchemaCheck::Unchecked;
        }
        let patterns = PatternOptions::regex()
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().with_pattern_options(patterns);
        let Ok(validator) = options.build(&schema) else {
            return SchemaCheck::Unchecked;
        };
        match validator.validate(&arguments) {
            Ok(()) => SchemaCheck::Valid,
            Err(fault) => SchemaCheck::Invalid(describe_error(&fault)),
        }
    }
}

fn describe_error(fault: &ValidationError) -> String {
    let path = fault.instance_path().to_string();
    let mut words: String = fault.to_string().chars().take(ERROR_CHARS_MAX).collect();
    if !path.is_empty() {
        words += " at ";
        words.extend(path.chars().take(ERROR_CHARS_MAX));
    }
    words
}

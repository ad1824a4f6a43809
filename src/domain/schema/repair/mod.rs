//! Repairs arguments as small models write them: JSON inside a string, and a blank in place of an
//! optional value. The validator decides where a value does not fit and whether the repaired
//! arguments do, so a string that the schema allows stays as it is.

use super::cost;
use super::error_text::{accepts_other_text, branches};
use crate::domain::Arguments;
use crate::text::json_changes::{JsonChange, limit_changes};
use crate::text::lenient_json;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of checks. A repaired value may contain another one that needs a repair.
const ROUNDS_MAX: usize = 8;
/// Maximum number of errors that are repaired in one round.
const ERRORS_MAX: usize = 128;
/// Maximum number of branches (`anyOf`, `oneOf`) searched in one round.
const BRANCHES_MAX: usize = 256;

pub(super) struct Repaired {
    pub(super) arguments: Arguments,
    pub(super) changes: Vec<JsonChange>,
}

#[derive(Debug, PartialEq)]
enum Repair {
    /// The JSON in a string.
    Replace(Value),
    LeaveOut,
}

/// Repairs invalid arguments. `None` if that is not possible, or if it takes too many steps.
pub(super) fn repair(schema: &Value, validator: &Validator, original: &Value) -> Option<Repaired> {
    let mut repaired = original.clone();
    let mut changes = BTreeMap::new();
    let mut steps = 0;
    for _ in 0..ROUNDS_MAX {
        steps += cost::count_steps(schema, &repaired)?;
        if steps > cost::STEPS_MAX {
            return None;
        }
        let repairs = find_repairs(validator, &repaired)?;
        if repairs.is_empty() {
            return Some(Repaired {
                arguments: repaired.as_object()?.clone().into(),
                changes: limit_changes(changes.into_values().collect()),
            });
        }
        for (pointer, repair) in repairs {
            let key = unescaped(pointer.trim_start_matches('/'));
            let change = match &repair {
                Repair::Replace(_) => JsonChange::JsonInString { key },
                Repair::LeaveOut => {
                    let written = original.pointer(&pointer).or(repaired.pointer(&pointer))?;
                    let written = written.to_string();
                    JsonChange::LeftOut { key, written }
                }
            };
            apply(&mut repaired, &pointer, repair)?;
            changes.insert(pointer, change);
        }
    }
    None
}

/// The repairs of all errors by JSON pointer, none if the arguments are valid. `None` if an error
/// cannot be repaired.
fn find_repairs(validator: &Validator, arguments: &Value) -> Option<BTreeMap<String, Repair>> {
    let mut repairs = BTreeMap::new();
    let mut branches_left = BRANCHES_MAX;
    for (count, error) in validator.iter_errors(arguments).enumerate() {
        if count == ERRORS_MAX {
            return None;
        }
        repairs.extend(repairs_of(&error, arguments, &mut branches_left)?);
    }
    Some(repairs)
}

fn repairs_of(
    error: &ValidationError<'_>,
    arguments: &Value,
    branches_left: &mut usize,
) -> Option<Vec<(String, Repair)>> {
    let pointer = error.instance_path().to_string();
    if let Some(repair) = repair_of(error, arguments.pointer(&pointer)?) {
        return Some(vec![(pointer, repair)]);
    }
    // One branch is enough.
    branches(error.kind()).iter().find_map(|errors| {
        *branches_left = branches_left.checked_sub(1)?;
        let repairs = errors
            .iter()
            .map(|error| repairs_of(error, arguments, branches_left));
        let repairs: Option<Vec<_>> = repairs.collect();
        repairs.map(|repairs| repairs.into_iter().flatten().collect())
    })
}

/// A repair that may help, which the next round checks.
fn repair_of(error: &ValidationError<'_>, value: &Value) -> Option<Repair> {
    let text = match value {
        Value::Null => return Some(Repair::LeaveOut),
        Value::String(text) => text.trim(),
        _ => return None,
    };
    if text.is_empty() {
        return Some(Repair::LeaveOut);
    }
    if accepts_other_text(error.kind()) {
        return (text == "null").then_some(Repair::LeaveOut);
    }
    let parsed = lenient_json::parse(text).ok()?.value;
    Some(Repair::Replace(parsed))
}

/// Applies one repair. `None` if the place no longer exists or is an item of a list, which cannot be
/// left out.
fn apply(root: &mut Value, pointer: &str, repair: Repair) -> Option<()> {
    match repair {
        Repair::Replace(value) => *root.pointer_mut(pointer)? = value,
        Repair::LeaveOut => {
            let (parent, key) = pointer.rsplit_once('/')?;
            let members = root.pointer_mut(parent)?.as_object_mut()?;
            members.shift_remove(&unescaped(key))?;
        }
    }
    Some(())
}

fn unescaped(pointer: &str) -> String {
    pointer.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests;

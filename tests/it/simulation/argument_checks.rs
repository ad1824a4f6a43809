//! The simulated argument check.

use super::checker::Checker;
use super::test_rng::TestRng;
use humble::domain::{ArgumentCheck, SchemaCheck};
use humble::engine::turn::TurnInput;
use serde_json::json;

/// Simplified results of a check: a path must be a string. Some checks stay unfinished.
pub fn arguments_checked(dice: &mut TestRng, seen: &Checker) -> TurnInput {
    let check = |check: &ArgumentCheck| {
        let is_required = check.tool.input_schema["required"] != json!([]);
        match check.arguments.get("path") {
            _ if dice.one_in(20) => None,
            Some(path) if !path.is_string() => Some(Some("path is not a string")),
            None if is_required => Some(Some("path is missing")),
            _ => Some(None),
        }
    };
    let results = seen
        .checking
        .iter()
        .map(check)
        .map(|result| match result {
            None => SchemaCheck::Unchecked,
            Some(None) => SchemaCheck::Valid,
            Some(Some(why)) => SchemaCheck::Invalid(why.to_owned()),
        })
        .collect();
    TurnInput::ArgumentsChecked(results)
}

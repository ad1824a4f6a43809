//! The simulated argument check.

use super::invariant_checker::InvariantChecker;
use super::test_rng::TestRng;
use humble::domain::{ArgumentCheck, SchemaCheck};
use humble::engine::turn::TurnInput;
use serde_json::json;

/// The results of a simplified check: a path must be a string, and some tools require one. Some
/// calls stay unchecked.
pub fn arguments_checked(rng: &mut TestRng, checker: &InvariantChecker) -> TurnInput {
    let check = |check: &ArgumentCheck| {
        let is_required = check.tool.input_schema["required"] != json!([]);
        match check.arguments.get("path") {
            _ if rng.one_in(20) => SchemaCheck::Unchecked,
            Some(path) if !path.is_string() => {
                SchemaCheck::Invalid("path is not a string".to_owned())
            }
            None if is_required => SchemaCheck::Invalid("path is missing".to_owned()),
            _ => SchemaCheck::Valid,
        }
    };
    let results = checker.checking.iter().map(check).collect();
    TurnInput::ArgumentsChecked(results)
}

//! Equality of call arguments, to detect repeated and duplicate calls.

use crate::domain::Arguments;
use serde_json::{Map, Value};

/// Compares arguments as JSON values: `1` and `1.0` are the same number, and the order of keys is
/// ignored.
pub(super) fn arguments_equal(a: &Arguments, b: &Arguments) -> bool {
    members_equal(a, b) && a.has_same_digits(b)
}

fn members_equal(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    fn values_equal(a: &Value, b: &Value) -> bool {
        match (a, b) {
            // Two integers are compared exactly, because large ones may be equal as floats.
            (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64() => {
                a.as_f64() == b.as_f64()
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| values_equal(a, b))
            }
            (Value::Object(a), Value::Object(b)) => members_equal(a, b),
            _ => a == b,
        }
    }
    a.len() == b.len()
        && a.iter()
            .all(|(key, value)| b.get(key).is_some_and(|other| values_equal(value, other)))
}

#[cfg(test)]
mod tests {
    use super::arguments_equal;
    use serde_json::{Value, json};

    fn same(a: Value, b: Value) -> bool {
        let (Value::Object(a), Value::Object(b)) = (a, b) else {
            panic!("arguments are objects");
        };
        arguments_equal(&a.into(), &b.into())
    }

    #[test]
    fn arguments_are_compared_as_json_values() {
        assert!(same(
            json!({ "a": 1, "b": [2, "둘"] }),
            json!({ "b": [2.0, "둘"], "a": 1.0 })
        ));
        assert!(same(
            json!({ "a": { "b": { "c": null } } }),
            json!({ "a": { "b": { "c": null } } })
        ));
        assert!(same(json!({}), json!({})));
    }

    #[test]
    fn arguments_with_any_difference_are_not_equal() {
        for (a, b) in [
            (json!({ "a": 1 }), json!({ "a": 2 })),
            (json!({ "a": 1 }), json!({ "b": 1 })),
            (json!({ "a": 1 }), json!({})),
            (json!({ "a": 1 }), json!({ "a": 1, "b": 1 })),
            (json!({ "a": [1, 2] }), json!({ "a": [1] })),
            (json!({ "a": [1, 2] }), json!({ "a": [2, 1] })),
            (json!({ "a": { "b": 1 } }), json!({ "a": { "b": 1.5 } })),
            (json!({ "a": "1" }), json!({ "a": 1 })),
            // Equal as floats.
            (
                json!({ "a": 9_007_199_254_740_993_u64 }),
                json!({ "a": 9_007_199_254_740_992_u64 }),
            ),
        ] {
            assert!(!same(a.clone(), b.clone()), "{a} {b}");
        }
    }
}

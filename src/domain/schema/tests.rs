//! Tests of argument checks, including hostile schemas.

use super::*;
use crate::fixtures::{object, tool_with};
use serde_json::{Map, json};
use std::time::{Duration, Instant};

fn check(schema: Value, arguments: Value) -> SchemaCheck {
    let check = ArgumentCheck {
        tool: Arc::new(tool_with("t", schema)),
        arguments: object(arguments),
        may_repair: true,
    };
    let started = Instant::now();
    let result = check.run();
    // Generous for a debug build on a busy machine; an unguarded check would take years.
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the check took too long"
    );
    result
}

/// Definitions `a0` to `a30`, each an `allOf` of two references to the next.
fn doubling_definitions() -> Map<String, Value> {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        definitions.insert(format!("a{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("a30".to_owned(), json!({ "type": "object" }));
    definitions
}

#[test]
fn schemas_with_exponential_references_leave_arguments_unchecked() {
    let schema = json!({
        "type": "object",
        "properties": { "x": { "$ref": "#/$defs/a0" } },
        "$defs": doubling_definitions(),
    });
    assert_eq!(
        check(schema.clone(), json!({ "x": {} })),
        SchemaCheck::Unchecked
    );
    // If the arguments do not reach these references, the rest of the schema is checked.
    assert_eq!(check(schema.clone(), json!({})), SchemaCheck::Valid);
    let anchored = json!({
        "properties": { "x": { "$ref": "#start" } },
        "$defs": {
            "start": { "$anchor": "start", "anyOf": [{ "$ref": "#/$defs/a0" }] },
            "rest": doubling_definitions(),
        },
    });
    assert_eq!(check(anchored, json!({ "x": {} })), SchemaCheck::Unchecked);
}

#[test]
fn exponential_recursion_over_arguments_is_not_validated() {
    let branch = json!({ "properties": { "next": { "$ref": "#" } } });
    let schema = json!({ "type": "object", "anyOf": [branch, branch], "not": branch });
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({ "next": deep });
    }
    assert_eq!(check(schema, deep), SchemaCheck::Unchecked);
}

/// Compiling these schemas would overflow the stack or take gigabytes of memory, whatever the
/// arguments.
#[test]
fn schemas_too_expensive_to_compile_are_not_compiled() {
    let chain = |wrap_reference: fn(Value) -> Value, levels: usize| {
        let mut definitions = Map::new();
        for level in 0..levels {
            let reference = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
            definitions.insert(format!("a{level}"), wrap_reference(reference));
        }
        definitions.insert(format!("a{levels}"), json!(true));
        definitions
    };
    for definitions in [
        chain(|reference| reference, 5_000),
        chain(|reference| json!({ "allOf": [reference, reference] }), 30),
        chain(|reference| json!({ "anyOf": [reference, reference] }), 30),
    ] {
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            let schema = json!({
                "$defs": definitions,
                "properties": { "x": { "$ref": "#/$defs/a0", keyword: false } },
            });
            assert_eq!(check(schema, json!({})), SchemaCheck::Unchecked);
        }
    }
    let inline =
        json!({ "properties": { "a": { "type": "string" } }, "unevaluatedProperties": false });
    assert!(matches!(
        check(inline, json!({ "b": 1 })),
        SchemaCheck::Invalid(_)
    ));
}

#[test]
fn schemas_with_ambiguous_references_leave_arguments_unchecked() {
    let old = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "$defs": { "a0": {} },
        "properties": { "x": {
            "id": "http://b/", "$defs": doubling_definitions(), "allOf": [{ "$ref": "#/$defs/a0" }],
        } },
    });
    assert_eq!(check(old, json!({ "x": {} })), SchemaCheck::Unchecked);
    let mut definitions = doubling_definitions();
    definitions["a0"]["$anchor"] = json!("x");
    let duplicate_anchors = json!({
        "$defs": definitions,
        "properties": { "x": { "$ref": "#x" } },
        "default": { "$anchor": "x" },
        "examples": [{ "$anchor": "x" }],
    });
    assert_eq!(
        check(duplicate_anchors, json!({ "x": {} })),
        SchemaCheck::Unchecked
    );
}

#[test]
fn the_cost_of_scanning_a_value_includes_its_size() {
    let mut definitions = doubling_definitions();
    let start = json!({ "$ref": "#/$defs/a15" });
    let items: Vec<u32> = (0..20_000).collect();
    let names: Vec<String> = (0..10_000).map(|number| format!("n{number}")).collect();
    for (keyword, last_definition, value) in [
        ("uniqueItems", json!({ "uniqueItems": true }), json!(items)),
        ("const", json!({ "const": items }), json!(items)),
        ("enum", json!({ "enum": [items] }), json!(items)),
        ("required", json!({ "required": names }), json!({})),
    ] {
        definitions.insert("a30".to_owned(), last_definition);
        let schema = json!({ "properties": { "x": start }, "$defs": definitions });
        assert_eq!(
            check(schema, json!({ "x": value })),
            SchemaCheck::Unchecked,
            "{keyword}"
        );
    }
    let schema = json!({ "properties": { "x": { "uniqueItems": true } } });
    assert_eq!(check(schema, json!({ "x": items })), SchemaCheck::Valid);
}

#[test]
fn backtracking_patterns_run_in_linear_time() {
    let patterns: Vec<Value> = (0..400)
        .map(|number| json!({ "pattern": format!("^(([a-z])+.)+[A-Z]([a-z])+{number}$") }))
        .collect();
    let schema = json!({ "properties": { "s": { "type": "string", "allOf": patterns } } });
    let result = check(schema, json!({ "s": "a".repeat(2_000) }));
    assert!(matches!(result, SchemaCheck::Invalid(_)), "{result:?}");
    let many: Vec<Value> = (0..2_000).map(|_| json!({ "pattern": "(a+)+$" })).collect();
    let schema = json!({ "properties": { "s": { "allOf": many } } });
    assert_eq!(
        check(schema, json!({ "s": "aaaa!" })),
        SchemaCheck::Unchecked
    );
}

#[test]
fn schemas_that_fail_to_compile_are_unchecked_rather_than_valid() {
    for schema in [
        json!({ "properties": { "x": { "type": "string", "pattern": "^(?!bad).*$" } } }),
        json!({ "properties": { "x": { "pattern": "(((a{1,100}){1,100}){1,100}){1,100}" } } }),
        json!({ "properties": { "x": { "pattern": "(" } } }),
        json!({ "properties": { "x": { "type": "strnig" } } }),
        json!({ "properties": { "x": { "$ref": "#/$defs/missing" } } }),
        json!({ "properties": { "x": { "$ref": "https://example.com/schema.json" } } }),
        json!({ "properties": { "x": { "$ref": "file:///etc/passwd" } } }),
    ] {
        let result = check(schema.clone(), json!({ "x": "a" }));
        assert_eq!(result, SchemaCheck::Unchecked, "{schema}");
    }
}

#[test]
fn self_referencing_schemas_are_checked_or_left_to_the_server() {
    let node = json!({
        "type": "object", "properties": { "next": { "$ref": "#" }, "n": { "type": "number" } },
    });
    assert_eq!(
        check(node.clone(), json!({ "next": { "n": 1 } })),
        SchemaCheck::Valid
    );
    let result = check(node, json!({ "next": { "n": "x" } }));
    assert_eq!(
        result,
        SchemaCheck::Invalid("\"x\" is not of type \"number\" at /next/n".to_owned())
    );
    for cycle in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "properties": { "x": { "$ref": "#/properties/x" } } }),
        json!({ "$dynamicRef": "#a", "$dynamicAnchor": "a" }),
    ] {
        let result = check(cycle.clone(), json!({ "x": 1 }));
        assert_eq!(result, SchemaCheck::Unchecked, "{cycle}");
    }
}

#[test]
fn ordinary_schemas_with_references_are_checked() {
    let schema = json!({
        "$id": "https://example.com/tool",
        "type": "object",
        "properties": {
            "tree": { "$ref": "#/$defs/Node%3Cint%3E" },
            "other": { "$ref": "https://example.com/tool#/$defs/Node%3Cint%3E" },
        },
        "$defs": { "Node<int>": {
            "type": "object",
            "properties": {
                "value": { "type": "integer" },
                "children": { "type": "array", "items": { "$ref": "#/$defs/Node%3Cint%3E" } },
            },
            "required": ["value"],
        } },
    });
    let leaf = json!({ "value": 1 });
    let tree = json!({ "value": 1, "children": vec![json!({ "value": 2, "children": vec![leaf; 50] }); 50] });
    assert_eq!(
        check(schema.clone(), json!({ "tree": tree })),
        SchemaCheck::Valid
    );
    for property in ["tree", "other"] {
        let result = check(schema.clone(), json!({ property: { "children": [] } }));
        assert!(
            matches!(result, SchemaCheck::Invalid(_)),
            "{property}: {result:?}"
        );
    }
}

#[test]
fn schema_errors_truncate_long_values() {
    let schema = json!({ "properties": { "x": { "type": "number" } } });
    let SchemaCheck::Invalid(error) = check(schema, json!({ "x": "long ".repeat(100_000) })) else {
        panic!("the schema must reject a string");
    };
    assert!(
        error.chars().count() < 1_000,
        "{} characters",
        error.chars().count()
    );
}

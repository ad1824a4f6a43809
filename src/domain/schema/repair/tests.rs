//! Tests of repaired arguments, including hostile ones.

use crate::domain::schema::{ArgumentCheck, SchemaCheck};
use crate::fixtures::{object, tool_with};
use serde_json::{Value, json};

fn check(schema: Value, arguments: Value) -> SchemaCheck {
    let check = ArgumentCheck {
        tool: tool_with("t", schema).into(),
        arguments: object(arguments),
        may_repair: true,
    };
    check.run()
}

fn repaired(arguments: Value, changes: &[&str]) -> (SchemaCheck, Vec<String>) {
    let arguments = object(arguments);
    let valid = SchemaCheck::Repaired {
        arguments,
        changes: Vec::new(),
    };
    (
        valid,
        changes.iter().map(|&change| change.to_owned()).collect(),
    )
}

/// The result of a check, and its changes as sentences.
fn check_and_repair(schema: Value, arguments: Value) -> (SchemaCheck, Vec<String>) {
    match check(schema, arguments) {
        SchemaCheck::Repaired { arguments, changes } => {
            let sentences = changes.iter().map(ToString::to_string).collect();
            let changes = Vec::new();
            (SchemaCheck::Repaired { arguments, changes }, sentences)
        }
        check => (check, Vec::new()),
    }
}

fn as_string(key: &str) -> String {
    format!("The model wrote \"{key}\" as a string; the JSON in it is used.")
}

/// Checks that `written` becomes `used` as the required argument `v` with this schema.
fn assert_repaired(schema: &Value, written: &Value, used: &Value, key: &str) {
    let schema = json!({
        "properties": { "v": schema },
        "required": ["v"],
        "$defs": { "n": { "type": "integer" } },
    });
    assert_eq!(
        check_and_repair(schema.clone(), json!({ "v": written, "w": "5" })),
        repaired(json!({ "v": used, "w": "5" }), &[&as_string(key)]),
        "{schema}"
    );
}

#[test]
fn json_in_a_string_is_used_where_the_schema_allows_no_string() {
    let list = json!({ "type": "array", "items": { "type": "integer" } });
    let point = json!({ "type": "object", "properties": { "x": { "type": "number" } } });
    for (schema, written, used, key) in [
        (json!({ "type": "integer" }), json!("5"), json!(5), "v"),
        (
            json!({ "type": "boolean" }),
            json!("true"),
            json!(true),
            "v",
        ),
        (
            json!({ "type": "boolean" }),
            json!("False"),
            json!(false),
            "v",
        ),
        (list.clone(), json!("[1, 2]"), json!([1, 2]), "v"),
        (list.clone(), json!(" [1, 2,] "), json!([1, 2]), "v"),
        (list.clone(), json!([1, "2"]), json!([1, 2]), "v/1"),
        (
            point.clone(),
            json!("{\"x\": 1.5}"),
            json!({ "x": 1.5 }),
            "v",
        ),
        (
            point.clone(),
            json!({ "x": "1.5" }),
            json!({ "x": 1.5 }),
            "v/x",
        ),
        (
            json!({ "type": ["array", "null"] }),
            json!("[\"a\"]"),
            json!(["a"]),
            "v",
        ),
        (
            json!({ "type": ["array", "null"] }),
            json!("null"),
            json!(null),
            "v",
        ),
    ] {
        assert_repaired(&schema, &written, &used, key);
    }
}

#[test]
fn json_in_a_string_is_used_where_branches_or_references_allow_no_string() {
    let list = json!({ "type": "array", "items": { "type": "integer" } });
    let point = json!({ "type": "object", "properties": { "x": { "type": "number" } } });
    for (schema, written, used, key) in [
        (
            json!({ "anyOf": [list, { "type": "null" }] }),
            json!("[1]"),
            json!([1]),
            "v",
        ),
        (
            json!({ "oneOf": [point, { "type": "null" }] }),
            json!("{}"),
            json!({}),
            "v",
        ),
        (
            json!({ "anyOf": [{ "type": "null" }, { "type": "array", "items": { "$ref": "#/$defs/n" } }] }),
            json!(["1"]),
            json!([1]),
            "v/0",
        ),
        (
            json!({ "allOf": [{ "type": "integer" }, { "minimum": 3 }] }),
            json!("5"),
            json!(5),
            "v",
        ),
        (json!({ "enum": [1, 2] }), json!("2"), json!(2), "v"),
        (
            json!({ "enum": ["a", "b"] }),
            json!("\"a\""),
            json!("a"),
            "v",
        ),
        (json!({ "$ref": "#/$defs/n" }), json!("7"), json!(7), "v"),
        (
            json!({ "additionalProperties": { "type": "integer" } }),
            json!({ "a/b": "7" }),
            json!({ "a/b": 7 }),
            "v/a/b",
        ),
    ] {
        assert_repaired(&schema, &written, &used, key);
    }
}

#[test]
fn json_in_a_string_in_a_string_is_used() {
    let point = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let schema = json!({ "properties": { "v": { "type": "array", "items": point } } });
    let written = json!({ "v": json!([json!({ "x": "1" }).to_string()]).to_string() });
    let changes = ["v", "v/0", "v/0/x"].map(as_string);
    assert_eq!(
        check_and_repair(schema, written),
        repaired(
            json!({ "v": [{ "x": 1 }] }),
            &changes.each_ref().map(String::as_str)
        )
    );
}

#[test]
fn strings_that_the_schema_allows_stay_strings() {
    for (schema, value) in [
        (json!({ "type": "string" }), json!("[1, 2]")),
        (json!({ "type": ["string", "integer"] }), json!("5")),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
            json!("null"),
        ),
        (json!({}), json!("5")),
        (json!({ "type": "array" }), json!(["5", "null", ""])),
        (json!({ "type": "string" }), json!("")),
        (json!({ "type": ["string", "null"] }), json!("null")),
    ] {
        let schema = json!({ "properties": { "v": schema } });
        assert_eq!(check(schema, json!({ "v": value })), SchemaCheck::Valid);
    }
}

#[test]
fn arguments_that_do_not_fit_after_a_repair_are_reported_as_written() {
    let list = json!({ "type": "array", "items": { "type": "integer" } });
    for (schema, value, problem) in [
        (
            json!({ "type": "integer" }),
            json!("five"),
            "\"five\" is not of type \"integer\" at /v",
        ),
        (
            json!({ "type": "integer" }),
            json!("1.5"),
            "\"1.5\" is not of type \"integer\" at /v",
        ),
        (
            list.clone(),
            json!("[1, true]"),
            "\"[1, true]\" is not of type \"array\" at /v",
        ),
        (
            list.clone(),
            json!([1, null]),
            "null is not of type \"integer\" at /v/1",
        ),
        (
            json!({ "minLength": 3 }),
            json!("12"),
            "\"12\" is shorter than 3 characters at /v",
        ),
        (
            json!({ "type": "string" }),
            json!(null),
            "null is not of type \"string\" at /v",
        ),
        (
            json!({ "enum": ["a", "b"] }),
            json!(""),
            "\"\" is not one of \"a\" or \"b\" at /v",
        ),
    ] {
        let schema = json!({ "properties": { "v": schema }, "required": ["v"] });
        let expected = SchemaCheck::Invalid(problem.to_owned());
        assert_eq!(check(schema, json!({ "v": value })), expected);
    }
}

#[test]
fn a_blank_that_an_optional_value_does_not_accept_is_left_out() {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    for (schema, value) in [
        (json!({ "type": "string" }), json!(null)),
        (json!({ "type": "integer" }), json!(null)),
        (json!({ "type": "integer" }), json!("")),
        (json!({ "type": "integer" }), json!("null")),
        (json!({ "type": "array" }), json!("")),
        (json!({ "enum": ["a", "b"] }), json!("")),
        (json!({ "enum": ["a", "b"] }), json!("null")),
        (json!({ "type": "string", "minLength": 1 }), json!("")),
        (text("^[0-9]+$"), json!("null")),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "array" }] }),
            json!(null),
        ),
    ] {
        let schema = json!({ "properties": { "v": schema, "w": { "type": "string" } } });
        let change = format!(
            "The model wrote {value} for \"v\", which does not accept it; \"v\" is left out."
        );
        assert_eq!(
            check_and_repair(schema.clone(), json!({ "v": value, "w": "" })),
            repaired(json!({ "w": "" }), &[&change]),
            "{schema}"
        );
    }
    let point = json!({ "properties": { "x": { "type": "number" } } });
    let schema = json!({ "properties": { "v": { "type": "array", "items": point } } });
    assert_eq!(
        check_and_repair(schema, json!({ "v": [{ "x": null, "y": null }] })),
        repaired(
            json!({ "v": [{ "y": null }] }),
            &[
                "The model wrote null for \"v/0/x\", which does not accept it; \"v/0/x\" is left out."
            ]
        )
    );
}

#[test]
fn errors_of_alternatives_name_the_expected_types() {
    let array_or_null = json!({ "anyOf": [{ "type": "array" }, { "type": "null" }] });
    let nested = json!({ "oneOf": [array_or_null, { "type": ["integer", "null"] }] });
    let object = json!({ "anyOf": [{ "type": "null" }, { "type": "object", "required": ["b"] }] });
    for (schema, value, problem) in [
        (
            array_or_null,
            json!("x"),
            "expected \"array\" or \"null\", not \"x\" at /v",
        ),
        (
            nested,
            json!("x"),
            "expected \"array\" or \"null\" or \"integer\", not \"x\" at /v",
        ),
        (object, json!({}), "\"b\" is a required property at /v"),
    ] {
        let schema = json!({ "properties": { "v": schema } });
        let expected = SchemaCheck::Invalid(problem.to_owned());
        assert_eq!(check(schema, json!({ "v": value })), expected);
    }
}

#[test]
fn repairs_of_hostile_arguments_end_soon() {
    // Each level is JSON in a string again.
    let mut deep = json!({});
    for _ in 0..12 {
        deep = json!({ "next": deep.to_string() });
    }
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    assert!(matches!(check(node, deep), SchemaCheck::Invalid(_)));
    let branches: Vec<Value> = (0..200)
        .map(|n| json!({ "type": "integer", "minimum": n }))
        .collect();
    let list = json!({ "type": "array", "items": { "anyOf": branches } });
    let schema = json!({ "properties": { "v": list } });
    let values = vec!["-1"; 100];
    assert!(matches!(
        check(schema, json!({ "v": values })),
        SchemaCheck::Invalid(_)
    ));
}

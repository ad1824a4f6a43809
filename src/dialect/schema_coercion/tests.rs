//! Tests the conversion of arguments to the types in a schema.

use super::*;
use crate::fixtures::tool_with;
use serde_json::json;
use std::time::{Duration, Instant};

fn coerce_with_input_schema(schema: Value, text: &str) -> CoercedValue {
    let tool = tool_with("f", schema);
    ArgumentSchema::for_argument(&tool, "v").coerce(text)
}

fn coerce(schema: Value, text: &str) -> Value {
    coerce_with_input_schema(json!({"properties": {"v": schema}}), text).value
}

#[test]
fn string_arguments_are_never_converted() {
    for text in [
        "5",
        "true",
        "null",
        "{\"a\": 1}",
        "[1]",
        "\"서울\"",
        " 서울 \n",
        "007",
        "",
    ] {
        assert_eq!(coerce(json!({"type": "string"}), text), json!(text));
    }
}

#[test]
fn only_json_numbers_are_converted() {
    for kind in ["integer", "number"] {
        let number = |text| coerce(json!({"type": kind}), text);
        assert_eq!(number(" 3\n"), json!(3));
        assert_eq!(number("-12"), json!(-12));
        assert_eq!(number("1.0").to_string(), "1.0");
        assert_eq!(number("2.5e3"), json!(2500.0));
        assert_eq!(number("18446744073709551615"), json!(u64::MAX));
        assert!(number("123456789012345678901234567890").is_f64());
        for text in [
            "007", "+5", "1,000", "five", "다섯", "5 km", "\"5\"", "true", "1e999", "-", "",
        ] {
            assert_eq!(number(text), json!(text));
        }
    }
}

#[test]
fn booleans_and_null_accept_python_spellings() {
    let boolean = json!({"type": "boolean"});
    assert_eq!(coerce(boolean.clone(), "true\n"), json!(true));
    assert_eq!(coerce(boolean.clone(), "False"), json!(false));
    assert_eq!(coerce(boolean.clone(), "yes"), json!("yes"));
    assert_eq!(coerce(boolean, "1"), json!("1"));
    for text in ["null", "None"] {
        assert_eq!(coerce(json!({"type": "null"}), text), json!(null));
        assert_eq!(
            coerce(json!({"type": ["integer", "null"]}), text),
            json!(null)
        );
        assert_eq!(
            coerce(json!({"type": ["string", "null"]}), text),
            json!(null)
        );
        assert_eq!(coerce(json!({"type": "integer"}), text), json!(text));
    }
}

#[test]
fn objects_and_arrays_are_parsed_leniently_and_other_text_is_kept() {
    let object = || json!({"properties": {"v": {"type": "object"}}});
    assert_eq!(
        coerce_with_input_schema(object(), "\n{\"도시\": \"서울\"}\n"),
        CoercedValue::unrepaired(json!({"도시": "서울"}))
    );
    assert_eq!(
        coerce_with_input_schema(object(), "{'a': True,}"),
        CoercedValue {
            value: json!({"a": true}),
            was_repaired: true
        }
    );
    assert_eq!(
        coerce_with_input_schema(object(), r#""{\"a\": 1}""#),
        CoercedValue {
            value: json!({"a": 1}),
            was_repaired: true
        }
    );
    assert_eq!(
        coerce(json!({"type": "array"}), "[1, \"二\"]"),
        json!([1, "二"])
    );
    for text in ["{\"a\"", "[1]", "a, b", "\"a\""] {
        assert_eq!(coerce(json!({"type": "object"}), text), json!(text));
    }
}

#[test]
fn values_that_may_be_strings_are_converted_only_without_loss() {
    for schema in [
        json!({"type": ["string", "number", "array"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"items": {}}]}),
        json!({"oneOf": [{"type": "string"}, {"oneOf": [{"type": "number"}, {"type": "array"}]}]}),
    ] {
        for (text, value) in [
            ("5", json!(5)),
            ("1.0", json!(1.0)),
            ("1.10", json!("1.10")),
            ("1e5", json!("1e5")),
            ("[\"a\"]", json!(["a"])),
            ("['a']", json!("['a']")),
            ("{\"a\": 1}", json!("{\"a\": 1}")),
            ("true", json!("true")),
            ("null", json!("null")),
            ("\"a\"", json!("\"a\"")),
            ("서울", json!("서울")),
        ] {
            assert_eq!(coerce(schema.clone(), text), value, "{schema} {text}");
        }
    }
}

#[test]
fn untyped_text_is_a_string_unless_it_is_clearly_json() {
    for root in [
        json!({}),
        json!({"additionalProperties": true}),
        json!({"properties": {"v": {"description": "anything"}}}),
        json!({"properties": {"v": true}}),
    ] {
        for (text, value) in [
            ("5", json!(5)),
            ("-0.5", json!(-0.5)),
            ("0.10", json!("0.10")),
            ("true", json!(true)),
            ("True", json!("True")),
            ("null", json!(null)),
            ("None", json!("None")),
            ("{\"a\": [1]}", json!({"a": [1]})),
            ("{a: 1}", json!("{a: 1}")),
            ("\"a\"", json!("\"a\"")),
            ("東京 ", json!("東京 ")),
            ("99999999999999999999999", json!("99999999999999999999999")),
        ] {
            assert_eq!(
                coerce_with_input_schema(root.clone(), text).value,
                value,
                "{root} {text}"
            );
        }
    }
}

#[test]
fn enum_value_matches_despite_surrounding_whitespace_and_quotes() {
    let schema = json!({"enum": ["celsius", "섭씨", 1, null, "2"]});
    for (text, value) in [
        ("celsius", json!("celsius")),
        ("\n 섭씨 \n", json!("섭씨")),
        ("\"celsius\"", json!("celsius")),
        ("1", json!(1)),
        ("2", json!("2")),
        ("null", json!(null)),
        ("kelvin", json!("kelvin")),
    ] {
        assert_eq!(coerce(schema.clone(), text), value, "{text}");
    }
    assert_eq!(coerce(json!({"const": 7}), "7"), json!(7));
    assert_eq!(coerce(json!({"const": "7"}), " 7"), json!("7"));
}

#[test]
fn references_are_followed_and_cycles_terminate() {
    let root = |schema: Value| {
        json!({
            "properties": {"v": schema},
            "$defs": {
                "n": {"type": "integer"},
                "m": {"$ref": "#/$defs/n"},
                "a/b": {"type": "boolean"},
                "cycle": {"$ref": "#/$defs/cycle"},
                "tree": {"anyOf": [{"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/tree"}]},
            },
        })
    };
    let coerce_with_defs = |schema, text| coerce_with_input_schema(root(schema), text).value;
    assert_eq!(
        coerce_with_defs(json!({"$ref": "#/$defs/m"}), "5"),
        json!(5)
    );
    assert_eq!(
        coerce_with_defs(json!({"$ref": "#/$defs/a~1b"}), "TRUE"),
        json!(true)
    );
    assert_eq!(
        coerce_with_defs(json!({"allOf": [{"$ref": "#/$defs/n"}]}), "05"),
        json!("05")
    );
    for name in ["cycle", "tree", "gone"] {
        assert_eq!(
            coerce_with_defs(json!({"$ref": format!("#/$defs/{name}")}), "5"),
            json!(5)
        );
    }
    assert_eq!(
        coerce_with_input_schema(
            json!({"$ref": "#/$defs/all", "$defs": {"all": {"properties": {"v": {"type": "string"}}}}}),
            "5"
        )
        .value,
        json!("5")
    );
    assert_eq!(
        coerce_with_input_schema(json!({"additionalProperties": {"type": "string"}}), "5").value,
        json!("5")
    );
}

#[test]
fn a_contradictory_schema_does_not_prevent_conversion() {
    assert_eq!(
        coerce(json!({"type": "integer", "enum": ["a"]}), "5"),
        json!(5)
    );
    assert_eq!(coerce(json!({"type": "int"}), "5"), json!(5));
    assert_eq!(coerce(json!({"type": 3, "enum": []}), "5"), json!(5));
    assert_eq!(
        coerce(json!({"type": "integer", "nullable": true}), "null"),
        json!(null)
    );
}

#[test]
fn array_type_and_element_schema_are_found() {
    let schema = json!({"properties": {
        "list": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "string"}}]},
        "one": {"type": "string"},
        "any": {},
    }});
    let tool = tool_with("f", schema);
    let property = |key| ArgumentSchema::for_argument(&tool, key);
    assert!(property("list").is_array());
    assert!(!property("one").is_array());
    assert!(!property("any").is_array());
    assert!(!property("gone").is_array());
    assert_eq!(property("list").items().coerce("5").value, json!("5"));
}

#[test]
fn self_referencing_schema_with_many_members_is_abandoned_quickly() {
    let many = |first: Value, rest: Value| {
        let mut members = vec![first];
        members.resize(50_000, rest);
        Value::Array(members)
    };
    let cycle = json!({"$ref": "#/$defs/a"});
    let schemas = [
        ("allOf", json!({"allOf": many(cycle.clone(), json!(true))})),
        ("anyOf", json!({"anyOf": many(cycle.clone(), json!({}))})),
        (
            "enum",
            json!({"allOf": [cycle], "enum": many(json!("x"), json!("y"))}),
        ),
        (
            "type",
            json!({"allOf": [cycle], "type": many(json!("string"), json!("null"))}),
        ),
    ];
    for (keyword, schema) in schemas {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": schema},
            "properties": {"v": {"$ref": "#/$defs/a"}}});
        let tool = tool_with("f", schema);
        let start = Instant::now();
        for number in 0..100 {
            let key = format!("k{number}");
            assert_eq!(
                ArgumentSchema::for_argument(&tool, &key).coerce("1").value,
                json!(1)
            );
            ArgumentSchema::for_argument(&tool, "v").coerce("1");
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{keyword}");
    }
}

#[test]
fn the_last_value_of_a_long_enum_is_accepted() {
    let values: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    assert_eq!(coerce(json!({"enum": values}), " 999\n"), json!("999"));
}

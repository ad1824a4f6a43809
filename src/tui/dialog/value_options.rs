//! The texts between which a value of a call's arguments can be switched: a boolean, or one of the
//! values that the tool's schema lists.

use crate::domain::Arguments;
use serde_json::{Map, Value};

/// Maximum number of schemas that are searched for one value.
const SCHEMAS_MAX: usize = 64;

/// The options of the value at this JSON pointer, as the editor shows them; empty if it is free.
pub fn value_options(
    schema: &Map<String, Value>,
    arguments: &Arguments,
    pointer: &str,
) -> Vec<String> {
    let Some(value) = value_at(arguments, pointer) else {
        return Vec::new();
    };
    let listed = listed_values(schema, pointer);
    let options = listed
        .into_iter()
        .filter_map(|option| match (value, option) {
            // A string is edited as it is, and stays a string.
            (Value::String(_), Value::String(text)) => Some(text.clone()),
            (Value::String(_), _) => None,
            (_, option) => Some(option.to_string()),
        });
    match (options.collect::<Vec<_>>(), value) {
        (options, _) if !options.is_empty() => options,
        (_, Value::Bool(_)) => ["true", "false"].map(str::to_owned).into(),
        _ => Vec::new(),
    }
}

/// The option after `text`, or the first one if the field is empty; `None` if the text is none of the
/// options, because the user is typing something else.
pub fn next_option<'a>(options: &'a [String], text: &str) -> Option<&'a str> {
    let next = match text.is_empty() {
        true => 0,
        false => options.iter().position(|option| option == text)? + 1,
    };
    let index = next.checked_rem(options.len())?;
    options.get(index).map(String::as_str)
}

fn value_at<'a>(arguments: &'a Arguments, pointer: &str) -> Option<&'a Value> {
    let mut steps = steps(pointer);
    let first = arguments.get(&steps.next()?)?;
    steps.try_fold(first, |value, step| match value {
        Value::Object(members) => members.get(&step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The values that the schema lists for the value at this pointer.
fn listed_values<'a>(root: &'a Map<String, Value>, pointer: &str) -> Vec<&'a Value> {
    let mut schemas = alternatives(root, root);
    for step in steps(pointer) {
        let members = schemas.into_iter().filter_map(|schema| {
            let members = schema.get("properties");
            let member = members.and_then(|members| members.get(&step));
            member.or_else(|| schema.get("items"))?.as_object()
        });
        let members: Vec<_> = members.take(SCHEMAS_MAX).collect();
        let next = members.iter().flat_map(|member| alternatives(root, member));
        schemas = next.take(SCHEMAS_MAX).collect();
    }
    let lists = schemas
        .iter()
        .filter_map(|schema| schema.get("enum")?.as_array());
    lists.flatten().collect()
}

/// The schema itself, and those that it refers to or offers as alternatives.
fn alternatives<'a>(
    root: &'a Map<String, Value>,
    schema: &'a Map<String, Value>,
) -> Vec<&'a Map<String, Value>> {
    let mut found = vec![schema];
    let mut at = 0;
    while let Some(schema) = found.get(at).filter(|_| at < SCHEMAS_MAX) {
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| resolve(root, target.strip_prefix('#')?));
        let offered = ["anyOf", "oneOf", "allOf"].iter();
        let offered = offered
            .filter_map(|key| schema.get(*key)?.as_array())
            .flatten();
        let next: Vec<_> = target.into_iter().chain(offered).collect();
        found.extend(next.into_iter().filter_map(Value::as_object));
        at += 1;
    }
    found.truncate(SCHEMAS_MAX);
    found
}

fn resolve<'a>(root: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let mut steps = steps(pointer);
    let first = root.get(&steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(&step))
}

/// The keys and indices of a JSON pointer (RFC 6901).
fn steps(pointer: &str) -> impl Iterator<Item = String> {
    let steps = pointer.split('/').skip(1);
    steps.map(|step| step.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn booleans_and_listed_values_have_options() {
        let schema = json!({ "properties": {
            "mode": { "enum": ["fast", "slow", 3] },
            "level": { "enum": [1, 2] },
            "kind": { "anyOf": [{ "$ref": "#/$defs/a~1kind" }, { "type": "null" }] },
            "loop": { "$ref": "#/properties/loop" },
            "all": { "items": { "properties": { "a/b": { "enum": ["x", "y"] } } } },
        }, "$defs": { "a/kind": { "enum": ["new", "old"] } } });
        let arguments = json!({
            "mode": "fast", "level": 1, "dry": false, "text": "x", "all": [{ "a/b": "x" }],
            "kind": "new", "loop": "x",
        });
        let (schema, arguments) = (schema.as_object(), arguments.as_object());
        let schema = schema.expect("an object");
        let arguments = &arguments.expect("an object").clone().into();
        for (pointer, expected) in [
            ("/mode", ["fast", "slow"].as_slice()),
            ("/level", &["1", "2"]),
            ("/dry", &["true", "false"]),
            ("/all/0/a~1b", &["x", "y"]),
            ("/kind", &["new", "old"]),
            ("/loop", &[]),
            ("/text", &[]),
            ("/gone", &[]),
        ] {
            assert_eq!(
                value_options(schema, arguments, pointer),
                expected,
                "{pointer}"
            );
        }
    }

    #[test]
    fn options_follow_each_other_in_a_circle() {
        let options = ["fast", "slow"].map(str::to_owned);
        assert_eq!(next_option(&options, "fast"), Some("slow"));
        assert_eq!(next_option(&options, "slow"), Some("fast"));
        assert_eq!(next_option(&options, ""), Some("fast"));
        assert_eq!(next_option(&options, "something"), None);
        assert_eq!(next_option(&[], ""), None);
    }
}

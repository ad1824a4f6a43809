//! Tool arguments on the command line: `KEY=TEXT`, converted to the type in the tool's input
//! schema, and `KEY:=JSON`, used verbatim. Nothing is guessed: anything else is an error.

use crate::dialect::schema_coercion::ArgumentSchema;
use crate::domain::{Arguments, Tool};
use crate::text::suggest::nearest;
use serde_json::{Map, Value};

/// Parses all arguments of one call. O(total length).
///
/// # Errors
/// A sentence that names the first invalid argument.
pub fn parse_arguments(tool: &Tool, pairs: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments::new();
    for pair in pairs {
        let (key, value) = parse_pair(pair)?;
        let property = ArgumentSchema::for_argument(tool, key);
        let value = match value {
            // JSON is explicit, so the schema need not list the argument.
            PairValue::Json(value) => value,
            PairValue::Text(text) => {
                check_known_argument(tool, &property, key)?;
                typed_value(&property, key, text)?
            }
        };
        match arguments.get_mut(key) {
            None => {
                arguments.insert(key.to_owned(), value);
            }
            Some(Value::Array(items)) if property.is_array() => match value {
                Value::Array(new_items) => items.extend(new_items),
                item => items.push(item),
            },
            Some(_) => return Err(format!("`{key}` is given twice, but is not a list.")),
        }
    }
    Ok(arguments.with_digits_of(&pairs.join("\n")))
}

/// Checks the syntax of all pairs before a server is started.
///
/// # Errors
/// A sentence about the first argument that is not a valid pair.
pub fn check_pairs(pairs: &[String]) -> Result<(), String> {
    pairs
        .iter()
        .try_for_each(|pair| parse_pair(pair).map(|_| ()))
}

/// The value as written: `Text` after `=`, `Json` after `:=`.
enum PairValue<'a> {
    Text(&'a str),
    Json(Value),
}

fn parse_pair(text: &str) -> Result<(&str, PairValue<'_>), String> {
    let not_a_pair = || {
        let quoted: String = text.chars().take(QUOTED_CHARS_MAX).collect();
        format!("`{quoted}` is not an argument: write KEY=VALUE, KEY:=JSON or one JSON object.")
    };
    let (key, value) = text.split_once('=').ok_or_else(not_a_pair)?;
    let (key, value) = match key.strip_suffix(':') {
        Some(key) => {
            let json = serde_json::from_str(value)
                .map_err(|error| format!("The JSON after `{key}:=` is not valid: {error}."))?;
            (key, PairValue::Json(json))
        }
        None => (key, PairValue::Text(value)),
    };
    match key.is_empty() {
        true => Err(not_a_pair()),
        false => Ok((key, value)),
    }
}

const QUOTED_CHARS_MAX: usize = 60;

/// Rejects an unknown argument: if the schema lists any arguments, any other name is probably a
/// typo.
fn check_known_argument(
    tool: &Tool,
    property: &ArgumentSchema<'_>,
    key: &str,
) -> Result<(), String> {
    let names = argument_names(tool);
    if property.is_listed || names.is_empty() {
        return Ok(());
    }
    let hint = match nearest(key, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it takes {}.", quote_names(&names)),
    };
    let name = &tool.name;
    Err(format!("`{name}` has no argument `{key}`; {hint}"))
}

fn quote_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn argument_names(tool: &Tool) -> Vec<&str> {
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    let keys = properties.map(Map::keys).into_iter().flatten();
    keys.map(String::as_str).collect()
}

/// Converts `text` to the type of the argument `key`. For a list, text that is not a JSON list
/// becomes its only item.
fn typed_value(property: &ArgumentSchema<'_>, key: &str, text: &str) -> Result<Value, String> {
    if property.is_array() && !text.trim_start().starts_with('[') {
        return Ok(Value::Array(vec![typed_value(
            &property.items(),
            key,
            text,
        )?]));
    }
    let coerced = property.coerce(text);
    match coerced.was_repaired {
        false => Ok(coerced.value),
        true => Err(format!("The JSON after `{key}=` is not valid.")),
    }
}

/// The arguments of a tool in the order of its schema, optional ones in brackets.
pub fn usage_text(tool: &Tool) -> String {
    let required: Vec<&str> = tool.required_arguments().collect();
    let arguments: Vec<String> = argument_names(tool)
        .into_iter()
        .map(|name| {
            let property = ArgumentSchema::for_argument(tool, name);
            let placeholder = property.placeholder();
            match required.contains(&name) {
                true => format!("{name}={placeholder}"),
                false => format!("[{name}={placeholder}]"),
            }
        })
        .collect();
    arguments.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool() -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": { "type": "integer" }, "name": { "type": "string" },
                "on": { "type": "boolean" }, "tags": { "type": "array", "items": { "type": "string" } },
                "numbers": { "type": "array", "items": { "type": "number" } },
                "deep": { "type": "object" }, "any": {}, "색": { "enum": ["빨강", "파랑"] },
            },
            "required": ["name", "count"],
        });
        crate::fixtures::tool_with("t", schema)
    }

    fn parse(pairs: &[&str]) -> Result<Value, String> {
        let pairs: Vec<String> = pairs.iter().map(|&text| text.to_owned()).collect();
        check_pairs(&pairs)?;
        parse_arguments(&tool(), &pairs).map(Value::from)
    }

    #[test]
    fn command_line_values_get_the_type_of_their_tool_argument() {
        for (pairs, expected) in [
            (
                &["count=3", "name=3", "on=true"][..],
                json!({"count": 3, "name": "3", "on": true}),
            ),
            (&["tags=a", "tags=b=c"], json!({"tags": ["a", "b=c"]})),
            (
                &["tags=[\"a\", \"b\"]", "tags=c"],
                json!({"tags": ["a", "b", "c"]}),
            ),
            (&["numbers=1", "numbers=2.5"], json!({"numbers": [1, 2.5]})),
            (
                &["deep={\"a\": [1]}", "any=x"],
                json!({"deep": {"a": [1]}, "any": "x"}),
            ),
            (&["name=", "색=파랑"], json!({"name": "", "색": "파랑"})),
            (
                &["name:=null", "other:=[1]"],
                json!({"name": null, "other": [1]}),
            ),
            (&["name=안녕 = 세계"], json!({"name": "안녕 = 세계"})),
        ] {
            assert_eq!(parse(pairs), Ok(expected), "{pairs:?}");
        }
    }

    #[test]
    fn invalid_arguments_are_explained() {
        for (pairs, part) in [
            (&["count"][..], "`count` is not an argument"),
            (&["=3"], "is not an argument"),
            (&[":=3"], "is not an argument"),
            (&["cuont=3"], "did you mean `count`?"),
            (&["zebra=3"], "it takes `count`, `name`"),
            (&["name=a", "name=b"], "`name` is given twice"),
            (&["name:={"], "The JSON after `name:=` is not valid"),
            (&["deep={\"a\": 1,}"], "The JSON after `deep=` is not valid"),
        ] {
            let why = parse(pairs).expect_err("invalid arguments");
            assert!(why.contains(part), "{pairs:?}: {why}");
        }
    }

    #[test]
    fn values_of_the_wrong_type_are_left_to_schema_validation() {
        let arguments = parse(&["count=many", "name=x"]).expect("parsed");
        assert_eq!(arguments, json!({"count": "many", "name": "x"}));
        let check = crate::domain::ArgumentCheck {
            tool: std::sync::Arc::new(tool()),
            arguments: arguments.as_object().expect("an object").clone().into(),
            may_repair: false,
        };
        assert!(matches!(
            check.run(),
            crate::domain::SchemaCheck::Invalid(_)
        ));
    }

    #[test]
    fn the_usage_of_a_tool_lists_its_arguments_with_their_types() {
        assert_eq!(
            usage_text(&tool()),
            "count=NUMBER name=TEXT [on=true|false] [tags=LIST] [numbers=LIST] [deep=OBJECT] \
             [any=VALUE] [색=빨강|파랑]"
        );
    }
}

//! Arguments that a modern server also requires as HTTP headers: those with `x-mcp-header` in the
//! tool's schema (SEP-2243). A tool with an invalid annotation is omitted.

use crate::mcp::session::decode::ListedTools;
use crate::sync::lock_ignoring_poison;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

const KEY: &str = "x-mcp-header";
/// Maximum number of lines about omitted tools; further ones are only counted.
const OMITTED_LINES_MAX: usize = 50;
/// Maximum depth to which schemas are searched.
const DEPTH_MAX: usize = 64;
/// Maximum number of headers per tool; a call may send them all, and servers limit the size of
/// headers.
const PARAMS_MAX: usize = 64;
/// Maximum total length of the names on the path to one argument, and maximum length of a header
/// name.
const NAMES_BYTES_MAX: usize = 4_096;

/// The path to an argument, and its header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ParamHeader {
    path: Vec<String>,
    header: String,
}

/// Headers by tool. `None` until a modern message is sent over HTTP, because legacy servers may use
/// `x-mcp-header` for anything.
#[derive(Debug, Default)]
pub struct ParamHeaders(Mutex<Option<HashMap<String, Vec<ParamHeader>>>>);

impl ParamHeaders {
    pub fn enable(&self) {
        lock_ignoring_poison(&self.0).get_or_insert_default();
    }

    /// Registers the headers of a tool list, and removes tools with invalid annotations from it.
    pub fn register_tools(&self, listed: &mut ListedTools) {
        let mut headers_by_tool = lock_ignoring_poison(&self.0);
        let Some(headers_by_tool) = &mut *headers_by_tool else {
            return;
        };
        headers_by_tool.clear();
        let mut omissions = Vec::new();
        listed
            .tools
            .retain(|tool| match header_params(&tool.input_schema) {
                Ok(params) => {
                    headers_by_tool.insert(tool.name.clone(), params);
                    true
                }
                Err(why) => {
                    omissions.push(format!("tool `{}`: {why}", tool.name));
                    false
                }
            });
        let unlisted_count = omissions.len().saturating_sub(OMITTED_LINES_MAX);
        let lines = omissions.into_iter().take(OMITTED_LINES_MAX);
        listed.omitted.extend(lines);
        if unlisted_count > 0 {
            let plural = if unlisted_count == 1 { "" } else { "s" };
            listed.omitted.push(format!(
                "and {unlisted_count} more tool{plural} with an invalid `{KEY}`"
            ));
        }
    }

    /// The header names and values of one `tools/call` message.
    pub fn for_call(&self, message: &Value) -> Vec<(String, String)> {
        let name = message.pointer("/params/name").and_then(Value::as_str);
        let headers_by_tool = lock_ignoring_poison(&self.0);
        let params = name.and_then(|name| headers_by_tool.as_ref()?.get(name));
        let arguments = message.pointer("/params/arguments");
        let (Some(params), Some(arguments)) = (params, arguments) else {
            return Vec::new();
        };
        params
            .iter()
            .filter_map(|param| {
                let mut path = param.path.iter();
                let value = path.try_fold(arguments, |value, key| value.get(key))?;
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Bool(_) | Value::Number(_) => value.to_string(),
                    _ => return None,
                };
                Some((format!("mcp-param-{}", param.header), text))
            })
            .collect()
    }
}

fn header_params(schema: &Map<String, Value>) -> Result<Vec<ParamHeader>, String> {
    let mut headers = Vec::new();
    collect_params(schema, &mut Vec::new(), 0, &mut headers)?;
    // An annotation outside a named argument cannot be honored.
    if count_header_keys(schema, 0) != headers.len() {
        return Err(format!("`{KEY}` is used outside a named argument"));
    }
    let mut seen = HashSet::new();
    match headers
        .iter()
        .find(|param| !seen.insert(param.header.to_ascii_lowercase()))
    {
        Some(duplicate) => Err(format!(
            "two arguments use the header `{}`",
            duplicate.header
        )),
        None => Ok(headers),
    }
}

/// `path_bytes` is the total length of the names in `path`.
fn collect_params<'a>(
    schema: &'a Map<String, Value>,
    path: &mut Vec<&'a str>,
    path_bytes: usize,
    headers: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object().filter(|_| path.len() < DEPTH_MAX) else {
            continue;
        };
        path.push(name);
        let path_bytes = path_bytes + name.len();
        if let Some(header) = property.get(KEY) {
            if path_bytes > NAMES_BYTES_MAX {
                return Err(format!("the name of an argument with `{KEY}` is too long"));
            }
            if headers.len() == PARAMS_MAX {
                return Err(format!("more than {PARAMS_MAX} arguments have `{KEY}`"));
            }
            let header = validate_header_name(header, property.get("type"))
                .map_err(|why| format!("argument `{}`: {why}", path.join(".")))?;
            let path = path.iter().map(|&name| name.to_owned()).collect();
            headers.push(ParamHeader { path, header });
        }
        collect_params(property, path, path_bytes, headers)?;
        path.pop();
    }
    Ok(())
}

fn validate_header_name(header: &Value, kind: Option<&Value>) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = header.as_str().unwrap_or_default();
    if name.len() > NAMES_BYTES_MAX {
        return Err(format!("`{KEY}` is too long"));
    }
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!(
            "`{KEY}` is {header}, which is not a valid header name"
        ));
    }
    match kind.and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(name.to_owned()),
        _ => Err(format!(
            "`{KEY}` requires the type string, integer or boolean"
        )),
    }
}

/// Counts the annotations anywhere in a schema, ignoring example data and arguments that happen to
/// have that name.
fn count_header_keys(schema: &Map<String, Value>, depth: usize) -> usize {
    if depth > DEPTH_MAX {
        return 0;
    }
    let count = |value: &Value| match value {
        Value::Object(schema) => count_header_keys(schema, depth + 1),
        Value::Array(items) => {
            let schemas = items.iter().filter_map(Value::as_object);
            schemas
                .map(|schema| count_header_keys(schema, depth + 1))
                .sum()
        }
        _ => 0,
    };
    let counts = schema.iter().map(|(key, value)| match key.as_str() {
        KEY => 1,
        "default" | "const" | "enum" | "examples" => 0,
        "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
            let named = value.as_object().into_iter().flatten();
            named.map(|(_, schema)| count(schema)).sum()
        }
        _ => count(value),
    });
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::tool_with;
    use serde_json::json;

    fn schema(properties: Value) -> Map<String, Value> {
        let schema = json!({ "type": "object", "properties": properties });
        schema.as_object().cloned().expect("an object")
    }

    #[test]
    fn annotated_arguments_become_headers_unless_they_are_null() {
        let schema = schema(json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": {
                "count": { "type": "integer", "x-mcp-header": "Count" } } },
            "loud": { "type": "boolean", "x-mcp-header": "Loud" },
            "gone": { "type": "string", "x-mcp-header": "Gone" },
            "x-mcp-header": { "type": "string" },
        }));
        let mut listed = ListedTools {
            tools: vec![tool_with("query", schema.into())],
            omitted: Vec::new(),
            ttl: None,
        };
        let headers = ParamHeaders::default();
        headers.enable();
        headers.register_tools(&mut listed);
        assert_eq!(listed.omitted, Vec::<String>::new());
        let message = json!({ "params": { "name": "query", "arguments": {
            "region": "west", "deep": { "count": 42 }, "loud": false, "gone": null,
            "x-mcp-header": "not this" } } });
        let expected = [("Region", "west"), ("Count", "42"), ("Loud", "false")]
            .map(|(name, value)| (format!("mcp-param-{name}"), value.to_owned()));
        assert_eq!(headers.for_call(&message), expected);
        assert_eq!(
            headers.for_call(&json!({ "params": { "name": "other" } })),
            []
        );
    }

    #[test]
    fn invalid_header_annotations_are_rejected() {
        let parse = |header: Value, kind: &str| {
            header_params(&schema(
                json!({ "a": { "type": kind, "x-mcp-header": header } }),
            ))
        };
        assert_eq!(
            parse(json!("A"), "string").map(|headers| headers.len()),
            Ok(1)
        );
        for header in [
            json!(""),
            json!("My Region"),
            json!("A:B"),
            json!("Région"),
            json!("A\t1"),
            json!(7),
        ] {
            assert!(parse(header.clone(), "string").is_err(), "{header}");
        }
        for kind in ["object", "array", "null", "number"] {
            assert!(parse(json!("A"), kind).is_err(), "{kind}");
        }
        let duplicate = json!({ "a": { "type": "string", "x-mcp-header": "Field" },
            "b": { "type": "string", "x-mcp-header": "field" } });
        assert!(header_params(&schema(duplicate)).is_err());
        let without_name =
            json!({ "a": { "type": "array", "items": { "type": "string", "x-mcp-header": "A" } } });
        assert!(header_params(&schema(without_name)).is_err());
        let in_default = json!({ "a": { "type": "string", "default": { "x-mcp-header": "A" } } });
        assert_eq!(header_params(&schema(in_default)), Ok(Vec::new()));
    }

    #[test]
    fn legacy_servers_are_not_checked_for_header_annotations() {
        let schema = schema(json!({ "a": { "type": "string", "x-mcp-header": "" } }));
        let mut listed = ListedTools {
            tools: vec![tool_with("a", schema.into())],
            omitted: Vec::new(),
            ttl: None,
        };
        ParamHeaders::default().register_tools(&mut listed);
        assert_eq!((listed.tools.len(), listed.omitted.len()), (1, 0));
    }

    #[test]
    fn too_many_or_too_long_headers_are_rejected() {
        let many = |count: usize| -> Value {
            let named = |number| {
                let param = json!({ "type": "string", "x-mcp-header": format!("H{number}") });
                (format!("a{number}"), param)
            };
            (0..count).map(named).collect::<Map<_, _>>().into()
        };
        let rejection =
            |properties| header_params(&schema(properties)).expect_err("the schema is rejected");
        assert_eq!(
            header_params(&schema(many(64))).map(|headers| headers.len()),
            Ok(64)
        );
        assert!(rejection(many(65)).contains("more than 64"));
        let below = |name: String| json!({ name: { "type": "object", "properties": many(2) } });
        assert!(header_params(&schema(below("x".repeat(1_000)))).is_ok());
        let why = rejection(below("x".repeat(120_000)));
        assert!(why.contains("too long") && why.len() < 200, "{why:.200}");
        let header = json!({ "type": "string", "x-mcp-header": "x".repeat(120_000) });
        let why = rejection(json!({ "a": header }));
        assert!(why.contains("too long") && why.len() < 200, "{why:.200}");
    }
}

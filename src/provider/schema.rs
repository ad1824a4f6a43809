//! Tools as providers take them. Schemas of servers are made acceptable without
//! touching the originals (MCP.md): a root object, no dangling `required`, local
//! `$ref`s inlined; a `$ref` to anywhere else is dropped, never fetched. Pure.

use crate::domain::{Offered, OfferedTool};
use serde_json::{Map, Value, json};

/// How deep `$ref`s are followed: a schema may refer to itself.
const REF_DEPTH_MAX: usize = 8;
/// How long a schema may become, in bytes, roughly: `$ref`s of `$ref`s grow
/// exponentially. One that would be longer is sent with its `$ref`s.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Keys that providers refuse at the root.
const DROPPED_AT_ROOT: [&str; 8] = [
    "$schema", "$id", "oneOf", "anyOf", "allOf", "not", "enum", "const",
];

/// The `tools` field, the same for Ollama and OpenAI.
pub(super) fn tools(offered: &Offered) -> Value {
    offered.tools().iter().map(tool).collect()
}

fn tool(offered: &OfferedTool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": offered.native_name,
            "description": offered.tool.description.as_deref().unwrap_or_default(),
            "parameters": acceptable(&offered.tool.input_schema),
        },
    })
}

/// The schema in a form that providers accept.
pub fn acceptable(schema: &Map<String, Value>) -> Value {
    let root = Value::Object(schema.clone());
    let mut inliner = Inliner {
        root: &root,
        bytes_left: SCHEMA_BYTES_MAX,
    };
    let mut without_definitions = schema.clone();
    without_definitions.retain(|key, _| key != "$defs" && key != "definitions");
    let mut parameters = inliner
        .object(&without_definitions, 0)
        .unwrap_or_else(|| schema.clone());
    parameters.retain(|key, _| !DROPPED_AT_ROOT.contains(&key.as_str()));
    parameters.insert("type".into(), json!("object"));
    if !parameters.get("properties").is_some_and(Value::is_object) {
        parameters.insert("properties".into(), json!({}));
    }
    drop_dangling(&mut parameters);
    Value::Object(parameters)
}

struct Inliner<'a> {
    root: &'a Value,
    bytes_left: usize,
}

impl Inliner<'_> {
    /// None where the copy would be too long.
    fn copy(&mut self, value: &Value, refs: usize) -> Option<Value> {
        match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.copy(item, refs));
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(object) => self.object(object, refs).map(Value::Object),
            Value::String(text) => {
                self.count(text.len())?;
                Some(value.clone())
            }
            other => {
                self.count(0)?;
                Some(other.clone())
            }
        }
    }

    fn object(&mut self, object: &Map<String, Value>, refs: usize) -> Option<Map<String, Value>> {
        self.count(object.keys().map(String::len).sum())?;
        let mut copy = Map::new();
        // Only a text is a reference: a property may be called `$ref` as well.
        let reference = object.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#'))
            && refs < REF_DEPTH_MAX
            && let Some(Value::Object(target)) = self.root.pointer(pointer)
        {
            copy = self.object(target, refs + 1)?;
        }
        for (key, value) in object {
            if key != "$ref" || reference.is_none() {
                copy.insert(key.clone(), self.copy(value, refs)?);
            }
        }
        drop_dangling(&mut copy);
        Some(copy)
    }

    /// Brackets, quotes and commas count for something too.
    fn count(&mut self, bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(bytes + 8)?;
        Some(())
    }
}

/// Takes names out of `required` that `properties` does not have.
fn drop_dangling(object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = object.get("properties") else {
        return;
    };
    // A property may be called `required` as well: only a list is the keyword.
    let Some(Value::Array(required)) = object.get("required") else {
        return;
    };
    let names = required.iter().filter(|name| {
        name.as_str()
            .is_some_and(|name| properties.contains_key(name))
    });
    let names = names.cloned().collect();
    object.insert("required".into(), Value::Array(names));
}

//! Tools as providers take them. Schemas of servers are made acceptable without
//! touching the originals (MCP.md): a root object, no dangling `required`, local
//! `$ref`s inlined; a `$ref` to anywhere else is dropped, never fetched. Pure.

use crate::domain::{Offered, OfferedTool};
use serde_json::{Map, Value, json};

/// How deep `$ref`s are followed: a schema may refer to itself.
const REF_DEPTH_MAX: usize = 8;
/// Values copied out of one schema at most: `$ref`s of `$ref`s grow exponentially.
const VALUES_MAX: usize = 20_000;
/// Keys that providers refuse at the root, or that only served the `$ref`s.
const DROPPED_AT_ROOT: [&str; 10] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "enum",
    "const",
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
    let mut values_left = VALUES_MAX;
    let mut inlined = Inliner {
        root: &root,
        values_left: &mut values_left,
    }
    .copy(&root, 0);
    if let Some(object) = inlined.as_object_mut() {
        object.retain(|key, _| !DROPPED_AT_ROOT.contains(&key.as_str()));
        object.insert("type".into(), json!("object"));
        if !object.get("properties").is_some_and(Value::is_object) {
            object.insert("properties".into(), json!({}));
        }
        drop_dangling(object);
    }
    inlined
}

struct Inliner<'a> {
    root: &'a Value,
    values_left: &'a mut usize,
}

impl Inliner<'_> {
    fn copy(&mut self, value: &Value, refs: usize) -> Value {
        if *self.values_left == 0 {
            return json!({});
        }
        *self.values_left -= 1;
        match value {
            Value::Array(items) => items.iter().map(|item| self.copy(item, refs)).collect(),
            Value::Object(object) => self.object(object, refs),
            other => other.clone(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, refs: usize) -> Value {
        let mut copy = Map::new();
        // Only a text is a reference: a property may be called `$ref` as well.
        let reference = object.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#'))
            && refs < REF_DEPTH_MAX
            && let Some(target) = self.root.pointer(pointer).cloned()
            && let Value::Object(target) = self.copy(&target, refs + 1)
        {
            copy = target;
        }
        for (key, value) in object {
            if key == "$ref" && reference.is_some() {
                continue;
            }
            // The definitions themselves go away at the root.
            let is_dropped = refs == 0 && matches!(key.as_str(), "$defs" | "definitions");
            if !is_dropped {
                let value = self.copy(value, refs);
                copy.insert(key.clone(), value);
            }
        }
        drop_dangling(&mut copy);
        Value::Object(copy)
    }
}

/// Takes names out of `required` that `properties` does not have.
fn drop_dangling(object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = object.get("properties").cloned() else {
        return;
    };
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| {
            name.as_str()
                .is_some_and(|name| properties.contains_key(name))
        });
    }
}

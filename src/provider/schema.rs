//! Rewrites tool schemas into a form that providers accept: an object at the root, no dangling
//! `required`, local `$ref`s inlined. A `$ref` to another document is dropped, never fetched. All
//! schemas of a request share one size limit, because every round sends them again. Pure, except
//! that the last result is cached.

use crate::domain::{Notice, OfferedTool, Toolset};
use crate::sync::lock_ignoring_poison;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::{Arc, Mutex, Weak};

/// A schema may refer to itself.
const REF_DEPTH_MAX: usize = 8;
/// The approximate limit for one schema after expansion, in bytes: nested `$ref`s grow
/// exponentially. A schema that would exceed it is sent with its `$ref`s.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// The limit for all schemas of a request together.
const TOTAL_BYTES_MAX: usize = 2 << 20;
/// Bytes copied per request at most, including abandoned attempts.
const COPIED_BYTES_MAX: usize = 4 * TOTAL_BYTES_MAX;
/// Keys that providers reject at the root.
const DROPPED_AT_ROOT: [&str; 8] = [
    "$schema", "$id", "oneOf", "anyOf", "allOf", "not", "enum", "const",
];

/// The `tools` field of Ollama and of `/chat/completions`.
pub(super) fn tools_field(offered: &Arc<Toolset>) -> Value {
    let schemas = tool_schemas(offered);
    let tools = offered.tools().iter().zip(schemas.iter());
    tools
        .map(|(offered, schema)| tool(offered, schema))
        .collect()
}

fn tool(offered: &OfferedTool, schema: &Value) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": offered.native_name,
            "description": offered.tool.description.as_deref().unwrap_or_default(),
            "parameters": schema,
        },
    })
}

/// The schema of each offered tool.
pub(super) struct ToolSchemas {
    all: Vec<Value>,
    omitted: usize,
}

impl ToolSchemas {
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.all.iter()
    }

    /// A notice about schemas that are not sent, if any.
    pub fn notice(&self) -> Option<Notice> {
        let (omitted, all) = (self.omitted, self.all.len());
        let what =
            format!("{omitted} of {all} tools are sent to the model without their input schemas.");
        let why = format!("All schemas together exceed {} MB.", TOTAL_BYTES_MAX >> 20);
        (omitted > 0).then(|| {
            Notice::warning(what)
                .with_reason(why)
                .with_advice("Switch off servers or tools that you do not need.")
        })
    }

    /// Fits unexpanded schemas first, smallest first, so that a few huge ones do not displace the
    /// others. References are expanded in the remaining room.
    fn fit(offered: &Toolset) -> Self {
        let originals = offered.tools().iter().map(|it| &it.tool.input_schema);
        let originals: Vec<_> = originals.map(|it| (it, json_bytes(it))).collect();
        let mut order: Vec<usize> = (0..originals.len()).collect();
        order.sort_by_key(|at| originals[*at].1);
        let mut room = TOTAL_BYTES_MAX;
        let fits = |at: &&usize| {
            let left = room.checked_sub(originals[**at].1);
            room = left.unwrap_or(room);
            left.is_some()
        };
        let fitting = order.iter().take_while(fits).count();
        let mut is_sent = vec![false; originals.len()];
        for at in &order[..fitting] {
            is_sent[*at] = true;
        }
        let mut work = COPIED_BYTES_MAX;
        let all = originals
            .iter()
            .zip(is_sent)
            .map(|((schema, bytes), is_sent)| {
                if !is_sent {
                    return json!({"type": "object", "properties": {}});
                }
                if !has_reference(schema) {
                    return unexpanded(schema);
                }
                match expand(schema, (bytes + room).min(SCHEMA_BYTES_MAX), &mut work) {
                    Some((schema, now)) if now <= bytes + room => {
                        room -= now.saturating_sub(*bytes);
                        schema
                    }
                    _ => unexpanded(schema),
                }
            });
        Self {
            all: all.collect(),
            omitted: originals.len() - fitting,
        }
    }
}

/// The schemas of the offered tools. The last result is cached, because the rounds of a turn, and
/// mostly of a session, offer the same tools.
pub(super) fn tool_schemas(offered: &Arc<Toolset>) -> Arc<ToolSchemas> {
    static LAST: Mutex<Option<(Weak<Toolset>, Arc<ToolSchemas>)>> = Mutex::new(None);
    let mut last = lock_ignoring_poison(&LAST);
    let this = Arc::downgrade(offered);
    if let Some((known, schemas)) = &*last
        && known.ptr_eq(&this)
    {
        return schemas.clone();
    }
    let schemas = Arc::new(ToolSchemas::fit(offered));
    *last = Some((this, schemas.clone()));
    schemas
}

/// One schema in a form that providers accept.
pub fn sanitized(schema: &Map<String, Value>) -> Value {
    let mut work = COPIED_BYTES_MAX;
    let expanded = expand(schema, SCHEMA_BYTES_MAX, &mut work);
    expanded.map_or_else(|| unexpanded(schema), |(schema, _)| schema)
}

/// The schema with its references expanded, and its size; None above about `bytes_max`. Copied
/// bytes are deducted from `work`.
fn expand(
    schema: &Map<String, Value>,
    bytes_max: usize,
    work: &mut usize,
) -> Option<(Value, usize)> {
    let allowed = bytes_max.min(*work);
    let root = Value::Object(schema.clone());
    let mut inliner = Inliner {
        root: &root,
        bytes_left: allowed,
    };
    let mut without_definitions = schema.clone();
    without_definitions.retain(|key, _| key != "$defs" && key != "definitions");
    let parameters = inliner.object(&without_definitions, 0);
    *work -= allowed - inliner.bytes_left;
    let schema = apply_root_rules(parameters?);
    let bytes = json_bytes(&schema);
    Some((schema, bytes))
}

/// The schema with local references kept and external ones removed.
fn unexpanded(schema: &Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    drop_external_refs_in_object(&mut schema);
    apply_root_rules(schema)
}

fn drop_external_refs(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_external_refs),
        Value::Object(object) => drop_external_refs_in_object(object),
        _ => {}
    }
}

fn drop_external_refs_in_object(object: &mut Map<String, Value>) {
    let leads_away = |to: &str| !to.starts_with('#');
    let reference = object.get("$ref").and_then(Value::as_str);
    if reference.is_some_and(leads_away) {
        object.shift_remove("$ref");
    }
    drop_dangling_required(object);
    object.values_mut().for_each(drop_external_refs);
}

fn has_reference(object: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(within),
            Value::Object(object) => has_reference(object),
            _ => false,
        }
    }
    object.contains_key("$ref") || object.values().any(within)
}

/// Applies the rules for the root.
fn apply_root_rules(mut parameters: Map<String, Value>) -> Value {
    parameters.retain(|key, _| !DROPPED_AT_ROOT.contains(&key.as_str()));
    parameters.insert("type".into(), json!("object"));
    if !parameters.get("properties").is_some_and(Value::is_object) {
        parameters.insert("properties".into(), json!({}));
    }
    drop_dangling_required(&mut parameters);
    Value::Object(parameters)
}

/// The size of `value` as compact JSON, counted without writing it.
fn json_bytes(value: &impl serde::Serialize) -> usize {
    struct ByteCounter(usize);
    impl io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCounter(0);
    // Counting cannot fail, and every key is a string.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Inliner<'a> {
    root: &'a Value,
    bytes_left: usize,
}

impl Inliner<'_> {
    /// None if the copy would exceed the limit.
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
        // Only a string is a reference: a property may be named `$ref`, too.
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
        drop_dangling_required(&mut copy);
        Some(copy)
    }

    /// Adds a flat amount for brackets, quotes and commas.
    fn count(&mut self, bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(bytes + 8)?;
        Some(())
    }
}

/// Removes names from `required` that are not in `properties`.
fn drop_dangling_required(object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = object.get("properties") else {
        return;
    };
    // Only a list is the keyword: a property may be named `required`, too.
    let Some(Value::Array(required)) = object.get("required") else {
        return;
    };
    let names = required
        .iter()
        .filter(|name| {
            name.as_str()
                .is_some_and(|name| properties.contains_key(name))
        })
        .cloned()
        .collect();
    object.insert("required".into(), Value::Array(names));
}

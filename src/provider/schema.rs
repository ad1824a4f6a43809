//! Rewrites tool schemas into a form that providers accept: an object at the root, `required`
//! naming only existing properties, local `$ref`s inlined. A `$ref` to another document is
//! dropped, never fetched. All schemas of a request share one size limit, because every request
//! sends them again. Pure, except that the last result is cached.

use crate::domain::{Notice, OfferedTool, Toolset};
use crate::sync::lock_ignoring_poison;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::{Arc, Mutex, Weak};

/// Maximum depth of nested `$ref`s. Bounded because a schema may refer to itself.
const REF_DEPTH_MAX: usize = 8;
/// Approximate maximum size of one expanded schema, because nested `$ref`s can make it grow
/// exponentially. A schema that would exceed it is sent unexpanded.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// For all schemas of a request.
const TOTAL_BYTES_MAX: usize = 2 << 20;
/// For one request, including abandoned expansions.
const COPIED_BYTES_MAX: usize = 4 * TOTAL_BYTES_MAX;
const REJECTED_ROOT_KEYS: [&str; 8] = [
    "$schema", "$id", "oneOf", "anyOf", "allOf", "not", "enum", "const",
];

/// The `tools` field of a request to Ollama or `/chat/completions`.
pub(super) fn tools_field(offered: &Arc<Toolset>) -> Value {
    let schemas = tool_schemas(offered);
    let tools = offered.tools().iter().zip(schemas.iter());
    tools
        .map(|(offered, schema)| tool_json(offered, schema))
        .collect()
}

fn tool_json(offered: &OfferedTool, schema: &Value) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": offered.native_name,
            "description": offered.tool.description.as_deref().unwrap_or_default(),
            "parameters": schema,
        },
    })
}

/// One for each offered tool, in the same order.
pub(super) struct ToolSchemas {
    schemas: Vec<Value>,
    omitted_count: usize,
}

impl ToolSchemas {
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.schemas.iter()
    }

    /// A notice if some schemas are not sent.
    pub fn notice(&self) -> Option<Notice> {
        let (omitted, all) = (self.omitted_count, self.schemas.len());
        let summary = match omitted {
            1 => format!("1 of {all} tools is sent to the model without its input schema."),
            _ => format!(
                "{omitted} of {all} tools are sent to the model without their input schemas."
            ),
        };
        let reason = format!("All schemas together exceed {} MB.", TOTAL_BYTES_MAX >> 20);
        (omitted > 0).then(|| {
            Notice::warning(summary)
                .with_reason(reason)
                .with_advice("Switch off servers or tools that you do not need.")
        })
    }

    /// Fits the schemas into the size limit. Reserves space for the unexpanded schemas first,
    /// smallest first, so that a few huge ones do not crowd out the others. The remaining space is
    /// used to expand references.
    fn fit(offered: &Toolset) -> Self {
        let originals = offered.tools().iter().map(|tool| &tool.tool.input_schema);
        let originals: Vec<_> = originals
            .map(|schema| (schema, json_bytes(schema)))
            .collect();
        let mut by_size: Vec<usize> = (0..originals.len()).collect();
        by_size.sort_by_key(|index| originals[*index].1);
        let mut bytes_left = TOTAL_BYTES_MAX;
        let reserve = |index: &&usize| {
            let remaining = bytes_left.checked_sub(originals[**index].1);
            bytes_left = remaining.unwrap_or(bytes_left);
            remaining.is_some()
        };
        let sent_count = by_size.iter().take_while(reserve).count();
        let mut is_sent = vec![false; originals.len()];
        for index in &by_size[..sent_count] {
            is_sent[*index] = true;
        }
        let mut copy_budget = COPIED_BYTES_MAX;
        let schemas = originals
            .iter()
            .zip(is_sent)
            .map(|((schema, bytes), is_sent)| {
                if !is_sent {
                    return json!({"type": "object", "properties": {}});
                }
                if !has_reference(schema) {
                    return unexpanded(schema);
                }
                let bytes_max = bytes + bytes_left;
                match expand(schema, bytes_max.min(SCHEMA_BYTES_MAX), &mut copy_budget) {
                    Some((expanded, expanded_bytes)) if expanded_bytes <= bytes_max => {
                        bytes_left -= expanded_bytes.saturating_sub(*bytes);
                        expanded
                    }
                    _ => unexpanded(schema),
                }
            });
        Self {
            schemas: schemas.collect(),
            omitted_count: originals.len() - sent_count,
        }
    }
}

/// The last result is cached, because every round of a turn, and usually every turn of a
/// session, offers the same tools.
pub(super) fn tool_schemas(offered: &Arc<Toolset>) -> Arc<ToolSchemas> {
    static LAST: Mutex<Option<(Weak<Toolset>, Arc<ToolSchemas>)>> = Mutex::new(None);
    let mut last = lock_ignoring_poison(&LAST);
    let key = Arc::downgrade(offered);
    if let Some((cached_key, schemas)) = &*last
        && cached_key.ptr_eq(&key)
    {
        return schemas.clone();
    }
    let schemas = Arc::new(ToolSchemas::fit(offered));
    *last = Some((key, schemas.clone()));
    schemas
}

/// Rewrites one schema into a form that providers accept.
pub fn rewrite_schema(schema: &Map<String, Value>) -> Value {
    let mut copy_budget = COPIED_BYTES_MAX;
    let expanded = expand(schema, SCHEMA_BYTES_MAX, &mut copy_budget);
    expanded.map_or_else(|| unexpanded(schema), |(schema, _)| schema)
}

/// The schema with its references expanded, and its size in bytes. `None` if copying it takes more
/// than about `bytes_max` or `copy_budget` bytes. Copied bytes are deducted from `copy_budget`.
fn expand(
    schema: &Map<String, Value>,
    bytes_max: usize,
    copy_budget: &mut usize,
) -> Option<(Value, usize)> {
    let copied_bytes_max = bytes_max.min(*copy_budget);
    let root = Value::Object(schema.clone());
    let mut inliner = Inliner {
        root: &root,
        bytes_left: copied_bytes_max,
    };
    let mut without_definitions = schema.clone();
    without_definitions.retain(|key, _| key != "$defs" && key != "definitions");
    let expanded = inliner.copy_object(&without_definitions, 0);
    *copy_budget -= copied_bytes_max - inliner.bytes_left;
    let schema = apply_root_rules(expanded?);
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
    let is_external = |target: &str| !target.starts_with('#');
    let reference = object.get("$ref").and_then(Value::as_str);
    if reference.is_some_and(is_external) {
        object.shift_remove("$ref");
    }
    drop_dangling_required(object);
    object.values_mut().for_each(drop_external_refs);
}

fn has_reference(object: &Map<String, Value>) -> bool {
    fn value_has_reference(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(value_has_reference),
            Value::Object(object) => has_reference(object),
            _ => false,
        }
    }
    object.contains_key("$ref") || object.values().any(value_has_reference)
}

fn apply_root_rules(mut parameters: Map<String, Value>) -> Value {
    parameters.retain(|key, _| !REJECTED_ROOT_KEYS.contains(&key.as_str()));
    parameters.insert("type".into(), json!("object"));
    if !parameters.get("properties").is_some_and(Value::is_object) {
        parameters.insert("properties".into(), json!({}));
    }
    drop_dangling_required(&mut parameters);
    Value::Object(parameters)
}

/// As compact JSON, counted without building the text.
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
    let mut counter = ByteCounter(0);
    // This cannot fail: the counter accepts everything, and every key is a string.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Inliner<'a> {
    root: &'a Value,
    bytes_left: usize,
}

impl Inliner<'_> {
    /// Copies `value` with its references inlined. `None` if the copy would exceed the limit.
    /// `depth` is the number of references that were followed to reach `value`.
    fn copy(&mut self, value: &Value, depth: usize) -> Option<Value> {
        match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.copy(item, depth));
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(object) => self.copy_object(object, depth).map(Value::Object),
            Value::String(text) => {
                self.spend(text.len())?;
                Some(value.clone())
            }
            other => {
                self.spend(0)?;
                Some(other.clone())
            }
        }
    }

    fn copy_object(
        &mut self,
        object: &Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        self.spend(object.keys().map(String::len).sum())?;
        let mut copied = Map::new();
        // If `$ref` is not a string, it is the name of a property.
        let reference = object.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#'))
            && depth < REF_DEPTH_MAX
            && let Some(Value::Object(target)) = self.root.pointer(pointer)
        {
            copied = self.copy_object(target, depth + 1)?;
        }
        for (key, value) in object {
            if key != "$ref" || reference.is_none() {
                copied.insert(key.clone(), self.copy(value, depth)?);
            }
        }
        drop_dangling_required(&mut copied);
        Some(copied)
    }

    /// Deducts these bytes, plus a flat amount for brackets, quotes and commas. `None` if too few
    /// are left.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(bytes + 8)?;
        Some(())
    }
}

fn drop_dangling_required(object: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = object.get("properties") else {
        return;
    };
    // If `required` is not a list, it is the name of a property.
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

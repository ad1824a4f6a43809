//! Tools as providers take them. Schemas of servers are made acceptable without
//! touching the originals: a root object, no dangling `required`, local `$ref`s
//! inlined; a `$ref` to anywhere else is dropped, never fetched. All schemas of a
//! request share one bound, since they are sent again in every round. Pure, but for
//! the last result, which is kept.

use crate::domain::{Notice, Offered, OfferedTool};
use crate::sync::lock_ignoring_poison;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::{Arc, Mutex, Weak};

/// How deep `$ref`s are followed: a schema may refer to itself.
const REF_DEPTH_MAX: usize = 8;
/// How long a schema may become, in bytes, roughly: `$ref`s of `$ref`s grow
/// exponentially. One that would be longer is sent with its `$ref`s.
const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// The same for all schemas of a request.
const TOTAL_BYTES_MAX: usize = 2 << 20;
/// Bytes that are copied for one request at most, attempts that came to nothing included.
const COPIED_BYTES_MAX: usize = 4 * TOTAL_BYTES_MAX;
/// Keys that providers refuse at the root.
const DROPPED_AT_ROOT: [&str; 8] = [
    "$schema", "$id", "oneOf", "anyOf", "allOf", "not", "enum", "const",
];

/// The `tools` field, the same for Ollama and OpenAI.
pub(super) fn tools(offered: &Arc<Offered>) -> Value {
    let schemas = of(offered);
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

/// The schema of each tool that is on offer.
pub(super) struct Schemas {
    all: Vec<Value>,
    left_out: usize,
}

impl Schemas {
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.all.iter()
    }

    /// What the user has to know about schemas that are not sent.
    pub fn notice(&self) -> Option<Notice> {
        let (left_out, all) = (self.left_out, self.all.len());
        let what =
            format!("{left_out} of {all} tools go to the model without their input schemas.");
        let why = format!(
            "All schemas together are larger than {} MB.",
            TOTAL_BYTES_MAX >> 20
        );
        (left_out > 0).then(|| {
            Notice::warning(what)
                .because(why)
                .advise("Switch off servers or tools that you do not need.")
        })
    }

    /// The originals come first, the smallest of them before the others: a few that are huge
    /// must not cost the rest theirs. References are expanded in the room that is left.
    fn fit(offered: &Offered) -> Self {
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
                    return original(schema);
                }
                match expanded(schema, (bytes + room).min(SCHEMA_BYTES_MAX), &mut work) {
                    Some((schema, now)) if now <= bytes + room => {
                        room -= now.saturating_sub(*bytes);
                        schema
                    }
                    _ => original(schema),
                }
            });
        Self {
            all: all.collect(),
            left_out: originals.len() - fitting,
        }
    }
}

/// The schemas of what is on offer. The last ones are kept: the rounds of a turn, and mostly
/// those of a session, offer the same.
pub(super) fn of(offered: &Arc<Offered>) -> Arc<Schemas> {
    static LAST: Mutex<Option<(Weak<Offered>, Arc<Schemas>)>> = Mutex::new(None);
    let mut last = lock_ignoring_poison(&LAST);
    let this = Arc::downgrade(offered);
    if let Some((known, schemas)) = &*last
        && known.ptr_eq(&this)
    {
        return schemas.clone();
    }
    let schemas = Arc::new(Schemas::fit(offered));
    *last = Some((this, schemas.clone()));
    schemas
}

/// The schema in a form that providers accept.
pub fn acceptable(schema: &Map<String, Value>) -> Value {
    let mut work = COPIED_BYTES_MAX;
    let expanded = expanded(schema, SCHEMA_BYTES_MAX, &mut work);
    expanded.map_or_else(|| original(schema), |(schema, _)| schema)
}

/// The schema with its references followed, and its bytes; None if there are more than
/// `bytes_max`, roughly. What was copied is taken from `work`.
fn expanded(
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
    let schema = finished(parameters?);
    let bytes = json_bytes(&schema);
    Some((schema, bytes))
}

/// The schema with its references as they are, except those that lead elsewhere.
fn original(schema: &Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    tidy_object(&mut schema);
    finished(schema)
}

fn tidy(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => tidy_object(object),
        _ => {}
    }
}

fn tidy_object(object: &mut Map<String, Value>) {
    let leads_away = |to: &str| !to.starts_with('#');
    let reference = object.get("$ref").and_then(Value::as_str);
    if reference.is_some_and(leads_away) {
        object.shift_remove("$ref");
    }
    drop_dangling(object);
    object.values_mut().for_each(tidy);
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

/// What is due at the root, whether references were followed or not.
fn finished(mut parameters: Map<String, Value>) -> Value {
    parameters.retain(|key, _| !DROPPED_AT_ROOT.contains(&key.as_str()));
    parameters.insert("type".into(), json!("object"));
    if !parameters.get("properties").is_some_and(Value::is_object) {
        parameters.insert("properties".into(), json!({}));
    }
    drop_dangling(&mut parameters);
    Value::Object(parameters)
}

/// Bytes of `value` as compact JSON, counted without writing them anywhere.
fn json_bytes(value: &impl serde::Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and every key is a string.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
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

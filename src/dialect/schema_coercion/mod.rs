//! Converts an argument that a model wrote as plain text to the type in the tool's input schema.
//! Nothing is guessed: text that does not parse as that type stays a string, and schema validation
//! reports the error.

mod json_types;

use crate::domain::Tool;
use crate::text::lenient_json;
use json_types::JsonTypes;
use serde_json::{Map, Value};

/// Maximum number of schemas visited for one value; references may be circular.
const SCHEMAS_MAX: usize = 64;
/// Maximum number of list members (`allOf`, `enum`, …) visited for one value; circular references
/// visit the same lists repeatedly.
const MEMBERS_MAX: usize = 1_024;
/// Longer references are not followed.
const POINTER_BYTES_MAX: usize = 1_024;
/// In help text, longer lists of choices are replaced by the name of their type.
const CHOICES_BYTES_MAX: usize = 60;

#[derive(Debug, PartialEq)]
pub struct CoercedValue {
    pub value: Value,
    /// The text could only be read as JSON after repairs.
    pub was_repaired: bool,
}

impl CoercedValue {
    pub fn unrepaired(value: Value) -> Self {
        Self {
            value,
            was_repaired: false,
        }
    }
}

/// The schema of one argument, or of the elements of an array argument.
#[derive(Clone, Copy)]
pub struct ArgumentSchema<'a> {
    /// The tool's input schema, in which references are resolved.
    root: &'a Map<String, Value>,
    schema: Option<&'a Value>,
    /// The input schema lists the argument in `properties`.
    pub is_listed: bool,
}

impl<'a> ArgumentSchema<'a> {
    pub fn for_argument(tool: &'a Tool, key: &str) -> Self {
        let root = &tool.input_schema;
        let mut walk = SchemaWalk::new(root);
        let listed = walk.property(root, key);
        Self {
            root,
            schema: listed.or_else(|| root.get("additionalProperties")),
            is_listed: listed.is_some(),
        }
    }

    /// Converts `text` to a JSON value. O(len).
    pub fn coerce(&self, text: &str) -> CoercedValue {
        let mut walk = SchemaWalk::new(self.root);
        let types = self
            .schema
            .map_or(JsonTypes::ANY, |schema| walk.types(schema));
        if let Some(choice) = walk.matching_choice(text) {
            return CoercedValue::unrepaired(Value::String(choice));
        }
        let parsed = if types.intersects(JsonTypes::STRING) {
            parse_unambiguous(text.trim(), types)
        } else {
            parse_leniently(text.trim(), types)
        };
        parsed.unwrap_or_else(|| CoercedValue::unrepaired(Value::String(text.to_owned())))
    }

    /// Whether the schema explicitly allows an array. If so, repeated arguments are collected into
    /// one array.
    pub fn is_array(&self) -> bool {
        self.schema.is_some_and(|schema| {
            let types = SchemaWalk::new(self.root).types(schema);
            types != JsonTypes::ANY && types.intersects(JsonTypes::ARRAY)
        })
    }

    /// A placeholder for the value in help text: the type, or the choices.
    pub fn placeholder(&self) -> String {
        let mut walk = SchemaWalk::new(self.root);
        let types = self
            .schema
            .map_or(JsonTypes::ANY, |schema| walk.types(schema));
        let choices = walk.choices.join("|");
        if types == JsonTypes::STRING && !choices.is_empty() && choices.len() <= CHOICES_BYTES_MAX {
            return choices;
        }
        let placeholder = [
            (JsonTypes::STRING, "TEXT"),
            (JsonTypes::NUMBER, "NUMBER"),
            (JsonTypes::BOOLEAN, "true|false"),
            (JsonTypes::OBJECT, "OBJECT"),
            (JsonTypes::ARRAY, "LIST"),
        ]
        .into_iter()
        .find(|(json_type, _)| *json_type == types);
        placeholder.map_or("VALUE", |(_, word)| word).to_owned()
    }

    /// The schema of the array's elements.
    pub fn items(&self) -> Self {
        Self {
            root: self.root,
            is_listed: false,
            schema: self
                .schema
                .and_then(|schema| SchemaWalk::new(self.root).keyword(schema, "items")),
        }
    }
}

/// One bounded walk through a schema.
struct SchemaWalk<'a> {
    root: &'a Map<String, Value>,
    schemas_left: usize,
    members_left: usize,
    /// The strings in the visited `enum` and `const` keywords.
    choices: Vec<&'a str>,
}

impl<'a> SchemaWalk<'a> {
    fn new(root: &'a Map<String, Value>) -> Self {
        Self {
            root,
            schemas_left: SCHEMAS_MAX,
            members_left: MEMBERS_MAX,
            choices: Vec::new(),
        }
    }

    /// Counts a visit. `None` if the schema is not an object or the limit is reached.
    fn visit(&mut self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        self.schemas_left = self.schemas_left.checked_sub(1)?;
        schema.as_object()
    }

    /// The members of the list at `key`, up to the limit.
    fn members(&mut self, schema: &'a Map<String, Value>, key: &str) -> &'a [Value] {
        let members = schema
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let count = members.len().min(self.members_left);
        self.members_left -= count;
        &members[..count]
    }

    /// The target of a `$ref` inside the same schema (JSON Pointer, RFC 6901).
    fn resolve_ref(&self, schema: &'a Map<String, Value>) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix("#/")?;
        if pointer.len() > POINTER_BYTES_MAX {
            return None;
        }
        let (first, rest) = match pointer.find('/') {
            Some(slash) => pointer.split_at(slash),
            None => (pointer, ""),
        };
        let first = first.replace("~1", "/").replace("~0", "~");
        self.root.get(&first)?.pointer(rest)
    }

    /// The schemas that `schema` refers to or combines.
    fn subschemas(
        &mut self,
        schema: &'a Map<String, Value>,
    ) -> impl Iterator<Item = &'a Value> + use<'a> {
        let members = ["allOf", "anyOf", "oneOf"]
            .map(|key| self.members(schema, key))
            .into_iter()
            .flatten();
        self.resolve_ref(schema).into_iter().chain(members)
    }

    fn property(&mut self, schema: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
        let own = schema
            .get("properties")
            .and_then(|properties| properties.get(key));
        if own.is_some() {
            return own;
        }
        self.subschemas(schema).find_map(|subschema| {
            let subschema = self.visit(subschema)?;
            self.property(subschema, key)
        })
    }

    /// The value of `keyword` in `schema` or in one of its subschemas.
    fn keyword(&mut self, schema: &'a Value, keyword: &str) -> Option<&'a Value> {
        let schema = self.visit(schema)?;
        let own = schema.get(keyword);
        own.or_else(|| {
            self.subschemas(schema)
                .find_map(|subschema| self.keyword(subschema, keyword))
        })
    }

    /// The types that `schema` allows. Also collects its choices.
    fn types(&mut self, schema: &'a Value) -> JsonTypes {
        let Some(schema) = self.visit(schema) else {
            return JsonTypes::ANY;
        };
        let mut types = JsonTypes::ANY;
        match schema.get("type") {
            Some(Value::Array(_)) => {
                types.narrow(any_of(self.members(schema, "type"), JsonTypes::from_name));
            }
            Some(name) => types.narrow(JsonTypes::from_name(name)),
            None => {}
        }
        if let Some(value) = schema.get("const") {
            types.narrow(self.add_choice(value));
        }
        let values = self.members(schema, "enum");
        types.narrow(any_of(values, |value| self.add_choice(value)));
        if let Some(target) = self.resolve_ref(schema) {
            types.narrow(self.types(target));
        }
        for key in ["anyOf", "oneOf"] {
            let members = self.members(schema, key);
            types.narrow(any_of(members, |member| self.types(member)));
        }
        for member in self.members(schema, "allOf") {
            types.narrow(self.types(member));
        }
        if types == JsonTypes::ANY {
            types.narrow(implied_type(schema));
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            types = types | JsonTypes::NULL;
        }
        types
    }

    /// Adds an enumerated value to the choices if it is a string. Returns its type.
    fn add_choice(&mut self, value: &'a Value) -> JsonTypes {
        if let Value::String(choice) = value {
            self.choices.push(choice);
        }
        JsonTypes::of(value)
    }

    /// The enumerated string equal to `text`, ignoring whitespace and quotes around it.
    fn matching_choice(&self, text: &str) -> Option<String> {
        if self.choices.is_empty() {
            return None;
        }
        let trimmed = text.trim();
        let unquoted = serde_json::from_str::<String>(trimmed).ok();
        [Some(text), Some(trimmed), unquoted.as_deref()]
            .into_iter()
            .flatten()
            .find(|text| self.choices.contains(text))
            .map(str::to_owned)
    }
}

fn any_of<'a>(values: &'a [Value], types: impl FnMut(&'a Value) -> JsonTypes) -> JsonTypes {
    values.iter().map(types).fold(JsonTypes::NONE, |a, b| a | b)
}

/// The type that a schema without `type` implies.
fn implied_type(schema: &Map<String, Value>) -> JsonTypes {
    if schema.contains_key("properties") {
        JsonTypes::OBJECT
    } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
        JsonTypes::ARRAY
    } else {
        JsonTypes::ANY
    }
}

/// Converts only text that is clearly of an allowed type other than string: strict JSON, or `None`
/// for null. A number must also serialize to the same characters.
fn parse_unambiguous(text: &str, types: JsonTypes) -> Option<CoercedValue> {
    if types == JsonTypes::STRING {
        return None;
    }
    if types != JsonTypes::ANY && types.intersects(JsonTypes::NULL) && text == "None" {
        return Some(CoercedValue::unrepaired(Value::Null));
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let is_unambiguous = match &value {
        Value::String(_) => false,
        Value::Number(number) => number.to_string() == text,
        _ => true,
    };
    (is_unambiguous && types.intersects(JsonTypes::of(&value)))
        .then(|| CoercedValue::unrepaired(value))
}

/// For schemas that do not allow strings: also accepts invalid JSON as models write it.
fn parse_leniently(text: &str, types: JsonTypes) -> Option<CoercedValue> {
    if types.intersects(JsonTypes::BOOLEAN) {
        for (word, value) in [("true", true), ("false", false)] {
            if text.eq_ignore_ascii_case(word) {
                return Some(CoercedValue {
                    value: Value::Bool(value),
                    was_repaired: text != word,
                });
            }
        }
    }
    let mut parsed = parse_json(text)?;
    if let Value::String(inner) = &parsed.value {
        // An object or array encoded as a JSON string.
        parsed =
            parse_json(inner).filter(|inner| inner.value.is_object() || inner.value.is_array())?;
        parsed.was_repaired = true;
    }
    types
        .intersects(JsonTypes::of(&parsed.value))
        .then_some(parsed)
}

/// Parses `text` as lenient JSON. Numbers may be rounded; the call keeps their digits.
pub fn parse_json(text: &str) -> Option<CoercedValue> {
    let parsed = lenient_json::parse(text).ok()?;
    Some(CoercedValue {
        value: parsed.value,
        was_repaired: parsed.was_repaired,
    })
}

#[cfg(test)]
mod tests;

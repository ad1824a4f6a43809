//! Gives a value that a form holds as bare text the type that the tool's input
//! schema asks for. What does not read as that type stays the text it was: the
//! check against the schema then says what is wrong, and nothing is guessed.

use crate::domain::Tool;
use crate::text::lenient_json;
use serde_json::{Map, Value};
use std::ops::{BitAnd, BitOr};

/// Schemas that are looked into for one value: references may lead in circles.
const SCHEMAS_MAX: usize = 64;
/// Members of lists (`allOf`, `enum`, …) that are looked at for one value: a list that
/// a circle leads to is met again and again.
const MEMBERS_MAX: usize = 1_024;
/// A longer `$ref` is followed nowhere.
const POINTER_BYTES_MAX: usize = 1_024;

/// Longer lists of choices are not spelt out.
const CHOICES_BYTES_MAX: usize = 60;

/// A value as it was understood.
#[derive(Debug, PartialEq)]
pub struct CoercedValue {
    pub value: Value,
    /// Its JSON was not valid as written.
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

/// What the input schema says of one argument; nothing where it does not list it.
#[derive(Clone, Copy)]
pub struct ArgumentSchema<'a> {
    root: &'a Map<String, Value>,
    schema: Option<&'a Value>,
    pub is_listed: bool,
}

impl<'a> ArgumentSchema<'a> {
    pub fn for_argument(tool: &'a Tool, key: &str) -> Self {
        let root = &tool.input_schema;
        let mut look = SchemaWalk::new(root);
        let listed = look.property(root, key);
        Self {
            root,
            schema: listed.or_else(|| root.get("additionalProperties")),
            is_listed: listed.is_some(),
        }
    }

    /// The value that `text` stands for. O(len of text).
    pub fn coerce(&self, text: &str) -> CoercedValue {
        let mut look = SchemaWalk::new(self.root);
        let kinds = self
            .schema
            .map_or(JsonTypes::ANY, |schema| look.kinds(schema));
        if let Some(choice) = look.choice(text) {
            return CoercedValue::unrepaired(Value::String(choice));
        }
        let read = if kinds.intersects(JsonTypes::STRING) {
            plain(text.trim(), kinds)
        } else {
            lenient(text.trim(), kinds)
        };
        read.unwrap_or_else(|| CoercedValue::unrepaired(Value::String(text.to_owned())))
    }

    /// Whether it is said to be an array, so that an argument given twice is one.
    pub fn is_array(&self) -> bool {
        let kinds = |schema| SchemaWalk::new(self.root).kinds(schema);
        self.schema
            .map(kinds)
            .is_some_and(|kinds| kinds != JsonTypes::ANY && kinds.intersects(JsonTypes::ARRAY))
    }

    /// What may be written for it, in a word or as the choices there are.
    pub fn placeholder(&self) -> String {
        let mut look = SchemaWalk::new(self.root);
        let kinds = self
            .schema
            .map_or(JsonTypes::ANY, |schema| look.kinds(schema));
        let choices = look.choices.join("|");
        if kinds == JsonTypes::STRING && !choices.is_empty() && choices.len() <= CHOICES_BYTES_MAX {
            return choices;
        }
        let named = [
            (JsonTypes::STRING, "TEXT"),
            (JsonTypes::NUMBER, "NUMBER"),
            (JsonTypes::BOOLEAN, "true|false"),
            (JsonTypes::OBJECT, "OBJECT"),
            (JsonTypes::ARRAY, "LIST"),
        ]
        .into_iter()
        .find(|(kind, _)| *kind == kinds);
        named.map_or("VALUE", |(_, word)| word).to_owned()
    }

    /// What is said of the elements of that array.
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

/// The types of JSON, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct JsonTypes(u8);

impl JsonTypes {
    const STRING: Self = Self(1);
    const NUMBER: Self = Self(2);
    const BOOLEAN: Self = Self(4);
    const NULL: Self = Self(8);
    const OBJECT: Self = Self(16);
    const ARRAY: Self = Self(32);
    /// The schema says nothing.
    const ANY: Self = Self(63);
    const NONE: Self = Self(0);

    fn intersects(self, kind: Self) -> bool {
        self & kind != Self::NONE
    }

    fn named(name: &Value) -> Self {
        match name.as_str() {
            Some("string") => Self::STRING,
            Some("integer" | "number") => Self::NUMBER,
            Some("boolean") => Self::BOOLEAN,
            Some("null") => Self::NULL,
            Some("object") => Self::OBJECT,
            Some("array") => Self::ARRAY,
            _ => Self::NONE,
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::STRING,
            Value::Number(_) => Self::NUMBER,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Null => Self::NULL,
            Value::Object(_) => Self::OBJECT,
            Value::Array(_) => Self::ARRAY,
        }
    }

    /// Both statements hold; a contradiction is a fault of the schema, and the
    /// first stands.
    fn narrow(&mut self, other: Self) {
        if self.intersects(other) {
            *self = *self & other;
        }
    }
}

impl BitAnd for JsonTypes {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for JsonTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One look into a schema, bounded.
struct SchemaWalk<'a> {
    root: &'a Map<String, Value>,
    /// Schemas that may still be entered.
    left: usize,
    /// Members of lists that may still be looked at.
    members_left: usize,
    /// The strings that the schema enumerates.
    choices: Vec<&'a str>,
}

impl<'a> SchemaWalk<'a> {
    fn new(root: &'a Map<String, Value>) -> Self {
        Self {
            root,
            left: SCHEMAS_MAX,
            members_left: MEMBERS_MAX,
            choices: Vec::new(),
        }
    }

    /// The object of `schema`, as long as the bound allows.
    fn enter(&mut self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        self.left = self.left.checked_sub(1)?;
        schema.as_object()
    }

    /// The members of the list `key`, as long as the bound allows.
    fn members(&mut self, schema: &'a Map<String, Value>, key: &str) -> &'a [Value] {
        let members = schema
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let count = members.len().min(self.members_left);
        self.members_left -= count;
        &members[..count]
    }

    /// What `$ref` points to inside the same schema (JSON Pointer, RFC 6901).
    fn resolve_ref(&self, schema: &'a Map<String, Value>) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix("#/")?;
        if pointer.len() > POINTER_BYTES_MAX {
            return None;
        }
        let (first, rest) = match pointer.find('/') {
            Some(at) => pointer.split_at(at),
            None => (pointer, ""),
        };
        let first = first.replace("~1", "/").replace("~0", "~");
        self.root.get(&first)?.pointer(rest)
    }

    /// The schemas that `schema` is put together from.
    fn parts(
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
        self.parts(schema)
            .find_map(|part| self.enter(part).and_then(|part| self.property(part, key)))
    }

    /// The value of `keyword` in `schema` or in what it is put together from.
    fn keyword(&mut self, schema: &'a Value, keyword: &str) -> Option<&'a Value> {
        let schema = self.enter(schema)?;
        let own = schema.get(keyword);
        own.or_else(|| {
            self.parts(schema)
                .find_map(|part| self.keyword(part, keyword))
        })
    }

    fn kinds(&mut self, schema: &'a Value) -> JsonTypes {
        let Some(schema) = self.enter(schema) else {
            return JsonTypes::ANY;
        };
        let mut kinds = JsonTypes::ANY;
        match schema.get("type") {
            Some(Value::Array(_)) => {
                kinds.narrow(any_of(self.members(schema, "type"), JsonTypes::named));
            }
            Some(name) => kinds.narrow(JsonTypes::named(name)),
            None => {}
        }
        if let Some(value) = schema.get("const") {
            kinds.narrow(self.add_choice(value));
        }
        let values = self.members(schema, "enum");
        kinds.narrow(any_of(values, |value| self.add_choice(value)));
        if let Some(referred) = self.resolve_ref(schema) {
            kinds.narrow(self.kinds(referred));
        }
        for key in ["anyOf", "oneOf"] {
            let members = self.members(schema, key);
            kinds.narrow(any_of(members, |member| self.kinds(member)));
        }
        for member in self.members(schema, "allOf") {
            kinds.narrow(self.kinds(member));
        }
        if kinds == JsonTypes::ANY {
            kinds.narrow(implied(schema));
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            kinds = kinds | JsonTypes::NULL;
        }
        kinds
    }

    fn add_choice(&mut self, value: &'a Value) -> JsonTypes {
        if let Value::String(choice) = value {
            self.choices.push(choice);
        }
        JsonTypes::of(value)
    }

    /// The enumerated string that `text` is, but for white space or quotation
    /// marks around it.
    fn choice(&self, text: &str) -> Option<String> {
        if self.choices.is_empty() {
            return None;
        }
        let trimmed = text.trim();
        let quoted = serde_json::from_str::<String>(trimmed).ok();
        [Some(text), Some(trimmed), quoted.as_deref()]
            .into_iter()
            .flatten()
            .find(|text| self.choices.contains(text))
            .map(str::to_owned)
    }
}

fn any_of<'a>(values: &'a [Value], kinds: impl FnMut(&'a Value) -> JsonTypes) -> JsonTypes {
    values.iter().map(kinds).fold(JsonTypes::NONE, |a, b| a | b)
}

/// What a schema without a type is for all the same.
fn implied(schema: &Map<String, Value>) -> JsonTypes {
    if schema.contains_key("properties") {
        JsonTypes::OBJECT
    } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
        JsonTypes::ARRAY
    } else {
        JsonTypes::ANY
    }
}

/// Where a string is allowed too, only what is unmistakably something else, and
/// would be written back in the same characters, is something else.
fn plain(text: &str, kinds: JsonTypes) -> Option<CoercedValue> {
    if kinds == JsonTypes::STRING {
        return None;
    }
    if kinds != JsonTypes::ANY && kinds.intersects(JsonTypes::NULL) && text == "None" {
        return Some(CoercedValue::unrepaired(Value::Null));
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let exact = match &value {
        Value::String(_) => false,
        Value::Number(number) => number.to_string() == text,
        _ => true,
    };
    (exact && kinds.intersects(JsonTypes::of(&value))).then(|| CoercedValue::unrepaired(value))
}

/// Where no string is allowed, JSON as models write it.
fn lenient(text: &str, kinds: JsonTypes) -> Option<CoercedValue> {
    if kinds.intersects(JsonTypes::BOOLEAN) {
        for (word, value) in [("true", true), ("false", false)] {
            if text.eq_ignore_ascii_case(word) {
                return Some(CoercedValue {
                    value: Value::Bool(value),
                    was_repaired: text != word,
                });
            }
        }
    }
    let mut read = parse_json(text)?;
    if let Value::String(inner) = &read.value {
        // An object or array, written as a string that holds its JSON.
        read =
            parse_json(inner).filter(|inner| inner.value.is_object() || inner.value.is_array())?;
        read.was_repaired = true;
    }
    kinds.intersects(JsonTypes::of(&read.value)).then_some(read)
}

/// `text` as JSON, as models write it; None where it is none, or where a whole number
/// would come out rounded.
pub fn parse_json(text: &str) -> Option<CoercedValue> {
    let read = lenient_json::parse(text).ok()?;
    let is_digit = |byte: u8| byte == b'-' || byte.is_ascii_digit();
    let is_rounded = read.value.is_f64() && text.trim().bytes().all(is_digit);
    (!is_rounded).then_some(CoercedValue {
        value: read.value,
        was_repaired: read.was_repaired,
    })
}

#[cfg(test)]
mod tests;

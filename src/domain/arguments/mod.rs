//! The arguments of a call. JSON numbers are read as integers of 64 bits or as doubles; the digits
//! of those that neither holds are kept beside the values, so that they reach the tool as the model
//! wrote them.

mod digits;

use crate::text::json_changes::JsonChange;
use digits::{Digits, ExactValue};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::ops::{Deref, DerefMut};

pub use digits::DIGITS_MARK;

/// A JSON object in the model's key order. Serializing it to JSON text writes all digits; converting
/// it to a [`Value`] rounds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    members: Map<String, Value>,
    digits: Digits,
}

impl Arguments {
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a JSON object.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        let members: Map<String, Value> = serde_json::from_str(text)?;
        Ok(Self::from(members).with_digits_of(text))
    }

    /// Adds the digits of numbers from `text`, from which the arguments were read in any form. O(len).
    pub fn with_digits_of(mut self, text: &str) -> Self {
        self.digits = Digits::find(&self.members, text);
        self
    }

    pub fn has_same_digits(&self, other: &Self) -> bool {
        self.digits == other.digits
    }

    /// Whether a number has more digits than its value.
    pub fn has_digits(&self) -> bool {
        !self.digits.is_empty()
    }

    /// Whether the change is none, because the digits are kept.
    pub fn keeps_number(&self, change: &JsonChange) -> bool {
        matches!(change, JsonChange::Number { written, .. } if self.digits.contains(written))
    }

    pub fn value_at(&self, pointer: &str) -> Option<&Value> {
        digits::value_at(&self.members, pointer)
    }

    /// The JSON of the value at a JSON pointer, indented if `is_pretty`.
    pub fn json_at(&self, pointer: &str, is_pretty: bool) -> Option<String> {
        let addresses = self.digits.by_address(&self.members);
        let exact = ExactValue {
            value: self.value_at(pointer)?,
            digits: &addresses,
        };
        match is_pretty {
            true => serde_json::to_string_pretty(&exact).ok(),
            false => serde_json::to_string(&exact).ok(),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The JSON of the member `key`.
    pub fn member_json(&self, key: &str) -> String {
        let pointer = format!("/{}", digits::escaped(key));
        self.json_at(&pointer, false).unwrap_or_default()
    }

    /// Replaces the value at a JSON pointer with the value of `json`. Returns false if there is none.
    ///
    /// # Errors
    /// `json` is not JSON.
    pub fn replace_json(&mut self, pointer: &str, json: &str) -> serde_json::Result<bool> {
        let value: Value = serde_json::from_str(json)?;
        self.digits.replace(pointer, &value, json);
        Ok(self.replace(pointer, value))
    }

    /// Replaces the value at a JSON pointer. Returns false if there is none.
    pub fn replace(&mut self, pointer: &str, value: Value) -> bool {
        let place = digits::value_at_mut(&mut self.members, pointer);
        place.map(|place| *place = value).is_some()
    }

    /// The members for drawing: a number with digits is a string of [`DIGITS_MARK`] and its digits.
    pub fn marked(&self) -> Map<String, Value> {
        self.digits.marked(&self.members)
    }
}

impl Deref for Arguments {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.members
    }
}

/// Digits of a value that is changed no longer apply.
impl DerefMut for Arguments {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.members
    }
}

impl PartialEq<Map<String, Value>> for Arguments {
    fn eq(&self, other: &Map<String, Value>) -> bool {
        !self.has_digits() && self.members == *other
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(members: Map<String, Value>) -> Self {
        Self {
            members,
            digits: Digits::default(),
        }
    }
}

impl From<Arguments> for Map<String, Value> {
    fn from(arguments: Arguments) -> Self {
        arguments.members
    }
}

impl From<Arguments> for Value {
    fn from(arguments: Arguments) -> Self {
        Self::Object(arguments.members)
    }
}

impl FromIterator<(String, Value)> for Arguments {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(members: T) -> Self {
        Self::from(Map::from_iter(members))
    }
}

impl IntoIterator for Arguments {
    type Item = (String, Value);
    type IntoIter = serde_json::map::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'a> IntoIterator for &'a Arguments {
    type Item = (&'a String, &'a Value);
    type IntoIter = serde_json::map::Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.iter()
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.has_digits() {
            return self.members.serialize(serializer);
        }
        let addresses = self.digits.by_address(&self.members);
        digits::serialize_members(&self.members, &addresses, serializer)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests;

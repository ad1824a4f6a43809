//! Sets of the types that a JSON schema allows.

use serde_json::Value;
use std::ops::{BitAnd, BitOr};

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonTypes(u8);

impl JsonTypes {
    pub(super) const STRING: Self = Self(1);
    pub(super) const NUMBER: Self = Self(2);
    pub(super) const BOOLEAN: Self = Self(4);
    pub(super) const NULL: Self = Self(8);
    pub(super) const OBJECT: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    /// The schema does not restrict the type.
    pub(super) const ANY: Self = Self(63);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn intersects(self, other: Self) -> bool {
        self & other != Self::NONE
    }

    pub(super) fn from_name(name: &Value) -> Self {
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

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::STRING,
            Value::Number(_) => Self::NUMBER,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Null => Self::NULL,
            Value::Object(_) => Self::OBJECT,
            Value::Array(_) => Self::ARRAY,
        }
    }

    /// Intersects with `other`. If the intersection is empty, the schema contradicts itself, and
    /// the earlier restriction wins.
    pub(super) fn narrow(&mut self, other: Self) {
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

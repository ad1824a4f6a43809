//! Finds keys that occur more than once in an object. The parser keeps the last value, so the
//! others would be hidden from the user, or hide a decision of the user.

use super::error::file_name;
use super::json_document::JsonDocument;
use crate::domain::{Banner, BannerCause, Notice};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepeatedKey {
    /// The keys, and the indices from 0, that lead to the object.
    pub path: Vec<String>,
    pub key: String,
}

impl RepeatedKey {
    /// The key at the root that contains the repeated one, or is it.
    pub fn section(&self) -> &str {
        self.path.first().unwrap_or(&self.key)
    }

    /// Replaces the value of the key with one that is invalid wherever text, a list or an object is
    /// expected.
    pub fn invalidate(&self, root: &mut Map<String, Value>) {
        let mut steps = self.path.iter().chain([&self.key]);
        let first = steps.next().and_then(|key| root.get_mut(key));
        let value = steps.try_fold(first, |value, step| match value? {
            Value::Object(object) => Some(object.get_mut(step)),
            Value::Array(items) => Some(items.get_mut(step.parse::<usize>().ok()?)),
            _ => None,
        });
        if let Some(Some(value)) = value {
            *value = Value::Bool(false);
        }
    }
}

impl fmt::Display for RepeatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step}.")?;
        }
        f.write_str(&self.key)
    }
}

/// All repeated keys of valid JSON, each once.
pub(super) fn find_repeated_keys(json: &str) -> Vec<RepeatedKey> {
    let (mut path, mut found) = (Vec::new(), Vec::new());
    let finder = Finder {
        path: &mut path,
        found: &mut found,
    };
    // The text has been parsed before, so there is no error.
    let _ = finder.deserialize(&mut serde_json::Deserializer::from_str(json));
    found
}

/// Names the first repeated key; `None` if there is none.
pub(super) fn repeated_keys_banner(document: &JsonDocument) -> Option<Banner> {
    let repeated = document.repeated_keys();
    let (first, others) = repeated.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let file = file_name(document.path());
    let notice = Notice::warning(format!("{file}: `{first}` occurs twice{more}."))
        .with_reason("Only the last value applies.")
        .with_advice("Remove the others from the file.");
    Some(Banner::new(
        BannerCause::setting(file, first.to_string()),
        notice,
    ))
}

struct Finder<'a> {
    path: &'a mut Vec<String>,
    found: &'a mut Vec<RepeatedKey>,
}

impl Finder<'_> {
    fn step_into(&mut self, step: String) -> Finder<'_> {
        self.path.push(step);
        Finder {
            path: self.path,
            found: self.found,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Finder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                let repeated = RepeatedKey {
                    path: self.path.clone(),
                    key: key.clone(),
                };
                if !self.found.contains(&repeated) {
                    self.found.push(repeated);
                }
            }
            map.next_value_seed(self.step_into(key))?;
            self.path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let item = list.next_element_seed(self.step_into(index.to_string()))?;
            self.path.pop();
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_found_at_any_depth_and_named_once() {
        let json = r#"{
            "a": [1, {"b": "x", "b": null, "b": {"c": 1.5, "c": -1}}],
            "d": {"a": true}, "d": {}
        }"#;
        let found: Vec<String> = find_repeated_keys(json)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["a.1.b", "a.1.b.c", "d"]);
        assert_eq!(
            find_repeated_keys(r#"{"a": {"a": [{"a": 1}, {"a": 2}]}}"#),
            []
        );
        // Escapes are read, as by the parser.
        assert_eq!(find_repeated_keys(r#"{"a": 1, "\u0061": 2}"#).len(), 1);
    }
}

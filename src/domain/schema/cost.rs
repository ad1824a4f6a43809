//! Estimates the number of validator steps without running the validator.
//!
//! A validator visits pairs of a subschema and a value. With references it can visit the
//! same pair many times: thirty definitions, each an `allOf` of two references to the next,
//! cause 2^30 visits. The number of distinct pairs stays small, so the visits are summed
//! over pairs and each pair is counted once.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The step budget of a check. A validator takes about ten million steps per second.
pub const STEPS_MAX: u64 = 1_000_000;
/// The most distinct pairs examined while counting.
const PAIRS_MAX: usize = 200_000;
/// The maximum depth of references and nesting while counting.
const DEPTH_MAX: usize = 256;
/// The prefix of keywords that apply to whatever other keywords left unevaluated.
const UNEVALUATED_PREFIX: &str = "unevaluated";
/// The most patterns compiled for one check.
const PATTERNS_MAX: usize = 500;
/// Bytes of text that a pattern scans per step.
const PATTERN_BYTES_PER_STEP: usize = 16;

/// Whether checking `value` against `schema` is within the budget. False if that is
/// unknown, for example if references lead out of the schema.
pub fn is_affordable(schema: &Value, value: &Value) -> bool {
    let Some(schema) = IndexedSchema::from_root(schema) else {
        return false;
    };
    let mut count = VisitCounter {
        schema: &schema,
        memo: HashMap::new(),
    };
    let steps = count.count_visits(schema.root, value, 0);
    steps.is_some_and(|steps| steps <= STEPS_MAX)
}

/// A schema and the targets of its references.
struct IndexedSchema<'a> {
    root: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
}

/// Keywords that refer to another part of the schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords that give a part its own address; `id` in the oldest drafts.
const IDS: [&str; 2] = ["$id", "id"];

impl<'a> IndexedSchema<'a> {
    /// `None` if the schema is too large, or if the validator might resolve references
    /// differently: a part with its own address changes the meaning of references below it,
    /// and duplicate anchors are ambiguous. Also `None` if `unevaluated*` keywords occur
    /// together with references, because their targets are then compiled repeatedly.
    fn from_root(root: &'a Value) -> Option<Self> {
        let id = root.get("$id").and_then(Value::as_str);
        let mut this = Self {
            root,
            id: id.map(|id| id.trim_end_matches('#')),
            anchors: HashMap::new(),
        };
        let (mut bytes, mut patterns) = (0_usize, 0_usize);
        let (mut refers, mut is_doubtful) = (false, false);
        let mut rest = vec![root];
        while let Some(part) = rest.pop() {
            bytes += 4;
            match part {
                Value::Object(members) => {
                    let is_string = |key: &&str| members.get(*key).is_some_and(Value::is_string);
                    refers |= REFERENCES.iter().any(is_string);
                    is_doubtful |= !std::ptr::eq(part, root) && IDS.iter().any(is_string);
                    is_doubtful |= members
                        .keys()
                        .any(|key| key.starts_with(UNEVALUATED_PREFIX));
                    patterns += usize::from(members.contains_key("pattern"));
                    let keyed = members.get("patternProperties").and_then(Value::as_object);
                    patterns += keyed.map_or(0, Map::len);
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(name) = members.get(key).and_then(Value::as_str) {
                            let known = this.anchors.insert(name, part);
                            if known.is_some_and(|known| !std::ptr::eq(known, part)) {
                                return None;
                            }
                        }
                    }
                    bytes += members.keys().map(|key| key.len() + 4).sum::<usize>();
                    rest.extend(members.values());
                }
                Value::Array(items) => rest.extend(items),
                Value::String(text) => bytes += text.len(),
                _ => {}
            }
            if bytes > super::SCHEMA_BYTES_MAX || patterns > PATTERNS_MAX {
                return None;
            }
        }
        let is_unambiguous = !(refers && is_doubtful);
        is_unambiguous.then_some(this)
    }

    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let own = self
            .id
            .and_then(|id| reference.strip_prefix(id))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'));
        let reference = own.unwrap_or(reference);
        match reference.strip_prefix('#') {
            None if reference.is_empty() => Some(self.root),
            Some("") => Some(self.root),
            Some(pointer) if pointer.starts_with('/') => {
                let pointer = percent_decode_str(pointer).decode_utf8().ok()?;
                self.root.pointer(&pointer)
            }
            Some(anchor) => self.anchors.get(anchor).copied(),
            None => None,
        }
    }
}

struct VisitCounter<'a> {
    schema: &'a IndexedSchema<'a>,
    /// Visits per pair, keyed by both addresses; `None` while still being counted.
    memo: HashMap<(usize, usize), Option<u64>>,
}

impl<'a> VisitCounter<'a> {
    /// The visits needed to check `value` against `schema`. `None` if they cannot be
    /// counted: a reference leads back to the same value or out of the schema.
    fn count_visits(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keywords) = schema else {
            return Some(1);
        };
        let pair = (
            std::ptr::from_ref(schema).addr(),
            std::ptr::from_ref(value).addr(),
        );
        if let Some(known) = self.memo.get(&pair) {
            return *known;
        }
        if depth >= DEPTH_MAX || self.memo.len() >= PAIRS_MAX {
            return None;
        }
        self.memo.insert(pair, None);
        let mut visits = 1 + keywords.len() as u64;
        for (keyword, body) in keywords {
            visits = visits.saturating_add(self.count_keyword(keyword, body, value, depth + 1)?);
        }
        // Finding the unevaluated rest requires evaluating the other keywords again.
        if keywords
            .keys()
            .any(|key| key.starts_with(UNEVALUATED_PREFIX))
        {
            visits = visits.saturating_mul(2);
        }
        self.memo.insert(pair, Some(visits));
        Some(visits)
    }

    fn count_keyword(
        &mut self,
        keyword: &str,
        body: &'a Value,
        value: &Value,
        depth: usize,
    ) -> Option<u64> {
        match (keyword, body, value) {
            (keyword, Value::String(reference), _) if REFERENCES.contains(&keyword) => {
                let target = self.schema.resolve(reference)?;
                self.count_visits(target, value, depth)
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts), _) => {
                self.sum_visits(parts.iter().map(|part| (part, value)), depth)
            }
            ("not" | "if" | "then" | "else", _, _) => self.count_visits(body, value, depth),
            ("dependentSchemas" | "dependencies", Value::Object(parts), _) => {
                self.sum_visits(parts.values().map(|part| (part, value)), depth)
            }
            ("properties", Value::Object(parts), Value::Object(members)) => {
                let pairs = parts
                    .iter()
                    .filter_map(|(name, part)| Some((part, members.get(name)?)));
                self.sum_visits(pairs, depth)
            }
            ("patternProperties", Value::Object(parts), Value::Object(members)) => {
                let read = members.keys().map(|name| pattern_steps(name)).sum::<u64>();
                let pairs = parts
                    .values()
                    .flat_map(|part| members.values().map(move |member| (part, member)));
                let below = self.sum_visits(pairs, depth)?;
                Some(below.saturating_add(read.saturating_mul(parts.len() as u64)))
            }
            ("additionalProperties" | "unevaluatedProperties", _, Value::Object(members)) => {
                self.sum_visits(members.values().map(|member| (body, member)), depth)
            }
            ("propertyNames", _, Value::Object(members)) => {
                let read = members.keys().map(|name| pattern_steps(name)).sum::<u64>();
                let below = self.count_visits(body, &Value::Null, depth)?;
                Some(below.saturating_mul(read))
            }
            ("items" | "prefixItems", Value::Array(parts), Value::Array(items)) => {
                self.sum_visits(parts.iter().zip(items), depth)
            }
            (
                "items" | "additionalItems" | "unevaluatedItems" | "contains",
                _,
                Value::Array(items),
            ) => self.sum_visits(items.iter().map(|item| (body, item)), depth),
            ("pattern", _, Value::String(text)) => Some(pattern_steps(text)),
            ("enum" | "const" | "required" | "dependentRequired", listed, _) => {
                Some(count_values(listed))
            }
            ("uniqueItems", _, Value::Array(_)) => Some(count_values(value)),
            _ => Some(0),
        }
    }

    fn sum_visits<'v>(
        &mut self,
        pairs: impl Iterator<Item = (&'a Value, &'v Value)>,
        depth: usize,
    ) -> Option<u64> {
        let mut sum = 0_u64;
        for (schema, value) in pairs {
            sum = sum.saturating_add(self.count_visits(schema, value, depth)?);
            if sum > STEPS_MAX {
                return None;
            }
        }
        Some(sum)
    }
}

/// The number of nested values, including the value itself.
fn count_values(value: &Value) -> u64 {
    let (mut count, mut rest) = (0, vec![value]);
    while let Some(value) = rest.pop() {
        count += 1;
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.values()),
            _ => {}
        }
    }
    count
}

fn pattern_steps(text: &str) -> u64 {
    1 + (text.len() / PATTERN_BYTES_PER_STEP) as u64
}

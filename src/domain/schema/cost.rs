//! Estimates the number of validator steps without running the validator.
//!
//! A validator visits pairs of a subschema and a value. With references it can visit the
//! same pair many times: thirty definitions, each an `allOf` of two references to the next,
//! cause 2^30 visits. The number of distinct pairs stays small, so the visits that each pair
//! requires are counted only once.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The step budget of a check. A validator takes about ten million steps per second.
pub const STEPS_MAX: u64 = 1_000_000;
/// The maximum number of distinct pairs examined while counting.
const PAIRS_MAX: usize = 200_000;
/// The maximum depth of references and nesting while counting.
const DEPTH_MAX: usize = 256;
/// The prefix of keywords that apply to properties or items not evaluated by other keywords.
const UNEVALUATED_PREFIX: &str = "unevaluated";
/// The maximum number of patterns compiled for one check.
const PATTERNS_MAX: usize = 500;
/// Bytes of text that a pattern scans per step.
const PATTERN_BYTES_PER_STEP: usize = 16;

/// The steps of checking `value` against `schema`, to be compared with [`STEPS_MAX`]. `None` if they
/// cannot be determined, for example if a reference points outside the schema.
pub fn count_steps(schema: &Value, value: &Value) -> Option<u64> {
    let schema = IndexedSchema::from_root(schema)?;
    let mut counter = VisitCounter {
        schema: &schema,
        memo: HashMap::new(),
    };
    counter.count_visits(schema.root, value, 0)
}

struct IndexedSchema<'a> {
    root: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
}

const REFERENCE_KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords that give a subschema its own base URI; the oldest drafts use `id`.
const ID_KEYWORDS: [&str; 2] = ["$id", "id"];

impl<'a> IndexedSchema<'a> {
    /// `None` if the schema is too large, or if the validator might resolve references
    /// differently: a subschema with its own base URI affects the references below it, and
    /// duplicate anchors are ambiguous. Also `None` if `unevaluated*` keywords occur together
    /// with references, because the validator then compiles their targets repeatedly.
    fn from_root(root: &'a Value) -> Option<Self> {
        let id = root.get("$id").and_then(Value::as_str);
        let mut schema = Self {
            root,
            id: id.map(|id| id.trim_end_matches('#')),
            anchors: HashMap::new(),
        };
        let (mut bytes, mut patterns) = (0_usize, 0_usize);
        let (mut has_references, mut conflicts_with_references) = (false, false);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            bytes += 4;
            match node {
                Value::Object(members) => {
                    let is_string = |key: &&str| members.get(*key).is_some_and(Value::is_string);
                    has_references |= REFERENCE_KEYWORDS.iter().any(is_string);
                    conflicts_with_references |=
                        !std::ptr::eq(node, root) && ID_KEYWORDS.iter().any(is_string);
                    conflicts_with_references |= members
                        .keys()
                        .any(|key| key.starts_with(UNEVALUATED_PREFIX));
                    patterns += usize::from(members.contains_key("pattern"));
                    let pattern_properties =
                        members.get("patternProperties").and_then(Value::as_object);
                    patterns += pattern_properties.map_or(0, Map::len);
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(name) = members.get(key).and_then(Value::as_str) {
                            let previous = schema.anchors.insert(name, node);
                            if previous.is_some_and(|previous| !std::ptr::eq(previous, node)) {
                                return None;
                            }
                        }
                    }
                    bytes += members.keys().map(|key| key.len() + 4).sum::<usize>();
                    pending.extend(members.values());
                }
                Value::Array(items) => pending.extend(items),
                Value::String(text) => bytes += text.len(),
                _ => {}
            }
            if bytes > super::SCHEMA_BYTES_MAX || patterns > PATTERNS_MAX {
                return None;
            }
        }
        let is_countable = !(has_references && conflicts_with_references);
        is_countable.then_some(schema)
    }

    /// The target of a reference; `None` if it is missing or outside this schema.
    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let local_reference = self
            .id
            .and_then(|id| reference.strip_prefix(id))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'));
        let reference = local_reference.unwrap_or(reference);
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
    /// Visits per pair, keyed by the addresses of both; `None` while they are being counted.
    memo: HashMap<(usize, usize), Option<u64>>,
}

impl<'a> VisitCounter<'a> {
    /// The visits needed to check `value` against `schema`. `None` if they cannot be
    /// counted: references form a cycle or point outside the schema, or a limit is exceeded.
    fn count_visits(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keywords) = schema else {
            return Some(1);
        };
        let pair = (
            std::ptr::from_ref(schema).addr(),
            std::ptr::from_ref(value).addr(),
        );
        if let Some(visits) = self.memo.get(&pair) {
            return *visits;
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
            (keyword, Value::String(reference), _) if REFERENCE_KEYWORDS.contains(&keyword) => {
                let target = self.schema.resolve(reference)?;
                self.count_visits(target, value, depth)
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(subschemas), _) => {
                self.sum_visits(subschemas.iter().map(|subschema| (subschema, value)), depth)
            }
            ("not" | "if" | "then" | "else", _, _) => self.count_visits(body, value, depth),
            ("dependentSchemas" | "dependencies", Value::Object(subschemas), _) => self.sum_visits(
                subschemas.values().map(|subschema| (subschema, value)),
                depth,
            ),
            ("properties", Value::Object(subschemas), Value::Object(members)) => {
                let pairs = subschemas
                    .iter()
                    .filter_map(|(name, subschema)| Some((subschema, members.get(name)?)));
                self.sum_visits(pairs, depth)
            }
            ("patternProperties", Value::Object(subschemas), Value::Object(members)) => {
                let match_steps = members.keys().map(|name| pattern_steps(name)).sum::<u64>();
                let pairs = subschemas
                    .values()
                    .flat_map(|subschema| members.values().map(move |member| (subschema, member)));
                let member_visits = self.sum_visits(pairs, depth)?;
                Some(
                    member_visits
                        .saturating_add(match_steps.saturating_mul(subschemas.len() as u64)),
                )
            }
            ("additionalProperties" | "unevaluatedProperties", _, Value::Object(members)) => {
                self.sum_visits(members.values().map(|member| (body, member)), depth)
            }
            ("propertyNames", _, Value::Object(members)) => {
                let match_steps = members.keys().map(|name| pattern_steps(name)).sum::<u64>();
                let visits_per_name = self.count_visits(body, &Value::Null, depth)?;
                Some(visits_per_name.saturating_mul(match_steps))
            }
            ("items" | "prefixItems", Value::Array(subschemas), Value::Array(items)) => {
                self.sum_visits(subschemas.iter().zip(items), depth)
            }
            (
                "items" | "additionalItems" | "unevaluatedItems" | "contains",
                _,
                Value::Array(items),
            ) => self.sum_visits(items.iter().map(|item| (body, item)), depth),
            ("pattern", _, Value::String(text)) => Some(pattern_steps(text)),
            ("enum" | "const" | "required" | "dependentRequired", _, _) => Some(count_values(body)),
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

fn count_values(value: &Value) -> u64 {
    let (mut count, mut pending) = (0, vec![value]);
    while let Some(value) = pending.pop() {
        count += 1;
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    count
}

fn pattern_steps(text: &str) -> u64 {
    1 + (text.len() / PATTERN_BYTES_PER_STEP) as u64
}

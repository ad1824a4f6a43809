//! The digits of numbers that parsing would round: finding them in the text that was parsed, and
//! writing them. Digits apply to a place only while its number is the one that they round to.

use crate::text::json_changes::is_changed_by_parsing;
use crate::text::lenient_json::is_literal_char;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Marks digits in strings for drawing. A noncharacter, so no text contains it; if one does, digits
/// are not kept.
pub const DIGITS_MARK: char = '\u{FDD0}';
/// Shorter numbers without an exponent are not rounded.
const EXACT_BYTES_MAX: usize = 15;

/// Digits by JSON pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Digits(BTreeMap<String, String>);

/// The digits of values by their addresses.
pub(super) type DigitsByAddress<'a> = HashMap<usize, &'a str>;

struct Literal<'a> {
    digits: &'a str,
    /// The number that it is read as.
    number: String,
    is_in_string: bool,
}

impl Digits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, digits: &str) -> bool {
        self.0.values().any(|kept| kept == digits)
    }

    pub(super) fn find(members: &Map<String, Value>, text: &str) -> Self {
        let mut digits = Self::default();
        digits.add_found("", members.iter(), text);
        digits
    }

    /// Replaces the digits at and below `pointer` with those of `value`, which was read from `text`.
    pub(super) fn replace(&mut self, pointer: &str, value: &Value, text: &str) {
        let below = format!("{pointer}/");
        self.0
            .retain(|place, _| place != pointer && !place.starts_with(&below));
        let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
        let key = unescaped(key);
        self.add_found(parent, std::iter::once((&key, value)), text);
    }

    /// Assigns literals to numbers in the order of the text, because values have the order in which
    /// they were written. If a literal cannot be assigned, the number is rounded.
    fn add_found<'a>(
        &mut self,
        parent: &str,
        members: impl Iterator<Item = (&'a String, &'a Value)>,
        text: &str,
    ) {
        let literals = literals(text);
        let inexact = literals.iter().filter(|literal| is_inexact(literal.digits));
        let inexact: HashSet<&str> = inexact.map(|literal| literal.number.as_str()).collect();
        if inexact.is_empty() {
            return;
        }
        let mut places: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in members {
            let pointer = format!("{parent}/{}", escaped(key));
            if !collect_places(value, pointer, &inexact, &mut places) {
                return;
            }
        }
        for (number, pointers) in places {
            let same = || literals.iter().filter(|literal| literal.number == number);
            let outside: Vec<_> = same().filter(|literal| !literal.is_in_string).collect();
            let all: Vec<_> = same().collect();
            let first = all.first().map(|literal| literal.digits);
            let assigned: Vec<&str> = if outside.len() == pointers.len() {
                outside.iter().map(|literal| literal.digits).collect()
            } else if all.len() == pointers.len() {
                all.iter().map(|literal| literal.digits).collect()
            } else if all.iter().all(|literal| Some(literal.digits) == first) {
                first.into_iter().cycle().take(pointers.len()).collect()
            } else {
                continue;
            };
            for (pointer, digits) in pointers.into_iter().zip(assigned) {
                if is_inexact(digits) {
                    self.0.insert(pointer, digits.to_owned());
                }
            }
        }
    }

    /// The places to which digits apply.
    fn places<'a>(
        &'a self,
        members: &'a Map<String, Value>,
    ) -> impl Iterator<Item = (&'a str, &'a Value, &'a str)> {
        self.0.iter().filter_map(|(pointer, digits)| {
            let value = value_at(members, pointer)?;
            let applies = value.as_number()?.to_string() == read_number(digits)?;
            applies.then_some((pointer.as_str(), value, digits.as_str()))
        })
    }

    pub(super) fn by_address<'a>(&'a self, members: &'a Map<String, Value>) -> DigitsByAddress<'a> {
        let places = self.places(members);
        places
            .map(|(_, value, digits)| (std::ptr::from_ref(value).addr(), digits))
            .collect()
    }

    pub(super) fn marked(&self, members: &Map<String, Value>) -> Map<String, Value> {
        let mut marked = members.clone();
        for (pointer, _, digits) in self.places(members) {
            if let Some(place) = value_at_mut(&mut marked, pointer) {
                *place = Value::String(format!("{DIGITS_MARK}{digits}"));
            }
        }
        marked
    }
}

/// Collects the places of numbers by number. Returns false if a text contains [`DIGITS_MARK`].
fn collect_places(
    value: &Value,
    pointer: String,
    numbers: &HashSet<&str>,
    places: &mut HashMap<String, Vec<String>>,
) -> bool {
    match value {
        Value::Number(number) => {
            let number = number.to_string();
            if numbers.contains(number.as_str()) {
                places.entry(number).or_default().push(pointer);
            }
            true
        }
        Value::String(text) => !text.contains(DIGITS_MARK),
        Value::Array(items) => items.iter().enumerate().all(|(index, item)| {
            collect_places(item, format!("{pointer}/{index}"), numbers, places)
        }),
        Value::Object(members) => members.iter().all(|(key, member)| {
            let pointer = format!("{pointer}/{}", escaped(key));
            collect_places(member, pointer, numbers, places)
        }),
        Value::Null | Value::Bool(_) => true,
    }
}

/// All JSON numbers in a text of any form, if one of them may be inexact.
fn literals(text: &str) -> Vec<Literal<'_>> {
    let (mut literals, mut is_in_string, mut has_inexact) = (Vec::new(), false, false);
    let mut rest = text;
    while let Some(start) = rest.find(|c| is_literal_char(c) || matches!(c, '"' | '\\')) {
        rest = &rest[start..];
        let length = match rest.as_bytes()[0] {
            b'"' => {
                is_in_string = !is_in_string;
                1
            }
            b'\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            _ => rest.find(|c| !is_literal_char(c)).unwrap_or(rest.len()),
        };
        let (digits, after) = rest.split_at(length);
        rest = after;
        if let Some(number) = read_number(digits) {
            has_inexact |= is_inexact(digits);
            literals.push(Literal {
                digits,
                number,
                is_in_string,
            });
        }
    }
    match has_inexact {
        true => literals,
        false => Vec::new(),
    }
}

fn read_number(digits: &str) -> Option<String> {
    let may_be_number = digits.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let number = may_be_number.then(|| serde_json::from_str::<Number>(digits).ok())?;
    number.map(|number| number.to_string())
}

fn is_inexact(digits: &str) -> bool {
    let may_be_inexact = digits.len() > EXACT_BYTES_MAX || digits.contains(['e', 'E']);
    may_be_inexact && is_changed_by_parsing(digits)
}

pub(super) fn value_at<'a>(members: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let (key, rest) = split_pointer(pointer)?;
    members.get(&key)?.pointer(rest)
}

pub(super) fn value_at_mut<'a>(
    members: &'a mut Map<String, Value>,
    pointer: &str,
) -> Option<&'a mut Value> {
    let (key, rest) = split_pointer(pointer)?;
    members.get_mut(&key)?.pointer_mut(rest)
}

/// The first key of a JSON pointer, and the pointer after it.
fn split_pointer(pointer: &str) -> Option<(String, &str)> {
    let path = pointer.strip_prefix('/')?;
    let (key, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    Some((unescaped(key), rest))
}

pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// A value that is written with its digits.
pub(super) struct ExactValue<'a> {
    pub(super) value: &'a Value,
    pub(super) digits: &'a DigitsByAddress<'a>,
}

impl Serialize for ExactValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(members) => serialize_members(members, self.digits, serializer),
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    let digits = self.digits;
                    list.serialize_element(&Self { value, digits })?;
                }
                list.end()
            }
            value => {
                let address = std::ptr::from_ref(value).addr();
                let digits = self.digits.get(&address);
                match digits.and_then(|digits| serde_json::from_str::<&RawValue>(digits).ok()) {
                    Some(raw) => raw.serialize(serializer),
                    None => value.serialize(serializer),
                }
            }
        }
    }
}

pub(super) fn serialize_members<S: Serializer>(
    members: &Map<String, Value>,
    digits: &DigitsByAddress<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(members.len()))?;
    for (key, value) in members {
        map.serialize_entry(key, &ExactValue { value, digits })?;
    }
    map.end()
}

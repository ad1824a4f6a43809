//! Finds the changes that parsing made to the arguments of a call.

use crate::domain::Arguments;
use crate::text::json_changes::{JsonChange, find_json_changes};
use crate::text::lenient_json;
use serde_json::Value;

/// The changes that parsing made to the JSON in a call's text; none for calls in other forms.
pub(super) fn changes_by_parsing(raw: &str, arguments: &Arguments) -> Vec<JsonChange> {
    let Some(json) = json_of_call(raw, arguments) else {
        return Vec::new();
    };
    let parsed = lenient_json::parse(json).ok();
    let nested = parsed.and_then(|parsed| arguments_in_string(&parsed.value, arguments));
    find_json_changes(std::iter::once(json).chain(nested.as_deref()), |change| {
        arguments.keeps_number(change)
    })
}

fn json_of_call<'a>(raw: &'a str, arguments: &Arguments) -> Option<&'a str> {
    if raw.trim_start().starts_with(['{', '[', '"']) {
        return Some(raw);
    }
    // The JSON follows a name or a tag. In other forms, braces do not enclose the arguments.
    let (start, end) = raw.find('{').zip(raw.rfind('}'))?;
    let json = raw.get(start..=end)?;
    let parsed = lenient_json::parse(json).ok()?;
    let nested = || arguments_in_string(&parsed.value, arguments).is_some();
    (parsed.value.as_object() == Some(&**arguments) || nested()).then_some(json)
}

/// The JSON of arguments that were sent as a string, encoded one or more times.
fn arguments_in_string(value: &Value, arguments: &Arguments) -> Option<String> {
    match value {
        Value::String(text) => {
            let parsed = lenient_json::parse(text).ok()?.value;
            match parsed.as_object() == Some(&**arguments) {
                true => Some(text.clone()),
                false if parsed.is_string() => arguments_in_string(&parsed, arguments),
                false => None,
            }
        }
        Value::Array(items) => items
            .iter()
            .find_map(|item| arguments_in_string(item, arguments)),
        Value::Object(members) if *members != **arguments => {
            let mut members = members.values();
            members.find_map(|member| arguments_in_string(member, arguments))
        }
        _ => None,
    }
}

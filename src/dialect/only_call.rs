//! Recognizes text that consists only of tool calls.

use super::json_call::{is_arguments_key, is_name_key, is_wrapper_key};
use super::scan::{CallScanner, ScanEvent};
use crate::domain::Toolset;
use serde_json::Value;
use std::sync::Arc;

/// Whether the text contains only calls, in any dialect. A call in JSON or in a wrapper may name a
/// tool that does not exist. Takes linear time.
pub fn is_only_calls(text: &str, offered: &Arc<Toolset>) -> bool {
    is_json_call(text) || is_scanned_as_calls(text, offered)
}

fn is_scanned_as_calls(text: &str, offered: &Arc<Toolset>) -> bool {
    let mut scanner = CallScanner::new(Arc::clone(offered));
    let mut events = scanner.push(text);
    events.extend(scanner.finish());
    let is_call =
        |event: &ScanEvent| matches!(event, ScanEvent::Call(_) | ScanEvent::UnusableCall(_));
    let is_text = |event: &ScanEvent| match event {
        ScanEvent::Text(text) => !text.trim().is_empty(),
        _ => false,
    };
    events.iter().any(is_call) && !events.iter().any(is_text)
}

fn is_json_call(text: &str) -> bool {
    let text = text.trim();
    let fenced = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .map(|inner| inner.strip_prefix("json").unwrap_or(inner));
    match serde_json::from_str(fenced.unwrap_or(text)) {
        Ok(Value::Array(items)) => !items.is_empty() && items.iter().all(is_call_object),
        Ok(value) => is_call_object(&value),
        Err(_) => false,
    }
}

/// Whether the object has a tool's name and arguments, or wraps one that does.
fn is_call_object(value: &Value) -> bool {
    let Value::Object(object) = value else {
        return false;
    };
    let has_name = object
        .iter()
        .any(|(key, value)| is_name_key(key) && value.is_string());
    let has_arguments = object.iter().any(|(key, value)| {
        // Some models encode the arguments as a string.
        is_arguments_key(key) && (value.is_object() || value.is_string())
    });
    let wraps_call = object.iter().any(|(key, value)| match value {
        Value::Array(items) => is_wrapper_key(key) && items.iter().any(is_call_object),
        value => is_wrapper_key(key) && is_call_object(value),
    });
    (has_name && has_arguments) || wraps_call
}

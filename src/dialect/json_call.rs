//! Interprets a JSON object as a call: the meaning of its keys, the tool that it names, and the
//! reason if it cannot be run.

use super::scan_event::{ScanEvent, TextCall, UnusableCall};
use crate::domain::toolset::withheld_reason;
use crate::domain::{Arguments, OfferedTool, ToolLookup, Toolset};
use crate::text::lenient_json;
use serde_json::{Map, Value};
use std::fmt::Write;

const NAME_KEYS: [&str; 4] = ["name", "tool_name", "tool", "function"];
const ARGUMENTS_KEYS: [&str; 5] = ["arguments", "parameters", "args", "input", "params"];
const WRAPPER_KEYS: [&str; 4] = ["function", "functionCall", "chooseFunction", "tool_calls"];
/// Other keys that a call may have.
const OTHER_KEYS: [&str; 8] = [
    "server", "reason", "jsonrpc", "method", "params", "id", "type", "index",
];
/// Maximum number of tools or arguments listed in an error message.
const LISTED_MAX: usize = 20;
/// Maximum length of a tool name quoted in an error message.
pub(super) const NAME_CHARS_MAX: usize = 80;
const WRAPPER_DEPTH_MAX: usize = 4;

pub(super) fn is_name_key(key: &str) -> bool {
    NAME_KEYS.contains(&key) || key == "method"
}

pub(super) fn is_arguments_key(key: &str) -> bool {
    ARGUMENTS_KEYS.contains(&key)
}

pub(super) fn is_wrapper_key(key: &str) -> bool {
    WRAPPER_KEYS.contains(&key)
}

/// An object with any other key is not a call.
pub(super) fn is_call_key(key: &str, offered: &Toolset) -> bool {
    NAME_KEYS.contains(&key)
        || ARGUMENTS_KEYS.contains(&key)
        || WRAPPER_KEYS.contains(&key)
        || OTHER_KEYS.contains(&key)
        || key == "tool_call_id"
        || offered.has_tool_named(key)
}

pub(super) struct JsonObject<'a> {
    pub(super) raw: &'a str,
    /// The object names an available tool and has arguments, regardless of other errors.
    pub(super) is_unmistakable: bool,
    /// The object is an array element, so its only key may be the tool name: `[{"f": {…}}]`.
    pub(super) is_array_element: bool,
    /// The object is in a wrapper that always means a call.
    pub(super) is_wrapped: bool,
    /// The form's label in the approval dialog.
    pub(super) form: &'static str,
    pub(super) has_end: bool,
}

/// A call in any form, before its tool is resolved.
pub(super) struct ParsedCall<'a> {
    pub(super) raw: &'a str,
    pub(super) server: Option<String>,
    pub(super) name: &'a str,
    /// `null` or an empty string means no arguments; `Err` is the parse error.
    pub(super) arguments: Result<Value, String>,
    pub(super) form: &'static str,
    pub(super) was_repaired: bool,
    pub(super) has_end: bool,
    /// This is a call even if no tool has that name.
    pub(super) is_unmistakable: bool,
}

/// Resolves the tool name and checks the arguments. Returns `None` if the text is not a call: the
/// name does not identify a tool and the call is not unmistakable.
pub(super) fn resolve_call(call: ParsedCall<'_>, offered: &Toolset) -> Option<ScanEvent> {
    let name: String = call.name.chars().take(NAME_CHARS_MAX).collect();
    let (server, tool) = match offered.resolve(call.server.as_deref(), call.name) {
        ToolLookup::Tool(tool) => (Some(tool.server.clone()), tool),
        // The tool was available earlier, so the model may still remember it.
        ToolLookup::Unknown if offered.is_withheld(call.server.as_deref(), call.name) => {
            return Some(unusable_call(call.raw, withheld_reason(&name)));
        }
        _ if !call.is_unmistakable => return None,
        ToolLookup::Ambiguous(tool) => (None, tool),
        ToolLookup::Unknown => {
            let on_server = match &call.server {
                Some(server) => format!(" on server `{server}`"),
                None => String::new(),
            };
            let available = list_tools(offered);
            let why = format!("there is no tool `{name}`{on_server}; available: {available}");
            return Some(unusable_call(call.raw, why));
        }
    };
    let arguments = call
        .arguments
        .and_then(|value| checked_arguments(value, tool, server.is_some()));
    Some(match arguments {
        Ok((arguments, was_string_repaired)) => ScanEvent::Call(TextCall {
            server,
            tool: tool.tool.name.clone(),
            arguments,
            form: call.form,
            was_repaired: call.was_repaired || was_string_repaired,
            has_end: call.has_end,
            raw: call.raw.to_owned(),
        }),
        Err(why) => unusable_call(call.raw, why),
    })
}

pub(super) fn parse_call(object: &JsonObject<'_>, offered: &Toolset) -> Option<ScanEvent> {
    let parsed = match lenient_json::parse(object.raw) {
        Ok(parsed) => parsed,
        Err(why) if object.is_unmistakable || object.is_wrapped => {
            let why = format!("its JSON cannot be read: {why}");
            return Some(unusable_call(object.raw, why));
        }
        Err(_) => return None,
    };
    let parts = CallParts::find(parsed.value, object.is_array_element, offered)?;
    let resolved = offered.resolve(parts.server.as_deref(), &parts.name);
    let is_unmistakable = match (resolved, &parts.arguments) {
        _ if object.is_wrapped => true,
        (ToolLookup::Ambiguous(_), arguments) => arguments.is_some(),
        (ToolLookup::Unknown, arguments) => arguments.as_ref().is_some_and(may_be_arguments),
        (ToolLookup::Tool(tool), arguments) => {
            // An object with only a name is not a call, unless the tool requires arguments.
            let is_only_name =
                arguments.is_none() && (parts.server.is_none() || object.is_array_element);
            if is_only_name && tool.tool.required_arguments().next().is_none() {
                return None;
            }
            if arguments.as_ref().is_some_and(is_schema) {
                return None;
            }
            true
        }
    };
    let call = ParsedCall {
        raw: object.raw,
        server: parts.server,
        name: &parts.name,
        arguments: Ok(parts.arguments.unwrap_or_default()),
        form: object.form,
        was_repaired: parsed.was_repaired,
        has_end: object.has_end,
        is_unmistakable,
    };
    resolve_call(call, offered)
}

/// Whether the arguments are an input schema, so the object describes a tool.
fn is_schema(arguments: &Value) -> bool {
    arguments.get("type").and_then(Value::as_str) == Some("object")
        && arguments.get("properties").is_some_and(Value::is_object)
}

pub(in crate::dialect) const CUT_OFF: &str = "it was cut off before its end";

pub(super) fn unusable_call(raw: &str, why: impl Into<String>) -> ScanEvent {
    ScanEvent::UnusableCall(UnusableCall {
        raw: raw.to_owned(),
        reason: why.into(),
    })
}

struct CallParts {
    server: Option<String>,
    name: String,
    arguments: Option<Value>,
}

impl CallParts {
    fn find(value: Value, is_array_element: bool, offered: &Toolset) -> Option<Self> {
        let Value::Object(mut map) = value else {
            return None;
        };
        for _ in 0..WRAPPER_DEPTH_MAX {
            match WRAPPER_KEYS
                .iter()
                .find(|key| map.get(**key).is_some_and(Value::is_object))
            {
                Some(key) => {
                    if let Some(Value::Object(inner)) = map.remove(*key) {
                        map = inner;
                    }
                }
                None => break,
            }
        }
        if is_array_element && let Some(parts) = Self::with_name_as_key(&map, offered) {
            return Some(parts);
        }
        let (name_keys, arguments_keys): (&[&str], &[&str]) = if map.contains_key("jsonrpc") {
            (&["method"], &["params"])
        } else {
            (&NAME_KEYS, &ARGUMENTS_KEYS)
        };
        let name = name_keys.iter().find_map(|key| map.get(*key)?.as_str())?;
        if name.is_empty() {
            return None;
        }
        let server = map.get("server").and_then(Value::as_str);
        Some(Self {
            server: server
                .filter(|server| !server.is_empty())
                .map(str::to_owned),
            name: name.to_owned(),
            arguments: arguments_keys.iter().find_map(|key| map.get(*key)).cloned(),
        })
    }

    /// Reads `{"f": {…}}`, where the tool name is the key of the arguments.
    fn with_name_as_key(map: &Map<String, Value>, offered: &Toolset) -> Option<Self> {
        let (name, value) = map.iter().next().filter(|_| map.len() == 1)?;
        let is_tool = matches!(offered.resolve(None, name), ToolLookup::Tool(_));
        (is_tool && value.is_object()).then(|| Self {
            server: None,
            name: name.clone(),
            arguments: Some(value.clone()),
        })
    }
}

fn may_be_arguments(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Null => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    }
}

/// Also returns whether JSON in a string was repaired. Fails if the arguments are not an
/// object, or lack one that `tool` requires. An ambiguous call may mean another tool.
fn checked_arguments(
    value: Value,
    tool: &OfferedTool,
    is_unambiguous: bool,
) -> Result<(Arguments, bool), String> {
    let name = &tool.tool.name;
    let (arguments, was_repaired) = match value {
        Value::Object(arguments) => (arguments.into(), false),
        Value::Null => (Arguments::new(), false),
        Value::String(text) if text.trim().is_empty() => (Arguments::new(), false),
        Value::String(text) => match lenient_json::parse(&text) {
            Ok(lenient_json::LenientValue {
                value: Value::Object(arguments),
                was_repaired,
            }) => (arguments.into(), was_repaired),
            _ => return Err(format!("the arguments of `{name}` must be an object")),
        },
        _ => return Err(format!("the arguments of `{name}` must be an object")),
    };
    let missing: Vec<_> = tool
        .tool
        .required_arguments()
        .filter(|key| is_unambiguous && !arguments.contains_key(*key))
        .take(LISTED_MAX)
        .map(|key| format!("`{key}`"))
        .collect();
    if missing.is_empty() {
        Ok((arguments, was_repaired))
    } else {
        Err(format!(
            "required arguments of `{name}` are missing: {}",
            missing.join(", ")
        ))
    }
}

fn list_tools(offered: &Toolset) -> String {
    let mut list = String::new();
    for (index, tool) in offered.tools().iter().take(LISTED_MAX).enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // Writing into a String cannot fail.
        let _ = write!(list, "{separator}`{}` ({})", tool.tool.name, tool.server);
    }
    let unlisted_count = offered.tools().len().saturating_sub(LISTED_MAX);
    if unlisted_count > 0 {
        let _ = write!(list, " and {unlisted_count} more");
    }
    list
}

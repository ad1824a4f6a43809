//! Reads one JSON object as a call: which keys mean what, which tool it names,
//! and what is wrong with it where it cannot be run (S5.5, DIALECTS A).

use super::scan_event::{ScanEvent, TextCall, UnusableCall};
use crate::domain::toolset::withheld_reason;
use crate::domain::{Arguments, OfferedTool, ToolLookup, Toolset};
use crate::text::lenient_json;
use serde_json::{Map, Value};
use std::fmt::Write;

const NAMES: [&str; 4] = ["name", "tool_name", "tool", "function"];
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "input", "params"];
const WRAPPERS: [&str; 4] = ["function", "functionCall", "chooseFunction", "tool_calls"];
/// Known, and without a meaning of their own here.
const OTHERS: [&str; 8] = [
    "server", "reason", "jsonrpc", "method", "params", "id", "type", "index",
];
/// Tools that a fault lists by name.
const LISTED_MAX: usize = 20;
/// Characters of a name that a fault repeats.
pub(super) const NAME_CHARS_MAX: usize = 80;
/// Wrappers around wrappers.
const WRAPPED_MAX: usize = 4;

pub(super) fn is_name_key(key: &str) -> bool {
    NAMES.contains(&key) || key == "method"
}

pub(super) fn is_arguments_key(key: &str) -> bool {
    ARGUMENTS.contains(&key)
}

pub(super) fn is_wrapper_key(key: &str) -> bool {
    WRAPPERS.contains(&key)
}

/// Whether `key` can stand in a call; with any other, the object is no call (S6.3).
pub(super) fn is_call_key(key: &str, offered: &Toolset) -> bool {
    NAMES.contains(&key)
        || ARGUMENTS.contains(&key)
        || WRAPPERS.contains(&key)
        || OTHERS.contains(&key)
        || key == "tool_call_id"
        || offered.has_tool_named(key)
}

/// An object of the stream, complete.
pub(super) struct JsonObject<'a> {
    pub(super) raw: &'a str,
    /// It names an offered tool and has arguments, whatever else is wrong.
    pub(super) unmistakable: bool,
    /// It stood in an array, where the name may be the key (DIALECTS 9).
    pub(super) is_array_element: bool,
    /// It stands in a wrapper that means a call.
    pub(super) is_tagged: bool,
    /// As the dialog labels it.
    pub(super) form: &'static str,
    pub(super) is_terminated: bool,
}

/// A call as it was written, whatever the form.
pub(super) struct ParsedCall<'a> {
    pub(super) raw: &'a str,
    pub(super) server: Option<String>,
    pub(super) name: &'a str,
    /// Null and an empty string stand for none; Err says why they cannot be read.
    pub(super) arguments: Result<Value, String>,
    pub(super) form: &'static str,
    pub(super) was_repaired: bool,
    pub(super) is_terminated: bool,
    /// Its form leaves no doubt that it is a call, whatever it names.
    pub(super) unmistakable: bool,
}

/// Resolves the name and makes of it a call, or one that cannot be used (S5.5). None
/// where it is text: what it names is not on offer, and its form is not unmistakable.
pub(super) fn resolve_call(written: ParsedCall<'_>, offered: &Toolset) -> Option<ScanEvent> {
    let name: String = written.name.chars().take(NAME_CHARS_MAX).collect();
    let tool = match offered.resolve(written.server.as_deref(), written.name) {
        ToolLookup::Tool(tool) => tool,
        // Its name was on offer: the model may well know it still.
        ToolLookup::Unknown if offered.is_withheld(written.server.as_deref(), written.name) => {
            return Some(unusable_call(written.raw, withheld_reason(&name)));
        }
        _ if !written.unmistakable => return None,
        ToolLookup::Ambiguous => {
            let why = format!("several servers have a tool `{name}`: name one with \"server\"");
            return Some(unusable_call(written.raw, why));
        }
        ToolLookup::Unknown => {
            let of_server = match &written.server {
                Some(server) => format!(" on a server `{server}`"),
                None => String::new(),
            };
            let list = list_tools(offered);
            let why = format!("there is no tool `{name}`{of_server}; on offer: {list}");
            return Some(unusable_call(written.raw, why));
        }
    };
    let arguments = written
        .arguments
        .and_then(|value| arguments(Some(value), tool));
    Some(match arguments {
        Ok((arguments, also_repaired)) => ScanEvent::Call(TextCall {
            server: tool.server.clone(),
            tool: tool.tool.name.clone(),
            arguments,
            form: written.form,
            was_repaired: written.was_repaired || also_repaired,
            is_terminated: written.is_terminated,
            raw: written.raw.to_owned(),
        }),
        Err(why) => unusable_call(written.raw, why),
    })
}

/// None where the object is not a call.
pub(super) fn parse_call(object: &JsonObject<'_>, offered: &Toolset) -> Option<ScanEvent> {
    let parsed = match lenient_json::parse(object.raw) {
        Ok(parsed) => parsed,
        Err(why) if object.unmistakable || object.is_tagged => {
            let why = format!("its JSON cannot be read: {why}");
            return Some(unusable_call(object.raw, why));
        }
        Err(_) => return None,
    };
    let parts = CallParts::find(parsed.value, object.is_array_element, offered)?;
    let resolved = offered.resolve(parts.server.as_deref(), &parts.name);
    let unmistakable = match (resolved, &parts.arguments) {
        _ if object.is_tagged => true,
        (ToolLookup::Ambiguous, arguments) => arguments.is_some(),
        (ToolLookup::Unknown, arguments) => arguments.as_ref().is_some_and(may_be_arguments),
        (ToolLookup::Tool(tool), arguments) => {
            // An object that only happens to have a name is not a call (S6.4).
            let bare = arguments.is_none() && (parts.server.is_none() || object.is_array_element);
            if bare && tool.tool.required_arguments().next().is_none() {
                return None;
            }
            if arguments.as_ref().is_some_and(is_definition) {
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
        is_terminated: object.is_terminated,
        unmistakable,
    };
    resolve_call(call, offered)
}

/// Whether it is the schema of a tool that is being talked about, not its arguments.
fn is_definition(arguments: &Value) -> bool {
    arguments.get("type").and_then(Value::as_str) == Some("object")
        && arguments.get("properties").is_some_and(Value::is_object)
}

/// Why a call without its end is not run.
pub(in crate::dialect) const CUT_OFF: &str = "it was cut off before its end";

pub(super) fn unusable_call(raw: &str, why: impl Into<String>) -> ScanEvent {
    ScanEvent::UnusableCall(UnusableCall {
        raw: raw.to_owned(),
        reason: why.into(),
    })
}

/// The parts of a call in JSON.
struct CallParts {
    server: Option<String>,
    name: String,
    arguments: Option<Value>,
}

impl CallParts {
    fn find(value: Value, element: bool, offered: &Toolset) -> Option<Self> {
        let Value::Object(mut map) = value else {
            return None;
        };
        for _ in 0..WRAPPED_MAX {
            match WRAPPERS
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
        if element && let Some(keyed) = Self::from_name_key(&mut map, offered) {
            return Some(keyed);
        }
        let (names, arguments): (&[&str], &[&str]) = if map.contains_key("jsonrpc") {
            (&["method"], &["params"])
        } else {
            (&NAMES, &ARGUMENTS)
        };
        let name = names.iter().find_map(|key| map.get(*key)?.as_str())?;
        if name.is_empty() {
            return None;
        }
        let server = map.get("server").and_then(Value::as_str);
        Some(Self {
            server: server
                .filter(|server| !server.is_empty())
                .map(str::to_owned),
            name: name.to_owned(),
            arguments: arguments.iter().find_map(|key| map.get(*key)).cloned(),
        })
    }

    /// `{"f": {…}}`.
    fn from_name_key(map: &mut Map<String, Value>, offered: &Toolset) -> Option<Self> {
        let (name, value) = map.iter().next().filter(|_| map.len() == 1)?;
        let named = matches!(offered.resolve(None, name), ToolLookup::Tool(_)) && value.is_object();
        named.then(|| Self {
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

/// The arguments as an object that has what `tool` requires, and whether JSON in
/// a string had to be repaired (DIALECTS 10).
fn arguments(written: Option<Value>, tool: &OfferedTool) -> Result<(Arguments, bool), String> {
    let name = &tool.tool.name;
    let (arguments, repaired) = match written.unwrap_or_default() {
        Value::Object(arguments) => (arguments, false),
        Value::Null => (Arguments::new(), false),
        Value::String(text) if text.trim().is_empty() => (Arguments::new(), false),
        Value::String(text) => match lenient_json::parse(&text) {
            Ok(lenient_json::LenientValue {
                value: Value::Object(arguments),
                was_repaired: repaired,
            }) => (arguments, repaired),
            _ => return Err(format!("the arguments of `{name}` must be an object")),
        },
        _ => return Err(format!("the arguments of `{name}` must be an object")),
    };
    let missing: Vec<_> = tool
        .tool
        .required_arguments()
        .filter(|key| !arguments.contains_key(*key))
        .take(LISTED_MAX)
        .map(|key| format!("`{key}`"))
        .collect();
    if missing.is_empty() {
        Ok((arguments, repaired))
    } else {
        Err(format!(
            "`{name}` needs {}, which is missing",
            missing.join(", ")
        ))
    }
}

/// The tools by name, as many as one sentence can hold.
fn list_tools(offered: &Toolset) -> String {
    let mut list = String::new();
    for (number, tool) in offered.tools().iter().take(LISTED_MAX).enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(list, "{comma}`{}` ({})", tool.tool.name, tool.server);
    }
    let more = offered.tools().len().saturating_sub(LISTED_MAX);
    if more > 0 {
        let _ = write!(list, " and {more} more");
    }
    list
}

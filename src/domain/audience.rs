//! For whom a server says that its tools and the parts of its results are.

use serde_json::Value;

/// Whether the model may see this part of a result: it names no audience (`annotations.audience`),
/// or `assistant` belongs to it.
pub fn is_part_for_model(part: &Value) -> bool {
    names_or_leaves_open(part.pointer("/annotations/audience"), "assistant")
}

/// Whether the model may call the tool with this definition, rather than only the server's own user
/// interface (`_meta.ui.visibility`).
pub fn is_tool_for_model(definition: &Value) -> bool {
    names_or_leaves_open(definition.pointer("/_meta/ui/visibility"), "model")
}

/// Anything but a list is ignored.
fn names_or_leaves_open(list: Option<&Value>, wanted: &str) -> bool {
    let list = list.and_then(Value::as_array);
    list.is_none_or(|list| list.iter().any(|name| name == wanted))
}

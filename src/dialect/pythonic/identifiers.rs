//! Tool names in Python syntax.

use crate::domain::{ToolLookup, Toolset};

/// Namespaces that models put before tool names.
const NAMESPACES: [&str; 3] = ["default_api.", "functions.", "tools."];

/// Strips a namespace and `.call` from a tool name: `default_api.f` and `f.call` mean `f`, unless a
/// tool has exactly the written name.
pub(in crate::dialect) fn tool_name<'a>(written: &'a str, offered: &Toolset) -> &'a str {
    let without_namespace = NAMESPACES
        .iter()
        .find_map(|namespace| written.strip_prefix(namespace))
        .unwrap_or(written);
    let without_call = without_namespace
        .strip_suffix(".call")
        .unwrap_or(without_namespace);
    [written, without_namespace, without_call]
        .into_iter()
        .find(|name| offered.resolve(None, name) != ToolLookup::Unknown)
        .unwrap_or(without_call)
}

/// Whether `prefix` may be the beginning of an available tool's name, with or without a namespace.
pub(super) fn could_name_tool(prefix: &str, offered: &Toolset) -> bool {
    if NAMESPACES
        .iter()
        .any(|namespace| namespace.starts_with(prefix))
    {
        return true;
    }
    let without_namespace = NAMESPACES
        .iter()
        .find_map(|namespace| prefix.strip_prefix(namespace));
    offered.may_be_name_prefix(without_namespace.unwrap_or(prefix))
}

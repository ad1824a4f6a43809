//! Tool names in Python syntax.

use crate::domain::{ToolLookup, Toolset};

/// Namespaces that models put before tool names.
const MODULES: [&str; 3] = ["default_api.", "functions.", "tools."];
/// Strips the Python decoration from a tool name: `default_api.f` and `f.call` mean `f`, unless a
/// tool has that exact name.
pub(in crate::dialect) fn tool_name<'a>(written: &'a str, offered: &Toolset) -> &'a str {
    let plain = MODULES
        .iter()
        .find_map(|module| written.strip_prefix(module))
        .unwrap_or(written);
    let uncalled = plain.strip_suffix(".call").unwrap_or(plain);
    [written, plain, uncalled]
        .into_iter()
        .find(|name| offered.resolve(None, name) != ToolLookup::Unknown)
        .unwrap_or(uncalled)
}

/// Whether `part` may be the beginning of an available tool's name in any spelling.
pub(super) fn could_name_tool(part: &str, offered: &Toolset) -> bool {
    if MODULES.iter().any(|module| module.starts_with(part)) {
        return true;
    }
    let plain = MODULES.iter().find_map(|module| part.strip_prefix(module));
    let part = plain.unwrap_or(part);
    offered.may_be_name_prefix(part)
}

//! The names of tools as Python writes them.

use crate::domain::{ToolLookup, Toolset};

/// Namespaces that models put before the names of tools.
const MODULES: [&str; 3] = ["default_api.", "functions.", "tools."];
/// A written name without what Python puts around the name of a tool:
/// `default_api.f` and `f.call` are `f` where no tool is called so.
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

/// Whether a name that begins with `part` may be an offered tool's, in any way of
/// writing it.
pub(super) fn could_name_tool(part: &str, offered: &Toolset) -> bool {
    if MODULES.iter().any(|module| module.starts_with(part)) {
        return true;
    }
    let plain = MODULES.iter().find_map(|module| part.strip_prefix(module));
    let part = plain.unwrap_or(part);
    offered.may_be_name_prefix(part)
}

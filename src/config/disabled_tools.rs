//! Works out which tools of a server are disabled: from `toolsOff` and, for the built-in server,
//! also from `toolsOn` and the defaults. Warns about names that no built-in tool has.

use super::error::file_name;
use super::fields::{self, ConfigObject, FieldError};
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use super::server_entries::ServerEntry;
use super::servers::BUILT_IN_SERVER;
use crate::domain::built_in::{BUILT_IN_TOOLS, FETCH_TOOL};
use crate::domain::{Banner, BannerCause, Notice};

pub(super) const TOOLS_OFF: &str = "toolsOff";
pub(super) const TOOLS_ON: &str = "toolsOn";
/// Built-in tools that are off in the chat if `toolsOff` is absent and `toolsOn` does not name them.
const DISABLED_BY_DEFAULT: [&str; 4] = ["ollama_chat", "say_hello", "get_cat_fact", FETCH_TOOL];

/// The disabled tools of an entry. The built-in [`FETCH_TOOL`] reaches any web page, so it is off
/// unless `toolsOn` names it: a `toolsOff` written by hand must not switch it on by omission.
///
/// # Errors
/// A list has the wrong type.
pub(super) fn disabled_tools(id: &str, entry: &ConfigObject) -> Result<Vec<String>, FieldError> {
    let off = fields::text_list(entry, "toolsOff")?;
    if id != BUILT_IN_SERVER {
        return Ok(off.unwrap_or_default());
    }
    let on = fields::text_list(entry, "toolsOn")?.unwrap_or_default();
    let mut disabled = match off {
        Some(off) => off,
        None => names_without(&DISABLED_BY_DEFAULT, &on),
    };
    let is_fetch_off = !on.iter().any(|name| name == FETCH_TOOL);
    if is_fetch_off && !disabled.iter().any(|name| name == FETCH_TOOL) {
        disabled.push(FETCH_TOOL.to_owned());
    }
    Ok(disabled)
}

fn names_without(names: &[&str], excluded: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    kept.retain(|name| !excluded.contains(name));
    kept
}

/// The value of `toolsOn` after `tool` is switched on or off. Switching also writes `toolsOff`, and then
/// [`FETCH_TOOL`] is the only tool that `toolsOn` has to name. `None` if the list does not change.
pub(super) fn changed_tools_on(
    id: &str,
    entry: &ConfigObject,
    tool: &str,
    is_enabled: bool,
) -> Result<Option<Vec<String>>, FieldError> {
    if id != BUILT_IN_SERVER {
        return Ok(None);
    }
    let before = fields::text_list(entry, "toolsOn")?.unwrap_or_default();
    let mut on = before.clone();
    on.retain(|name| name != tool);
    if is_enabled && tool == FETCH_TOOL {
        on.push(tool.to_owned());
    }
    Ok((on != before).then_some(on))
}

/// A warning for each name in the lists of the built-in server that no built-in tool has.
pub(super) fn unknown_tool_banners(
    document: &JsonDocument,
    entries: &[ServerEntry<'_>],
) -> Vec<Banner> {
    let Some(entry) = entries.iter().rfind(|entry| entry.id == BUILT_IN_SERVER) else {
        return Vec::new();
    };
    let Some(fields_of_entry) = entry.value.as_object() else {
        return Vec::new();
    };
    let mut banners = Vec::new();
    for key in [TOOLS_OFF, TOOLS_ON] {
        // A list of the wrong type makes the whole server misconfigured.
        let names = fields::text_list(fields_of_entry, key).unwrap_or_default();
        let names = names.unwrap_or_default();
        let mut steps = entry.location.steps(&entry.id);
        steps.push(PathStep::Key(key));
        for name in names
            .iter()
            .filter(|name| !BUILT_IN_TOOLS.contains(&name.as_str()))
        {
            let (path, line) = (document.path(), document.line_of(&steps));
            let name = fields::start_to_quote(name);
            let message = format!(
                "{}, line {line}: server `{BUILT_IN_SERVER}`, `{key}`: there is no tool `{name}`.",
                path.display()
            );
            let known = format!("Its tools are {}.", BUILT_IN_TOOLS.join(", "));
            let cause = BannerCause::setting(file_name(path), format!("{BUILT_IN_SERVER}.{key}"));
            banners.push(Banner::new(
                cause,
                Notice::warning(message).with_reason(known),
            ));
        }
    }
    banners
}

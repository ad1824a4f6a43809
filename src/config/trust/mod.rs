//! `trust.json`: the user's permanent decisions about tools and servers. Unreadable entries
//! grant nothing and stay in the file; a rewrite changes only the affected entries.

mod json;
mod update;
mod write_queue;

pub use update::update_trust;
pub use write_queue::TrustQueue;

use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use super::{ConfigError, Home, Loaded};
use crate::domain::trust::{
    AcceptedDefinition, EvictedPins, InstructionsConsent, TrustRule, UnreadableEntries,
};
use crate::domain::{Banner, BannerCause, LaunchId, Notice, Pin, ServerId, Trust};
use serde_json::{Map, Value, json};
use std::path::Path;

const GRANTS: &str = "grants";
const PINS: &str = "pins";
const INSTRUCTIONS: &str = "instructions";
/// Maximum number of entries read from `grants`.
const RULES_MAX: usize = 10_000;

/// One edit of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum TrustEdit {
    AddRule(TrustRule),
    RemoveRule(TrustRule),
    /// Records a definition on first sight. Keeps an existing one.
    RecordFirstSeen(PinnedTool),
    /// Records a definition that the user accepted.
    AcceptDefinition(PinnedTool),
    /// Withholds the tool while it has this definition.
    DeclineDefinition {
        pinned: PinnedTool,
        pin: Pin,
    },
    /// Removes definitions of a server that exceeds the limit.
    EvictPins(ServerId, EvictedPins),
    AllowInstructions(InstructionsConsent),
    RevokeInstructions(InstructionsConsent),
}

/// A tool with its accepted definition.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedTool {
    pub server: ServerId,
    pub launch: LaunchId,
    pub tool: String,
    pub accepted: AcceptedDefinition,
}

/// Reads `trust.json`. A missing file contains no decisions.
pub fn read_trust(home: &Home) -> Loaded<Trust> {
    let path = home.trust();
    match JsonDocument::read(&path) {
        Ok(None) => Loaded::default(),
        Ok(Some(document)) => parse_trust(&path, &document),
        Err(fault) => Loaded {
            value: unreadable_trust(),
            banners: vec![unreadable_banner(&fault)],
            is_unusable: true,
        },
    }
}

fn unreadable_trust() -> Trust {
    let mut trust = Trust::default();
    trust.unreadable.is_file_unreadable = true;
    trust
}

/// The consequence of a file that exists at start but cannot be read.
const UNREADABLE_REASON: &str =
    "Until it is repaired, every call asks, and changed tools are not detected.";

fn unreadable_banner(fault: &ConfigError) -> Banner {
    let mut banner = fault.banner();
    banner.cause = BannerCause::UnreadableTrust;
    banner.notice.why = Some(UNREADABLE_REASON.to_owned());
    banner
}

fn parse_trust(path: &Path, document: &JsonDocument) -> Loaded<Trust> {
    let root = document.root();
    let mut faults = Vec::new();
    let mut trust = Trust::default();
    let grants = list_field(root, GRANTS, &mut faults);
    if grants.len() > RULES_MAX {
        faults.push(format!("`{GRANTS}` has more than {RULES_MAX} entries"));
    }
    trust.unreadable.has_rule_without_server = root
        .get(GRANTS)
        .is_some_and(|grants| !grants.is_null() && !grants.is_array());
    // The limit does not apply to blocks.
    for (index, value) in grants.iter().enumerate() {
        match json::rule_from_json(value) {
            Ok(rule) if index < RULES_MAX || rule.is_blocking() => trust.rules.push(rule),
            Ok(_) => {}
            Err(why) => {
                let steps = [PathStep::Key(GRANTS), PathStep::Index(index)];
                faults.push(format!("line {}, {why}", document.line_of(&steps)));
                let named = |key: &str| value.get(key).and_then(Value::as_str);
                trust.unreadable.add_rule(named("server"), named("tool"));
            }
        }
    }
    for (index, value) in list_field(root, INSTRUCTIONS, &mut faults)
        .iter()
        .enumerate()
    {
        match json::consent_from_json(value) {
            Ok(agreed) => trust.instruction_consents.push(agreed),
            Err(why) => {
                let steps = [PathStep::Key(INSTRUCTIONS), PathStep::Index(index)];
                faults.push(format!("line {}, {why}", document.line_of(&steps)));
            }
        }
    }
    for (server, launch, tool, value) in pin_entries(root, &mut faults, &mut trust.unreadable) {
        match json::accepted_from_json(value) {
            Ok(accepted) => trust.accept(&server, &launch, tool, accepted),
            Err(why) => {
                faults.push(format!("the definition of `{tool}` of `{server}`: {why}"));
                trust.accept(&server, &launch, tool, AcceptedDefinition::unknown());
            }
        }
    }
    Loaded {
        value: trust,
        banners: invalid_entries_banner(path, &faults).into_iter().collect(),
        is_unusable: false,
    }
}

fn list_field<'a>(
    root: &'a Map<String, Value>,
    key: &str,
    faults: &mut Vec<String>,
) -> &'a [Value] {
    match root.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            faults.push(format!(
                "`{key}` is {}, expected a list",
                type_description(other)
            ));
            &[]
        }
    }
}

/// All entries of `pins`, which are keyed by server, launch identity and tool.
fn pin_entries<'a>(
    root: &'a Map<String, Value>,
    faults: &mut Vec<String>,
    doubt: &mut UnreadableEntries,
) -> Vec<(ServerId, LaunchId, &'a str, &'a Value)> {
    let mut found = Vec::new();
    let Some(pins) = root.get(PINS).filter(|pins| !pins.is_null()) else {
        return found;
    };
    let Value::Object(servers) = pins else {
        faults.push(format!(
            "`{PINS}` is {}, expected an object",
            type_description(pins)
        ));
        doubt.are_all_pins_lost = true;
        return found;
    };
    for (server, launches) in servers {
        let mut check_object = |value: &Value| {
            if !value.is_null() && !value.is_object() {
                let found = type_description(value);
                faults.push(format!(
                    "`{PINS}` of `{server}` contains {found}, expected an object"
                ));
                doubt.servers_with_lost_pins.insert(ServerId::new(server));
            }
        };
        check_object(launches);
        let launches = launches.as_object().into_iter().flatten();
        for (launch, tools) in launches {
            check_object(tools);
            let tools = tools.as_object().into_iter().flatten();
            found.extend(tools.map(|(tool, value)| {
                let (server, launch) = (ServerId::new(server), LaunchId::from_hash(launch));
                (server, launch, tool.as_str(), value)
            }));
        }
    }
    found
}

/// One banner for all unreadable entries.
fn invalid_entries_banner(path: &Path, faults: &[String]) -> Option<Banner> {
    let (first, more) = faults.split_first()?;
    let others = match more.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let name = super::error::file_name(path);
    let notice = Notice::warning(format!("{name}: {first}{others}."))
        .with_reason(
            "Unreadable entries allow nothing: their tools ask or are withheld. The rest applies.",
        )
        .with_advice("Correct or remove them in the file.");
    Some(Banner::new(BannerCause::setting(name, ""), notice))
}

#[cfg(test)]
mod tests;

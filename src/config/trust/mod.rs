//! `trust.json`: the user's permanent decisions about tools and servers. Unreadable entries
//! grant nothing and stay in the file; a rewrite changes only the affected entries.

mod json;
mod restore;
mod update;
mod write_queue;

pub use restore::restoring_edits;
pub use update::update_trust;
pub use write_queue::TrustQueue;

use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use super::rejected_edits::RejectedEdit;
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
/// Of the entries of `grants` beyond this number, only blocking rules are read.
const RULES_MAX: usize = 10_000;

/// One edit to the file.
#[derive(Debug, Clone, PartialEq)]
pub enum TrustEdit {
    AddRule(TrustRule),
    RemoveRule(TrustRule),
    /// Records a definition on first sight. Keeps an existing one.
    RecordFirstSeen(PinnedTool),
    AcceptDefinition(PinnedTool),
    /// Withholds the tool while its definition has this pin.
    DeclineDefinition {
        pinned: PinnedTool,
        pin: Pin,
    },
    /// Removes definitions of a server that exceeds the limit.
    EvictPins(ServerId, EvictedPins),
    AllowInstructions(InstructionsConsent),
    RevokeInstructions(InstructionsConsent),
    /// Records changes of settings files that the user rejected.
    RejectEdits(Vec<RejectedEdit>),
    /// Removes such records, because the user accepted the changes.
    AcceptEdits(Vec<RejectedEdit>),
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
        Err(error) => Loaded {
            value: unreadable_trust(),
            banners: vec![unreadable_banner(&error)],
            is_unusable: true,
        },
    }
}

fn unreadable_trust() -> Trust {
    let mut trust = Trust::default();
    trust.unreadable.is_file_unreadable = true;
    trust
}

const UNREADABLE_CONSEQUENCE: &str =
    "Until it is repaired, every call needs your approval, and changed tools are not detected.";

fn unreadable_banner(error: &ConfigError) -> Banner {
    let mut banner = error.banner();
    banner.cause = BannerCause::UnreadableTrust;
    banner.notice.why = Some(UNREADABLE_CONSEQUENCE.to_owned());
    banner
}

fn parse_trust(path: &Path, document: &JsonDocument) -> Loaded<Trust> {
    let mut problems = Vec::new();
    let mut trust = Trust::default();
    let root = &root_without_repeated_keys(document, &mut problems);
    let grants = list_field(root, GRANTS, &mut problems);
    if grants.len() > RULES_MAX {
        problems.push(format!("`{GRANTS}` has more than {RULES_MAX} entries"));
    }
    trust.unreadable.has_rule_without_server = root
        .get(GRANTS)
        .is_some_and(|grants| !grants.is_null() && !grants.is_array());
    // Blocking rules are read even beyond the limit.
    for (index, value) in grants.iter().enumerate() {
        match json::rule_from_json(value) {
            Ok(rule) if index < RULES_MAX || rule.is_blocking() => trust.rules.push(rule),
            Ok(_) => {}
            Err(why) => {
                let steps = [PathStep::Key(GRANTS), PathStep::Index(index)];
                problems.push(format!("line {}, {why}", document.line_of(&steps)));
                let name = |key: &str| value.get(key).and_then(Value::as_str);
                trust.unreadable.add_rule(name("server"), name("tool"));
            }
        }
    }
    for (index, value) in list_field(root, INSTRUCTIONS, &mut problems)
        .iter()
        .enumerate()
    {
        match json::consent_from_json(value) {
            Ok(consent) => trust.instruction_consents.push(consent),
            Err(why) => {
                let steps = [PathStep::Key(INSTRUCTIONS), PathStep::Index(index)];
                problems.push(format!("line {}, {why}", document.line_of(&steps)));
            }
        }
    }
    for (server, launch, tool, value) in pin_entries(root, &mut problems, &mut trust.unreadable) {
        match json::accepted_from_json(value) {
            Ok(accepted) => trust.record_pin(&server, &launch, tool, accepted),
            Err(why) => {
                problems.push(format!("the definition of `{tool}` of `{server}`: {why}"));
                trust.record_pin(&server, &launch, tool, AcceptedDefinition::unknown());
            }
        }
    }
    Loaded {
        value: trust,
        banners: invalid_entries_banner(path, &problems)
            .into_iter()
            .collect(),
        is_unusable: false,
    }
}

/// The root, in which each repeated key has an invalid value, because the last one could hide a
/// decision.
fn root_without_repeated_keys(
    document: &JsonDocument,
    problems: &mut Vec<String>,
) -> Map<String, Value> {
    let mut root = document.root().clone();
    for repeated in document.repeated_keys() {
        problems.push(format!("`{repeated}` occurs twice"));
        repeated.invalidate(&mut root);
    }
    root
}

fn list_field<'a>(
    root: &'a Map<String, Value>,
    key: &str,
    problems: &mut Vec<String>,
) -> &'a [Value] {
    match root.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            problems.push(format!(
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
    problems: &mut Vec<String>,
    unreadable: &mut UnreadableEntries,
) -> Vec<(ServerId, LaunchId, &'a str, &'a Value)> {
    let mut entries = Vec::new();
    let Some(pins) = root.get(PINS).filter(|pins| !pins.is_null()) else {
        return entries;
    };
    let Value::Object(servers) = pins else {
        problems.push(format!(
            "`{PINS}` is {}, expected an object",
            type_description(pins)
        ));
        unreadable.are_all_pins_lost = true;
        return entries;
    };
    for (server, launches) in servers {
        let mut check_object = |value: &Value| {
            if !value.is_null() && !value.is_object() {
                let actual_type = type_description(value);
                problems.push(format!(
                    "`{PINS}` of `{server}` contains {actual_type}, expected an object"
                ));
                unreadable
                    .servers_with_lost_pins
                    .insert(ServerId::new(server));
            }
        };
        check_object(launches);
        let launches = launches.as_object().into_iter().flatten();
        for (launch, tools) in launches {
            check_object(tools);
            let tools = tools.as_object().into_iter().flatten();
            entries.extend(tools.map(|(tool, value)| {
                let (server, launch) = (ServerId::new(server), LaunchId::from_hash(launch));
                (server, launch, tool.as_str(), value)
            }));
        }
    }
    entries
}

fn invalid_entries_banner(path: &Path, problems: &[String]) -> Option<Banner> {
    let (first, others) = problems.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let name = super::error::file_name(path);
    let notice = Notice::warning(format!("{name}: {first}{more}."))
        .with_reason(
            "Unreadable entries allow nothing: their tools need your approval or are withheld. \
             All other entries apply.",
        )
        .with_advice("Correct or remove them in the file.");
    Some(Banner::new(BannerCause::setting(name, ""), notice))
}

#[cfg(test)]
mod tests;

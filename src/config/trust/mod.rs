//! `trust.json`: the user's permanent decisions about tools and servers. Unreadable entries
//! grant nothing and stay in the file; a rewrite changes only the affected entries.

mod json;
mod write_queue;

pub use write_queue::TrustQueue;

use super::json_document::{BYTES_MAX, JsonDocument, type_description};
use super::json_edit::PathStep;
use super::{ConfigError, Home, Loaded};
use crate::domain::trust::{
    AcceptedDefinition, EvictedPins, InstructionsConsent, TrustRule, UnreadableEntries,
};
use crate::domain::{Banner, BannerCause, LaunchId, Notice, Pin, ServerId, Trust};
use crate::files::{self, UpdateError};
use serde_json::{Map, Value, json};
use std::path::Path;

const GRANTS: &str = "grants";
const PINS: &str = "pins";
const INSTRUCTIONS: &str = "instructions";
/// Maximum number of entries read from `grants`.
const RULES_MAX: usize = 10_000;
/// A longer definition is stored only by its hash.
const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// A larger file gets no more definitions, only their hashes.
const FILE_BYTES_WITH_DEFINITIONS_MAX: usize = 8 * 1024 * 1024;

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

/// Edits the file under its lock. Entries of other programs are kept.
///
/// # Errors
/// The file cannot be read, parsed or written. It is unchanged then.
pub fn update_trust(home: &Home, edits: &[TrustEdit]) -> Result<(), ConfigError> {
    let path = home.trust();
    let written = files::update(&path, files::PRIVATE_MODE, BYTES_MAX, |current| {
        let is_full = current
            .as_ref()
            .is_some_and(|bytes| bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX);
        let document = match &current {
            Some(bytes) => JsonDocument::parse(&path, bytes.clone())?,
            None => JsonDocument::empty(&path),
        };
        let bytes = match edited_file(&path, &document, edits, is_full)? {
            // The new definitions exceed the size limit, so store only their hashes.
            Some(bytes) if bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX && !is_full => {
                edited_file(&path, &document, edits, true)?
            }
            bytes => bytes,
        };
        match bytes {
            None => Ok(current.unwrap_or_else(|| document.into_bytes())),
            // A file that is too large to read again would lose every decision.
            Some(bytes) if bytes.len() as u64 > BYTES_MAX => Err(ConfigError::TooLarge {
                path: path.clone(),
                megabytes: BYTES_MAX >> 20,
            }),
            Some(bytes) => Ok(bytes),
        }
    });
    written.map_err(|fault| match fault {
        UpdateError::Refused(fault) => fault,
        UpdateError::Read(fault) => ConfigError::from_read_error(&path, &fault),
        UpdateError::Write(fault) => ConfigError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&fault),
        },
    })
}

/// The file after `edits`. None if they change nothing.
fn edited_file(
    path: &Path,
    document: &JsonDocument,
    edits: &[TrustEdit],
    is_full: bool,
) -> Result<Option<Vec<u8>>, ConfigError> {
    let mut root = document.root().clone();
    for edit in edits {
        apply_edit(&mut root, edit, is_full).map_err(|fault| ConfigError::WrongShape {
            path: path.to_owned(),
            line: document.line_of(&[PathStep::Key(fault.key)]),
            fault: fault.what,
        })?;
    }
    if root == *document.root() {
        return Ok(None);
    }
    let mut bytes = serde_json::to_vec_pretty(&root).unwrap_or_default();
    bytes.push(b'\n');
    Ok(Some(bytes))
}

struct WrongShape {
    key: &'static str,
    what: String,
}

fn apply_edit(
    root: &mut Map<String, Value>,
    edit: &TrustEdit,
    is_full: bool,
) -> Result<(), WrongShape> {
    match edit {
        TrustEdit::AddRule(rule) => {
            let grants = list_mut(root, GRANTS)?;
            let is_replaced = |old: &TrustRule| old.is_same(rule) || rule.overrides(old);
            grants.retain(|old| !json::rule_from_json(old).is_ok_and(|old| is_replaced(&old)));
            grants.push(json::rule_to_json(rule));
        }
        TrustEdit::RemoveRule(rule) => {
            let matches =
                |old: &Value| json::rule_from_json(old).is_ok_and(|old| old.is_same(rule));
            list_mut(root, GRANTS)?.retain(|old| !matches(old));
        }
        TrustEdit::AllowInstructions(agreed) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(agreed));
            let list = list_mut(root, INSTRUCTIONS)?;
            if !list.iter().any(matches) {
                list.push(json::consent_to_json(agreed));
            }
        }
        TrustEdit::RevokeInstructions(agreed) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(agreed));
            list_mut(root, INSTRUCTIONS)?.retain(|old| !matches(old));
        }
        TrustEdit::RecordFirstSeen(pinned) => {
            let tools = tools_mut(root, pinned)?;
            if !tools.contains_key(&pinned.tool) {
                tools.insert(
                    pinned.tool.clone(),
                    definition_to_json(&pinned.accepted, is_full),
                );
            }
        }
        TrustEdit::EvictPins(server, stale) => remove_pins(root, server, stale),
        TrustEdit::AcceptDefinition(pinned) => {
            let value = definition_to_json(&pinned.accepted, is_full);
            tools_mut(root, pinned)?.insert(pinned.tool.clone(), value);
        }
        TrustEdit::DeclineDefinition { pinned: of, pin } => {
            let tools = tools_mut(root, of)?;
            if let Some(Value::Object(entry)) = tools.get_mut(&of.tool) {
                entry.insert("declined".to_owned(), json!(pin.as_str()));
            } else {
                tools.insert(of.tool.clone(), definition_to_json(&of.accepted, is_full));
            }
        }
    }
    Ok(())
}

fn remove_pins(root: &mut Map<String, Value>, server: &ServerId, stale: &EvictedPins) {
    let mut launches = root
        .get_mut(PINS)
        .and_then(|pins| pins.get_mut(server.as_str()));
    for (launch, gone) in stale {
        let tools = launches
            .as_deref_mut()
            .and_then(|launches| launches.get_mut(launch.as_str()));
        if let Some(Value::Object(tools)) = tools {
            tools.retain(|tool, _| !gone.contains(tool));
        }
    }
}

fn definition_to_json(accepted: &AcceptedDefinition, is_full: bool) -> Value {
    let whole = json::accepted_to_json(accepted, true);
    let is_long = is_full || whole.to_string().len() > DEFINITION_BYTES_MAX;
    match is_long {
        true => json::accepted_to_json(accepted, false),
        false => whole,
    }
}

fn list_mut<'a>(
    root: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Vec<Value>, WrongShape> {
    let found = root.entry(key).or_insert_with(|| json!([]));
    if found.is_null() {
        *found = json!([]);
    }
    match found {
        Value::Array(entries) => Ok(entries),
        other => Err(WrongShape {
            key,
            what: format!("`{key}` is {}, expected a list", type_description(other)),
        }),
    }
}

fn tools_mut<'a>(
    root: &'a mut Map<String, Value>,
    pinned: &PinnedTool,
) -> Result<&'a mut Map<String, Value>, WrongShape> {
    let steps = [PINS, pinned.server.as_str(), pinned.launch.as_str()];
    let mut object = root;
    for step in steps {
        let next = object.entry(step).or_insert_with(|| json!({}));
        if next.is_null() {
            *next = json!({});
        }
        object = match next {
            Value::Object(next) => next,
            other => {
                return Err(WrongShape {
                    key: PINS,
                    what: format!(
                        "`{step}` is {}, expected an object",
                        type_description(other)
                    ),
                });
            }
        };
    }
    Ok(object)
}

#[cfg(test)]
mod tests;

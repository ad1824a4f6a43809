//! `trust.json`: the user's permanent decisions about tools and servers. Unreadable entries
//! grant nothing and stay in the file; a rewrite changes only the affected entries.

mod json;
mod write_queue;

pub use write_queue::TrustQueue;

use super::json_document::{BYTES_MAX, Document, kind};
use super::json_edit::Step;
use super::{ConfigError, Home, Reading};
use crate::domain::trust::{Accepted, Agreed, Doubt, Rule, Stale};
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
const FILE_BYTES_FULL: usize = 8 * 1024 * 1024;

/// One edit of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum TrustEdit {
    Add(Rule),
    Remove(Rule),
    /// Records a definition on first sight. Keeps an existing one.
    FirstSeen(Pinned),
    /// Records a definition that the user accepted.
    Accept(Pinned),
    /// Withholds the tool while it has this definition.
    Decline {
        of: Pinned,
        pin: Pin,
    },
    /// Removes definitions of a server that exceeds the limit.
    Forget(ServerId, Stale),
    Agree(Agreed),
    Disagree(Agreed),
}

/// A tool with its accepted definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    pub server: ServerId,
    pub launch: LaunchId,
    pub tool: String,
    pub accepted: Accepted,
}

/// Reads `trust.json`. A missing file contains no decisions.
pub fn read_trust(home: &Home) -> Reading<Trust> {
    let path = home.trust();
    match Document::read(&path) {
        Ok(None) => Reading::default(),
        Ok(Some(document)) => understood(&path, &document),
        Err(fault) => Reading {
            value: unread(),
            banners: vec![unread_banner(&fault)],
            failed: true,
        },
    }
}

fn unread() -> Trust {
    let mut trust = Trust::default();
    trust.doubt.unread = true;
    trust
}

/// The consequence of a file that exists at start but cannot be read.
const UNREAD: &str = "Until it is repaired, every call asks, and changed tools are not detected.";

fn unread_banner(fault: &ConfigError) -> Banner {
    let mut banner = fault.banner();
    banner.cause = BannerCause::UnreadableTrust;
    banner.notice.why = Some(UNREAD.to_owned());
    banner
}

fn understood(path: &Path, document: &Document) -> Reading<Trust> {
    let root = document.root();
    let mut faults = Vec::new();
    let mut trust = Trust::default();
    let grants = list(root, GRANTS, &mut faults);
    if grants.len() > RULES_MAX {
        faults.push(format!("`{GRANTS}` has more than {RULES_MAX} entries"));
    }
    trust.doubt.all = root
        .get(GRANTS)
        .is_some_and(|grants| !grants.is_null() && !grants.is_array());
    // The limit does not apply to blocks.
    for (index, value) in grants.iter().enumerate() {
        match json::rule(value) {
            Ok(rule) if index < RULES_MAX || rule.is_never() => trust.rules.push(rule),
            Ok(_) => {}
            Err(why) => {
                let steps = [Step::Key(GRANTS), Step::Index(index)];
                faults.push(format!("line {}, {why}", document.line(&steps)));
                let named = |key: &str| value.get(key).and_then(Value::as_str);
                trust.doubt.about(named("server"), named("tool"));
            }
        }
    }
    for (index, value) in list(root, INSTRUCTIONS, &mut faults).iter().enumerate() {
        match json::agreed(value) {
            Ok(agreed) => trust.instructions.push(agreed),
            Err(why) => {
                let steps = [Step::Key(INSTRUCTIONS), Step::Index(index)];
                faults.push(format!("line {}, {why}", document.line(&steps)));
            }
        }
    }
    for (server, launch, tool, value) in pins_of(root, &mut faults, &mut trust.doubt) {
        match json::accepted(value) {
            Ok(accepted) => trust.accept(&server, &launch, tool, accepted),
            Err(why) => {
                faults.push(format!("the definition of `{tool}` of `{server}`: {why}"));
                trust.accept(&server, &launch, tool, Accepted::unknown());
            }
        }
    }
    Reading {
        value: trust,
        banners: banner(path, &faults).into_iter().collect(),
        failed: false,
    }
}

fn list<'a>(root: &'a Map<String, Value>, key: &str, faults: &mut Vec<String>) -> &'a [Value] {
    match root.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            faults.push(format!("`{key}` is {}, expected a list", kind(other)));
            &[]
        }
    }
}

/// All entries of `pins`, which are keyed by server, launch identity and tool.
fn pins_of<'a>(
    root: &'a Map<String, Value>,
    faults: &mut Vec<String>,
    doubt: &mut Doubt,
) -> Vec<(ServerId, LaunchId, &'a str, &'a Value)> {
    let mut found = Vec::new();
    let Some(pins) = root.get(PINS).filter(|pins| !pins.is_null()) else {
        return found;
    };
    let Value::Object(servers) = pins else {
        faults.push(format!("`{PINS}` is {}, expected an object", kind(pins)));
        doubt.pins = true;
        return found;
    };
    for (server, launches) in servers {
        let mut check_object = |value: &Value| {
            if !value.is_null() && !value.is_object() {
                let found = kind(value);
                faults.push(format!(
                    "`{PINS}` of `{server}` contains {found}, expected an object"
                ));
                doubt.pins_of.insert(ServerId::new(server));
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
fn banner(path: &Path, faults: &[String]) -> Option<Banner> {
    let (first, more) = faults.split_first()?;
    let others = match more.len() {
        0 => String::new(),
        count => format!(" (and {count} more)"),
    };
    let name = super::error::file_name(path);
    let notice = Notice::warning(format!("{name}: {first}{others}."))
        .because(
            "Unreadable entries allow nothing: their tools ask or are withheld. The rest applies.",
        )
        .advise("Correct or remove them in the file.");
    Some(Banner::new(BannerCause::setting(name, ""), notice))
}

/// Edits the file under its lock. Entries of other programs are kept.
///
/// # Errors
/// The file cannot be read, parsed or written. It is unchanged then.
pub fn update_trust(home: &Home, edits: &[TrustEdit]) -> Result<(), ConfigError> {
    let path = home.trust();
    let written = files::update(&path, files::PRIVATE, BYTES_MAX, |current| {
        let is_full = current
            .as_ref()
            .is_some_and(|bytes| bytes.len() > FILE_BYTES_FULL);
        let document = match &current {
            Some(bytes) => Document::parse(&path, bytes.clone())?,
            None => Document::empty(&path),
        };
        let bytes = match changed(&path, &document, edits, is_full)? {
            // The new definitions exceed the size limit, so store only their hashes.
            Some(bytes) if bytes.len() > FILE_BYTES_FULL && !is_full => {
                changed(&path, &document, edits, true)?
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
        UpdateError::Read(fault) => ConfigError::reading(&path, &fault),
        UpdateError::Write(fault) => ConfigError::Unwritable {
            path: path.clone(),
            why: files::words(&fault),
        },
    })
}

/// The file after `edits`. None if they change nothing.
fn changed(
    path: &Path,
    document: &Document,
    edits: &[TrustEdit],
    is_full: bool,
) -> Result<Option<Vec<u8>>, ConfigError> {
    let mut root = document.root().clone();
    for edit in edits {
        apply(&mut root, edit, is_full).map_err(|fault| ConfigError::Misshapen {
            path: path.to_owned(),
            line: document.line(&[Step::Key(fault.key)]),
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

struct Misshapen {
    key: &'static str,
    what: String,
}

fn apply(root: &mut Map<String, Value>, edit: &TrustEdit, is_full: bool) -> Result<(), Misshapen> {
    match edit {
        TrustEdit::Add(rule) => {
            let grants = entries(root, GRANTS)?;
            let is_replaced = |old: &Rule| old.is_same(rule) || rule.replaces(old);
            grants.retain(|old| !json::rule(old).is_ok_and(|old| is_replaced(&old)));
            grants.push(json::of_rule(rule));
        }
        TrustEdit::Remove(rule) => {
            let matches = |old: &Value| json::rule(old).is_ok_and(|old| old.is_same(rule));
            entries(root, GRANTS)?.retain(|old| !matches(old));
        }
        TrustEdit::Agree(agreed) => {
            let matches = |old: &Value| json::agreed(old).is_ok_and(|old| old.is_same(agreed));
            let list = entries(root, INSTRUCTIONS)?;
            if !list.iter().any(matches) {
                list.push(json::of_agreed(agreed));
            }
        }
        TrustEdit::Disagree(agreed) => {
            let matches = |old: &Value| json::agreed(old).is_ok_and(|old| old.is_same(agreed));
            entries(root, INSTRUCTIONS)?.retain(|old| !matches(old));
        }
        TrustEdit::FirstSeen(pinned) => {
            let tools = tools(root, pinned)?;
            if !tools.contains_key(&pinned.tool) {
                tools.insert(pinned.tool.clone(), written(&pinned.accepted, is_full));
            }
        }
        TrustEdit::Forget(server, stale) => forget(root, server, stale),
        TrustEdit::Accept(pinned) => {
            let value = written(&pinned.accepted, is_full);
            tools(root, pinned)?.insert(pinned.tool.clone(), value);
        }
        TrustEdit::Decline { of, pin } => {
            let tools = tools(root, of)?;
            if let Some(Value::Object(entry)) = tools.get_mut(&of.tool) {
                entry.insert("declined".to_owned(), json!(pin.as_str()));
            } else {
                tools.insert(of.tool.clone(), written(&of.accepted, is_full));
            }
        }
    }
    Ok(())
}

fn forget(root: &mut Map<String, Value>, server: &ServerId, stale: &Stale) {
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

fn written(accepted: &Accepted, is_full: bool) -> Value {
    let whole = json::of_accepted(accepted, true);
    let is_long = is_full || whole.to_string().len() > DEFINITION_BYTES_MAX;
    match is_long {
        true => json::of_accepted(accepted, false),
        false => whole,
    }
}

fn entries<'a>(
    root: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Vec<Value>, Misshapen> {
    let found = root.entry(key).or_insert_with(|| json!([]));
    if found.is_null() {
        *found = json!([]);
    }
    match found {
        Value::Array(entries) => Ok(entries),
        other => Err(Misshapen {
            key,
            what: format!("`{key}` is {}, expected a list", kind(other)),
        }),
    }
}

fn tools<'a>(
    root: &'a mut Map<String, Value>,
    pinned: &Pinned,
) -> Result<&'a mut Map<String, Value>, Misshapen> {
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
                return Err(Misshapen {
                    key: PINS,
                    what: format!("`{step}` is {}, expected an object", kind(other)),
                });
            }
        };
    }
    Ok(object)
}

#[cfg(test)]
mod tests;

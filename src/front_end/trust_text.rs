//! Texts of `/trust`: stored decisions and withheld tools. Names in them come from outside
//! and are raw; the view must sanitize them.

use crate::domain::trust::{
    InstructionsConsent, PinChange, RuleCaveat, RuleScope, TrustEntry, TrustRule,
};
use crate::domain::{Pin, ToolIdentity};
use jiff::Timestamp;
use serde_json::Value;

/// Number of characters shown of a hash, enough to tell hashes apart.
const HASH_CHARS: usize = 12;

/// One line of the list.
pub struct TrustLine {
    /// The tool, or the kind of decision in parentheses.
    pub tool: String,
    pub server: String,
    pub status: String,
    pub since: Option<Timestamp>,
}

pub fn trust_line(entry: &TrustEntry) -> TrustLine {
    let server = entry.server().to_string();
    match entry {
        TrustEntry::PendingPinChange(change) => TrustLine {
            tool: change.tool.name.clone(),
            server,
            status: match change.is_declined() {
                true => "kept withheld".to_owned(),
                false => "changed, withheld".to_owned(),
            },
            since: Some(change.accepted_at()),
        },
        TrustEntry::Rule(rule) => TrustLine {
            tool: rule.tool().unwrap_or("(its tools)").to_owned(),
            server,
            status: rule_label(rule),
            since: Some(rule.decided_at),
        },
        TrustEntry::RuleWithCaveat(rule, caveat) => TrustLine {
            status: match caveat {
                RuleCaveat::NotPersisted if rule.is_blocking() => "never, this run".to_owned(),
                RuleCaveat::NotPersisted => "this run".to_owned(),
                RuleCaveat::Unreadable => "unreadable, asks".to_owned(),
                RuleCaveat::ToolChanged | RuleCaveat::LaunchChanged => "inactive, asks".to_owned(),
            },
            ..trust_line(&TrustEntry::Rule(rule.clone()))
        },
        TrustEntry::SessionGrant(grant) => TrustLine {
            tool: grant.tool.clone(),
            server,
            status: "this session".to_owned(),
            since: None,
        },
        TrustEntry::Instructions(consent) => TrustLine {
            tool: "(instructions)".to_owned(),
            server,
            status: "sent".to_owned(),
            since: Some(consent.agreed_at),
        },
        TrustEntry::InstructionsUntilExit(_) => TrustLine {
            tool: "(instructions)".to_owned(),
            server,
            status: "sent, this run".to_owned(),
            since: None,
        },
    }
}

fn rule_label(rule: &TrustRule) -> String {
    match &rule.scope {
        RuleScope::Tool { .. } => "always".to_owned(),
        RuleScope::Server { tools } if tools.len() == 1 => "always, 1 tool".to_owned(),
        RuleScope::Server { tools } => format!("always, {} tools", tools.len()),
        RuleScope::Matching { .. } => "if it matches".to_owned(),
        RuleScope::Never { .. } => "never".to_owned(),
    }
}

/// Details of an entry, one per line.
pub fn detail_lines(entry: &TrustEntry) -> Vec<String> {
    match entry {
        TrustEntry::Rule(rule) => rule_lines(rule),
        TrustEntry::RuleWithCaveat(rule, caveat) => rule_with_caveat_lines(rule, *caveat),
        TrustEntry::SessionGrant(grant) => grant_lines(grant),
        TrustEntry::Instructions(consent) | TrustEntry::InstructionsUntilExit(consent) => {
            instructions_lines(consent)
        }
        TrustEntry::PendingPinChange(change) => pin_change_lines(change),
    }
}

fn short_hash(hash: &str) -> String {
    hash.chars().take(HASH_CHARS).collect()
}

fn rule_lines(rule: &TrustRule) -> Vec<String> {
    let mut lines = match &rule.scope {
        RuleScope::Tool { pin, .. } => vec![
            "Runs without asking, even after a restart.".to_owned(),
            definition_line(pin),
        ],
        RuleScope::Server { tools } => {
            let intro = "These tools run without asking. Tools added later ask first:";
            let tool_line =
                |(tool, pin): (&String, &Pin)| format!("  {tool}  {}", short_hash(pin.as_str()));
            std::iter::once(intro.to_owned())
                .chain(tools.iter().map(tool_line))
                .collect()
        }
        RuleScope::Matching { pin, pattern, .. } => {
            let intro = "Runs without asking if its arguments match, with no others added:";
            let json =
                serde_json::to_string_pretty(&Value::Object(pattern.to_json())).unwrap_or_default();
            let mut lines = vec![intro.to_owned()];
            lines.extend(json.lines().map(|line| format!("  {line}")));
            lines.push(definition_line(pin));
            lines
        }
        RuleScope::Never { .. } => {
            vec!["Never runs, even if the tool or its server's launch changes.".to_owned()]
        }
    };
    if !rule.is_blocking() {
        lines.push(launch_line(rule.launch.as_str()));
    }
    lines
}

/// The caveat, then the contents of the rule if it is inactive.
fn rule_with_caveat_lines(rule: &TrustRule, caveat: RuleCaveat) -> Vec<String> {
    let explanation = match caveat {
        RuleCaveat::ToolChanged => {
            "Inactive: the tool's definition changed, so it asks. The rule was:"
        }
        RuleCaveat::LaunchChanged => {
            "Inactive: the server is started differently now, or in another folder. The rule was:"
        }
        RuleCaveat::Unreadable => {
            "Inactive: part of this rule in trust.json is unreadable, so it asks. The rule is:"
        }
        RuleCaveat::NotPersisted => "Only until humble exits, because trust.json cannot be read.",
    };
    let mut lines = vec![explanation.to_owned()];
    if caveat != RuleCaveat::NotPersisted {
        lines.extend(rule_lines(rule));
    }
    lines
}

fn definition_line(pin: &Pin) -> String {
    format!(
        "only with its current definition ({})",
        short_hash(pin.as_str())
    )
}

fn launch_line(hash: &str) -> String {
    format!(
        "only while its server is started as it is now ({})",
        short_hash(hash)
    )
}

fn grant_lines(grant: &ToolIdentity) -> Vec<String> {
    vec![
        "Runs without asking until this conversation ends.".to_owned(),
        definition_line(&grant.pin),
        launch_line(grant.launch.as_str()),
    ]
}

fn instructions_lines(consent: &InstructionsConsent) -> Vec<String> {
    vec![
        "The server's instructions are sent to the model with each prompt.".to_owned(),
        format!("only this text ({})", short_hash(&consent.text_hash)),
        launch_line(consent.launch.as_str()),
    ]
}

fn pin_change_lines(change: &PinChange) -> Vec<String> {
    vec![format!(
        "Changed since {}, and withheld until you accept it.",
        change.accepted_at().strftime("%Y-%m-%d")
    )]
}

//! The words of `/trust`: what was decided for longer than a call, and what waits. Names
//! in them are from outside, and raw.

use crate::domain::trust::{
    InactiveReason, InstructionsConsent, PinChange, RuleScope, TrustEntry, TrustRule,
};
use crate::domain::{Pin, ToolIdentity};
use jiff::Timestamp;
use serde_json::Value;

/// Characters of a hash that tell two apart.
const HASH_CHARS: usize = 12;

/// One line of the list.
pub struct TrustLine {
    pub subject: String,
    pub kind: String,
    pub since: Option<Timestamp>,
}

pub fn trust_line(trusted: &TrustEntry) -> TrustLine {
    let server = trusted.server();
    let named = |tool: &str| format!("{tool}   {server}");
    match trusted {
        TrustEntry::PendingPinChange(change) => TrustLine {
            subject: named(&change.tool.name),
            kind: match change.is_declined() {
                true => "kept withheld".to_owned(),
                false => "changed, withheld".to_owned(),
            },
            since: Some(change.accepted_at()),
        },
        TrustEntry::Rule(rule) => TrustLine {
            subject: rule.tool().map_or_else(|| named("(its tools)"), named),
            kind: rule_label(rule),
            since: Some(rule.decided_at),
        },
        TrustEntry::InactiveRule(rule, lapse) => TrustLine {
            kind: match lapse {
                InactiveReason::NotPersisted if rule.is_blocking() => "never, this run".to_owned(),
                InactiveReason::NotPersisted => "this run".to_owned(),
                InactiveReason::Unreadable => "in doubt, asks".to_owned(),
                InactiveReason::ToolChanged | InactiveReason::LaunchChanged => {
                    "not in force".to_owned()
                }
            },
            ..trust_line(&TrustEntry::Rule(rule.clone()))
        },
        TrustEntry::SessionGrant(grant) => TrustLine {
            subject: named(&grant.tool),
            kind: "this session".to_owned(),
            since: None,
        },
        TrustEntry::Instructions(agreed) => TrustLine {
            subject: named("(instructions)"),
            kind: "sent".to_owned(),
            since: Some(agreed.agreed_at),
        },
        TrustEntry::InstructionsOnce(_) => TrustLine {
            subject: named("(instructions)"),
            kind: "sent in this run".to_owned(),
            since: None,
        },
    }
}

fn rule_label(rule: &TrustRule) -> String {
    match &rule.scope {
        RuleScope::Tool { .. } => "always".to_owned(),
        RuleScope::Server { tools } if tools.len() == 1 => "always, 1 tool".to_owned(),
        RuleScope::Server { tools } => format!("always, {} tools", tools.len()),
        RuleScope::Matching { .. } => "while it matches".to_owned(),
        RuleScope::Never { .. } => "never".to_owned(),
    }
}

/// What it holds, a line each.
pub fn detail_lines(trusted: &TrustEntry) -> Vec<String> {
    match trusted {
        TrustEntry::Rule(rule) => rule_lines(rule),
        TrustEntry::InactiveRule(rule, lapse) => inactive_rule_lines(rule, *lapse),
        TrustEntry::SessionGrant(grant) => grant_lines(grant),
        TrustEntry::Instructions(agreed) | TrustEntry::InstructionsOnce(agreed) => {
            instructions_lines(agreed)
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
            "Runs unasked, also after a restart.".to_owned(),
            definition_line(pin),
        ],
        RuleScope::Server { tools } => {
            let said = "These tools run unasked; what the server adds later asks:";
            let tool =
                |(tool, pin): (&String, &Pin)| format!("  {tool}  {}", short_hash(pin.as_str()));
            let tools = tools.iter().map(tool);
            std::iter::once(said.to_owned()).chain(tools).collect()
        }
        RuleScope::Matching { pin, pattern, .. } => {
            let said = "Runs unasked while its arguments match, and no other is given:";
            let written = serde_json::to_string_pretty(&Value::Object(pattern.to_json()));
            let written = written.unwrap_or_default();
            let mut lines = vec![said.to_owned()];
            lines.extend(written.lines().map(|line| format!("  {line}")));
            lines.push(definition_line(pin));
            lines
        }
        RuleScope::Never { .. } => {
            vec!["Is never run, whatever it becomes and however its server is started.".to_owned()]
        }
    };
    if !rule.is_blocking() {
        lines.push(launch_line(rule.launch.as_str()));
    }
    lines
}

/// What it held stays to be read behind what became of it.
fn inactive_rule_lines(rule: &TrustRule, lapse: InactiveReason) -> Vec<String> {
    let said = match lapse {
        InactiveReason::ToolChanged => {
            "No longer in force: the tool is another now, and asks. It was:"
        }
        InactiveReason::LaunchChanged => {
            "No longer in force: the server's launch is another now. It was:"
        }
        InactiveReason::Unreadable => {
            "Asks all the same: trust.json is not understood there. It says:"
        }
        InactiveReason::NotPersisted => "Holds until humble ends only: trust.json cannot be read.",
    };
    let mut lines = vec![said.to_owned()];
    if lapse != InactiveReason::NotPersisted {
        lines.extend(rule_lines(rule));
    }
    lines
}

fn definition_line(pin: &Pin) -> String {
    format!("only as it is defined now ({})", short_hash(pin.as_str()))
}

fn launch_line(hash: &str) -> String {
    format!(
        "only for this server as it is started now ({})",
        short_hash(hash)
    )
}

fn grant_lines(grant: &ToolIdentity) -> Vec<String> {
    vec![
        "Runs unasked until this conversation ends.".to_owned(),
        definition_line(&grant.pin),
        launch_line(grant.launch.as_str()),
    ]
}

fn instructions_lines(agreed: &InstructionsConsent) -> Vec<String> {
    vec![
        "What the server wants the model to be told is sent with each prompt.".to_owned(),
        format!("only this text ({})", short_hash(&agreed.text_hash)),
        launch_line(agreed.launch.as_str()),
    ]
}

fn pin_change_lines(change: &PinChange) -> Vec<String> {
    vec![format!(
        "It changed since {}, and is withheld.",
        change.accepted_at().strftime("%Y-%m-%d")
    )]
}

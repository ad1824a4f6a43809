//! Texts of `/trust`: stored decisions and withheld tools. Names in them come from outside
//! and are raw; the view must sanitize them.

use crate::domain::trust::{Agreed, Cover, Lapse, PinChange, Rule, Trusted};
use crate::domain::{Grant, Pin};
use jiff::Timestamp;
use serde_json::Value;

/// Characters shown of a hash, enough to tell hashes apart.
const HASH_CHARS: usize = 12;

/// One line of the list.
pub struct Line {
    pub what: String,
    pub kind: String,
    pub since: Option<Timestamp>,
}

pub fn line(trusted: &Trusted) -> Line {
    let server = trusted.server();
    let named = |tool: &str| format!("{tool}   {server}");
    match trusted {
        Trusted::Waiting(change) => Line {
            what: named(&change.tool.name),
            kind: match change.is_declined() {
                true => "kept withheld".to_owned(),
                false => "changed, withheld".to_owned(),
            },
            since: Some(change.since()),
        },
        Trusted::Rule(rule) => Line {
            what: rule.tool().map_or_else(|| named("(its tools)"), named),
            kind: kind(rule),
            since: Some(rule.since),
        },
        Trusted::Lapsed(rule, lapse) => Line {
            kind: match lapse {
                Lapse::Unkept if rule.is_never() => "never, this run".to_owned(),
                Lapse::Unkept => "this run".to_owned(),
                Lapse::Doubt => "unreadable, asks".to_owned(),
                Lapse::Tool | Lapse::Launch => "inactive, asks".to_owned(),
            },
            ..line(&Trusted::Rule(rule.clone()))
        },
        Trusted::Session(grant) => Line {
            what: named(&grant.tool),
            kind: "this session".to_owned(),
            since: None,
        },
        Trusted::Instructions(agreed) => Line {
            what: named("(instructions)"),
            kind: "sent".to_owned(),
            since: Some(agreed.since),
        },
        Trusted::InstructionsOnce(_) => Line {
            what: named("(instructions)"),
            kind: "sent, this run".to_owned(),
            since: None,
        },
    }
}

fn kind(rule: &Rule) -> String {
    match &rule.cover {
        Cover::Tool { .. } => "always".to_owned(),
        Cover::Server { tools } if tools.len() == 1 => "always, 1 tool".to_owned(),
        Cover::Server { tools } => format!("always, {} tools", tools.len()),
        Cover::Matching { .. } => "if it matches".to_owned(),
        Cover::Never { .. } => "never".to_owned(),
    }
}

/// Details of an entry, one per line.
pub fn detail(trusted: &Trusted) -> Vec<String> {
    match trusted {
        Trusted::Rule(rule) => of_rule(rule),
        Trusted::Lapsed(rule, lapse) => of_lapsed(rule, *lapse),
        Trusted::Session(grant) => of_grant(grant),
        Trusted::Instructions(agreed) | Trusted::InstructionsOnce(agreed) => of_agreed(agreed),
        Trusted::Waiting(change) => of_change(change),
    }
}

fn short(hash: &str) -> String {
    hash.chars().take(HASH_CHARS).collect()
}

fn of_rule(rule: &Rule) -> Vec<String> {
    let mut lines = match &rule.cover {
        Cover::Tool { pin, .. } => vec![
            "Runs without asking, also after a restart.".to_owned(),
            definition(pin),
        ],
        Cover::Server { tools } => {
            let intro = "These tools run without asking. Tools added later ask first:";
            let tool = |(tool, pin): (&String, &Pin)| format!("  {tool}  {}", short(pin.as_str()));
            std::iter::once(intro.to_owned())
                .chain(tools.iter().map(tool))
                .collect()
        }
        Cover::Matching { pin, pattern, .. } => {
            let intro = "Runs without asking if its arguments match, with no others added:";
            let json =
                serde_json::to_string_pretty(&Value::Object(pattern.to_json())).unwrap_or_default();
            let mut lines = vec![intro.to_owned()];
            lines.extend(json.lines().map(|line| format!("  {line}")));
            lines.push(definition(pin));
            lines
        }
        Cover::Never { .. } => {
            vec!["Never runs, even if the tool or its server's launch changes.".to_owned()]
        }
    };
    if !rule.is_never() {
        lines.push(launch(rule.launch.as_str()));
    }
    lines
}

/// Why the rule is inactive, then its contents.
fn of_lapsed(rule: &Rule, lapse: Lapse) -> Vec<String> {
    let reason = match lapse {
        Lapse::Tool => "Inactive: the tool's definition changed, so it asks. The rule was:",
        Lapse::Launch => "Inactive: the server is started differently now. The rule was:",
        Lapse::Doubt => {
            "Inactive: part of this rule in trust.json is unreadable, so it asks. It says:"
        }
        Lapse::Unkept => "Only until humble ends, because trust.json cannot be read.",
    };
    let mut lines = vec![reason.to_owned()];
    if lapse != Lapse::Unkept {
        lines.extend(of_rule(rule));
    }
    lines
}

fn definition(pin: &Pin) -> String {
    format!("only with its current definition ({})", short(pin.as_str()))
}

fn launch(hash: &str) -> String {
    format!("only while its server is started as now ({})", short(hash))
}

fn of_grant(grant: &Grant) -> Vec<String> {
    vec![
        "Runs without asking until this conversation ends.".to_owned(),
        definition(&grant.pin),
        launch(grant.launch.as_str()),
    ]
}

fn of_agreed(agreed: &Agreed) -> Vec<String> {
    vec![
        "The server's instructions are sent to the model with each prompt.".to_owned(),
        format!("only this text ({})", short(&agreed.text)),
        launch(agreed.launch.as_str()),
    ]
}

fn of_change(change: &PinChange) -> Vec<String> {
    vec![format!(
        "Changed since {}, and withheld until you review it.",
        change.since().strftime("%Y-%m-%d")
    )]
}

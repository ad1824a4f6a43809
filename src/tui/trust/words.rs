//! The words of `/trust`: what was decided for longer than a call, and what waits. Names
//! in them are from outside, and raw.

use crate::domain::trust::{Agreed, Cover, Lapse, PinChange, Rule, Trusted};
use crate::domain::{Grant, Pin};
use jiff::Timestamp;
use serde_json::Value;

/// Characters of a hash that tell two apart.
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
                Lapse::Doubt => "in doubt, asks".to_owned(),
                Lapse::Tool | Lapse::Launch => "not in force".to_owned(),
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
            kind: "sent in this run".to_owned(),
            since: None,
        },
    }
}

fn kind(rule: &Rule) -> String {
    match &rule.cover {
        Cover::Tool { .. } => "always".to_owned(),
        Cover::Server { tools } if tools.len() == 1 => "always, 1 tool".to_owned(),
        Cover::Server { tools } => format!("always, {} tools", tools.len()),
        Cover::Matching { .. } => "while it matches".to_owned(),
        Cover::Never { .. } => "never".to_owned(),
    }
}

/// What it holds, a line each.
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
            "Runs unasked, also after a restart.".to_owned(),
            definition(pin),
        ],
        Cover::Server { tools } => {
            let said = "These tools run unasked; what the server adds later asks:";
            let tool = |(tool, pin): (&String, &Pin)| format!("  {tool}  {}", short(pin.as_str()));
            let tools = tools.iter().map(tool);
            std::iter::once(said.to_owned()).chain(tools).collect()
        }
        Cover::Matching { pin, pattern, .. } => {
            let said = "Runs unasked while its arguments match, and no other is given:";
            let written = serde_json::to_string_pretty(&Value::Object(pattern.to_json()));
            let written = written.unwrap_or_default();
            let mut lines = vec![said.to_owned()];
            lines.extend(written.lines().map(|line| format!("  {line}")));
            lines.push(definition(pin));
            lines
        }
        Cover::Never { .. } => {
            vec!["Is never run, whatever it becomes and however its server is started.".to_owned()]
        }
    };
    if !rule.is_never() {
        lines.push(launch(rule.launch.as_str()));
    }
    lines
}

/// What it held stays to be read behind what became of it.
fn of_lapsed(rule: &Rule, lapse: Lapse) -> Vec<String> {
    let said = match lapse {
        Lapse::Tool => "No longer in force: the tool is another now, and asks. It was:",
        Lapse::Launch => "No longer in force: the server's launch is another now. It was:",
        Lapse::Doubt => "Asks all the same: trust.json is not understood there. It says:",
        Lapse::Unkept => "Holds until humble ends only: trust.json cannot be read.",
    };
    let mut lines = vec![said.to_owned()];
    if lapse != Lapse::Unkept {
        lines.extend(of_rule(rule));
    }
    lines
}

fn definition(pin: &Pin) -> String {
    format!("only as it is defined now ({})", short(pin.as_str()))
}

fn launch(hash: &str) -> String {
    format!(
        "only for this server as it is started now ({})",
        short(hash)
    )
}

fn of_grant(grant: &Grant) -> Vec<String> {
    vec![
        "Runs unasked until this conversation ends.".to_owned(),
        definition(&grant.pin),
        launch(grant.launch.as_str()),
    ]
}

fn of_agreed(agreed: &Agreed) -> Vec<String> {
    vec![
        "What the server wants the model to be told is sent with each prompt.".to_owned(),
        format!("only this text ({})", short(&agreed.text)),
        launch(agreed.launch.as_str()),
    ]
}

fn of_change(change: &PinChange) -> Vec<String> {
    vec![format!(
        "It changed since {}, and is withheld.",
        change.since().strftime("%Y-%m-%d")
    )]
}

//! Reviews edits of `trust.json` by other programs: removing a permission applies at once,
//! adding one needs consent. A tool that can write this file could otherwise allow itself
//! anything.

use super::Scale;
use crate::domain::trust::{Accepted, Cover, Doubt, Rule};
use crate::domain::{LaunchId, ServerId, Trust};

const TRUST: &str = "trust.json";
/// Maximum number of names listed in one change.
const NAMED_MAX: usize = 20;

/// The trust decisions with only the harmless changes applied.
pub(super) fn weigh(scale: &mut Scale, before: &Trust, after: &Trust) -> Trust {
    if before == after {
        return after.clone();
    }
    let mut trust = before.clone();
    rules(scale, &mut trust, after);
    instructions(scale, &mut trust, after);
    pins(scale, &mut trust, after);
    trust.doubt = doubt(scale, &before.doubt, &after.doubt);
    trust
}

/// More unreadable entries take effect at once. Fewer need consent: someone could break the
/// file and then repair it without its blocks.
fn doubt(scale: &mut Scale, before: &Doubt, after: &Doubt) -> Doubt {
    let both = before.with(after);
    if both != *after {
        let what = "calls that ask because of unreadable entries would no longer ask";
        scale.ask(TRUST, what, None, None);
    }
    if both != *before {
        scale.say(TRUST, "calls that unreadable entries may concern now ask");
    }
    both
}

fn rules(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    let has = |list: &[Rule], rule: &Rule| list.iter().any(|other| other.is_same(rule));
    let before = std::mem::take(&mut trust.rules);
    for rule in &before {
        let is_kept = has(&after.rules, rule);
        if !is_kept && rule.is_never() {
            let what = format!("{} would no longer be blocked", named(rule));
            scale.ask(TRUST, what, Some(words(rule)), None);
        } else if !is_kept {
            scale.say(TRUST, format!("{} is no longer allowed", named(rule)));
        }
        if is_kept || rule.is_never() {
            trust.rules.push(rule.clone());
        }
    }
    for rule in after.rules.iter().filter(|rule| !has(&before, rule)) {
        if rule.is_never() {
            scale.say(TRUST, format!("{} is now blocked", named(rule)));
            trust.rules.push(rule.clone());
        } else {
            let what = format!("{} would run without asking", named(rule));
            scale.ask(TRUST, what, None, Some(words(rule)));
        }
    }
}

/// The subject of a rule, as the start of a clause.
fn named(rule: &Rule) -> String {
    match rule.tool() {
        Some(tool) => format!("tool `{tool}` of `{}`", rule.server),
        None => format!("server `{}`", rule.server),
    }
}

fn words(rule: &Rule) -> String {
    match &rule.cover {
        Cover::Tool { .. } => "always".to_owned(),
        Cover::Never { .. } => "never".to_owned(),
        Cover::Server { tools } => {
            let mut names: Vec<&str> = tools.keys().map(String::as_str).collect();
            let count = names.len();
            names.truncate(NAMED_MAX);
            let more = match count.saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("always: {}{more}", names.join(", "))
        }
        Cover::Matching { pattern, .. } => {
            let pattern = serde_json::Value::Object(pattern.to_json());
            format!("if it matches {pattern}")
        }
    }
}

fn instructions(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    let before = std::mem::take(&mut trust.instructions);
    for agreed in before {
        if after.is_agreed(&agreed) {
            trust.instructions.push(agreed);
        } else {
            let what = format!("the instructions of `{}` are no longer sent", agreed.server);
            scale.say(TRUST, what);
        }
    }
    for agreed in &after.instructions {
        if !trust.is_agreed(agreed) {
            let what = format!("the instructions of `{}` would be sent", agreed.server);
            scale.ask(TRUST, what, None, Some("sent".to_owned()));
        }
    }
}

/// A definition of a so far unknown tool is harmless: it would be recorded on first sight
/// anyway. Any other definition decides what counts as a change, so it needs consent.
fn pins(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    for (server, launch, tool, new) in each(after) {
        match trust.accepted(server, launch, tool).cloned() {
            None => trust.accept(server, launch, tool, new.clone()),
            Some(old) if old.pin == new.pin => {
                // The same definition: only whether it was declined can differ.
                trust.accept(server, launch, tool, new.clone());
            }
            // The tool was recorded while the file was unreadable: the file has precedence.
            Some(_) if trust.doubt.unread => trust.accept(server, launch, tool, new.clone()),
            Some(old) => {
                let what =
                    format!("tool `{tool}` of `{server}`: another definition would be accepted");
                scale.ask(TRUST, what, Some(said(&old)), Some(said(new)));
            }
        }
    }
    if trust.doubt.unread {
        return;
    }
    let mut gone: Vec<(&ServerId, usize)> = Vec::new();
    for (server, launch, tool, _) in each(trust) {
        if after.accepted(server, launch, tool).is_none() {
            match gone.last_mut().filter(|(last, _)| *last == server) {
                Some((_, count)) => *count += 1,
                None => gone.push((server, 1)),
            }
        }
    }
    for (server, count) in gone {
        let what = format!("server `{server}`: its accepted tool definitions would be removed");
        let definitions = match count {
            1 => "1 definition".to_owned(),
            count => format!("{count} definitions"),
        };
        scale.ask(TRUST, what, Some(definitions), None);
    }
}

fn each(trust: &Trust) -> impl Iterator<Item = (&ServerId, &LaunchId, &str, &Accepted)> {
    trust.pins.iter().flat_map(|(server, launches)| {
        launches.iter().flat_map(move |(launch, tools)| {
            let tools = tools.iter();
            tools.map(move |(tool, accepted)| (server, launch, tool.as_str(), accepted))
        })
    })
}

fn said(accepted: &Accepted) -> String {
    let hash = accepted.pin.as_str();
    let hash: String = hash.chars().take(12).collect();
    match accepted.definition.as_ref() {
        Some(definition) => {
            let description = definition
                .description
                .as_deref()
                .unwrap_or("(no description)");
            format!("{hash}: {description}")
        }
        None => hash,
    }
}

#[cfg(test)]
mod tests;

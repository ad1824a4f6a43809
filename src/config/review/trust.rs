//! Edits of `trust.json` from outside: what takes a grant away holds at once, what adds
//! one waits. A tool that could write this file could otherwise allow itself anything.

use super::Scale;
use crate::domain::trust::{Accepted, Cover, Doubt, Rule};
use crate::domain::{LaunchId, ServerId, Trust};

const TRUST: &str = "trust.json";
/// Names that one change lists.
const NAMED_MAX: usize = 20;

/// What is in force once the harmless changes are.
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

/// More doubt holds at once. Less of it waits: whoever broke the file could mend it
/// without the refusals that stood there.
fn doubt(scale: &mut Scale, before: &Doubt, after: &Doubt) -> Doubt {
    let both = before.with(after);
    if both != *after {
        let what = "calls that ask while it is not understood would ask no more";
        scale.ask(TRUST, what, None, None);
    }
    if both != *before {
        scale.say(TRUST, "what is not understood there asks");
    }
    both
}

fn rules(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    let has = |list: &[Rule], rule: &Rule| list.iter().any(|other| other.is_same(rule));
    let before = std::mem::take(&mut trust.rules);
    for rule in &before {
        let is_kept = has(&after.rules, rule);
        if !is_kept && rule.is_never() {
            let what = format!("{}: it would be ruled out no more", named(rule));
            scale.ask(TRUST, what, Some(words(rule)), None);
        } else if !is_kept {
            scale.say(TRUST, format!("{} is revoked", named(rule)));
        }
        if is_kept || rule.is_never() {
            trust.rules.push(rule.clone());
        }
    }
    for rule in after.rules.iter().filter(|rule| !has(&before, rule)) {
        if rule.is_never() {
            scale.say(TRUST, format!("{} is ruled out", named(rule)));
            trust.rules.push(rule.clone());
        } else {
            let what = format!("{} would run unasked", named(rule));
            scale.ask(TRUST, what, None, Some(words(rule)));
        }
    }
}

/// What a rule is about, as the beginning of a clause.
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
            format!("while it matches {pattern}")
        }
    }
}

fn instructions(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    let before = std::mem::take(&mut trust.instructions);
    for agreed in before {
        if after.is_agreed(&agreed) {
            trust.instructions.push(agreed);
        } else {
            let what = format!("the instructions of `{}` are not sent", agreed.server);
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

/// A definition of a tool that was not known yet says no more than the first look at the
/// tool would; any other one decides what counts as a change.
fn pins(scale: &mut Scale, trust: &mut Trust, after: &Trust) {
    for (server, launch, tool, new) in each(after) {
        match trust.accepted(server, launch, tool).cloned() {
            None => trust.accept(server, launch, tool, new.clone()),
            Some(old) if old.pin == new.pin => {
                // Whether it was looked at gives it no power.
                trust.accept(server, launch, tool, new.clone());
            }
            // The file was not read when the tool was looked at: what it says came first.
            Some(_) if trust.doubt.unread => trust.accept(server, launch, tool, new.clone()),
            Some(old) => {
                let what = format!("tool `{tool}` of `{server}`: another definition is accepted");
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
        let what = format!("server `{server}`: what its tools are would be forgotten");
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

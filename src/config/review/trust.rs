//! Edits of `trust.json` from outside: what takes a grant away holds at once, what adds
//! one waits. A tool that could write this file could otherwise allow itself anything.

use super::ChangeReviewer;
use crate::domain::trust::{AcceptedDefinition, RuleScope, TrustRule, UnreadableEntries};
use crate::domain::{LaunchId, ServerId, Trust};

const TRUST: &str = "trust.json";
/// Names that one change lists.
const NAMED_MAX: usize = 20;

/// What is in force once the harmless changes are.
pub(super) fn review_trust(scale: &mut ChangeReviewer, before: &Trust, after: &Trust) -> Trust {
    if before == after {
        return after.clone();
    }
    let mut trust = before.clone();
    review_rules(scale, &mut trust, after);
    review_instructions(scale, &mut trust, after);
    review_pins(scale, &mut trust, after);
    trust.unreadable = review_unreadable(scale, &before.unreadable, &after.unreadable);
    trust
}

/// More doubt holds at once. Less of it waits: whoever broke the file could mend it
/// without the refusals that stood there.
fn review_unreadable(
    scale: &mut ChangeReviewer,
    before: &UnreadableEntries,
    after: &UnreadableEntries,
) -> UnreadableEntries {
    let both = before.union(after);
    if both != *after {
        let what = "calls that ask while it is not understood would ask no more";
        scale.add_needing_consent(TRUST, what, None, None);
    }
    if both != *before {
        scale.add_harmless(TRUST, "what is not understood there asks");
    }
    both
}

fn review_rules(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let has = |list: &[TrustRule], rule: &TrustRule| list.iter().any(|other| other.is_same(rule));
    let before = std::mem::take(&mut trust.rules);
    for rule in &before {
        let is_kept = has(&after.rules, rule);
        if !is_kept && rule.is_blocking() {
            let what = format!("{}: it would be ruled out no more", rule_subject(rule));
            scale.add_needing_consent(TRUST, what, Some(describe_rule(rule)), None);
        } else if !is_kept {
            scale.add_harmless(TRUST, format!("{} is revoked", rule_subject(rule)));
        }
        if is_kept || rule.is_blocking() {
            trust.rules.push(rule.clone());
        }
    }
    for rule in after.rules.iter().filter(|rule| !has(&before, rule)) {
        if rule.is_blocking() {
            scale.add_harmless(TRUST, format!("{} is ruled out", rule_subject(rule)));
            trust.rules.push(rule.clone());
        } else {
            let what = format!("{} would run unasked", rule_subject(rule));
            scale.add_needing_consent(TRUST, what, None, Some(describe_rule(rule)));
        }
    }
}

/// What a rule is about, as the beginning of a clause.
fn rule_subject(rule: &TrustRule) -> String {
    match rule.tool() {
        Some(tool) => format!("tool `{tool}` of `{}`", rule.server),
        None => format!("server `{}`", rule.server),
    }
}

fn describe_rule(rule: &TrustRule) -> String {
    match &rule.scope {
        RuleScope::Tool { .. } => "always".to_owned(),
        RuleScope::Never { .. } => "never".to_owned(),
        RuleScope::Server { tools } => {
            let mut names: Vec<&str> = tools.keys().map(String::as_str).collect();
            let count = names.len();
            names.truncate(NAMED_MAX);
            let more = match count.saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("always: {}{more}", names.join(", "))
        }
        RuleScope::Matching { pattern, .. } => {
            let pattern = serde_json::Value::Object(pattern.to_json());
            format!("while it matches {pattern}")
        }
    }
}

fn review_instructions(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let before = std::mem::take(&mut trust.instruction_consents);
    for agreed in before {
        if after.has_consent(&agreed) {
            trust.instruction_consents.push(agreed);
        } else {
            let what = format!("the instructions of `{}` are not sent", agreed.server);
            scale.add_harmless(TRUST, what);
        }
    }
    for agreed in &after.instruction_consents {
        if !trust.has_consent(agreed) {
            let what = format!("the instructions of `{}` would be sent", agreed.server);
            scale.add_needing_consent(TRUST, what, None, Some("sent".to_owned()));
        }
    }
}

/// A definition of a tool that was not known yet says no more than the first look at the
/// tool would; any other one decides what counts as a change.
fn review_pins(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    for (server, launch, tool, new) in accepted_definitions(after) {
        match trust.accepted_definition(server, launch, tool).cloned() {
            None => trust.accept(server, launch, tool, new.clone()),
            Some(old) if old.pin == new.pin => {
                // Whether it was looked at gives it no power.
                trust.accept(server, launch, tool, new.clone());
            }
            // The file was not read when the tool was looked at: what it says came first.
            Some(_) if trust.unreadable.is_file_unreadable => {
                trust.accept(server, launch, tool, new.clone())
            }
            Some(old) => {
                let what = format!("tool `{tool}` of `{server}`: another definition is accepted");
                scale.add_needing_consent(
                    TRUST,
                    what,
                    Some(describe_definition(&old)),
                    Some(describe_definition(new)),
                );
            }
        }
    }
    if trust.unreadable.is_file_unreadable {
        return;
    }
    let mut gone: Vec<(&ServerId, usize)> = Vec::new();
    for (server, launch, tool, _) in accepted_definitions(trust) {
        if after.accepted_definition(server, launch, tool).is_none() {
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
        scale.add_needing_consent(TRUST, what, Some(definitions), None);
    }
}

fn accepted_definitions(
    trust: &Trust,
) -> impl Iterator<Item = (&ServerId, &LaunchId, &str, &AcceptedDefinition)> {
    trust.pins.iter().flat_map(|(server, launches)| {
        launches.iter().flat_map(move |(launch, tools)| {
            let tools = tools.iter();
            tools.map(move |(tool, accepted)| (server, launch, tool.as_str(), accepted))
        })
    })
}

fn describe_definition(accepted: &AcceptedDefinition) -> String {
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

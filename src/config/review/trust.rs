//! Reviews edits of `trust.json` by other programs: removing a permission applies at once,
//! adding one needs consent. A tool that can write this file could otherwise allow itself
//! anything.

use super::ChangeReviewer;
use crate::domain::trust::{AcceptedDefinition, RuleScope, TrustRule, UnreadableEntries};
use crate::domain::{LaunchId, ServerId, Trust};

const TRUST: &str = "trust.json";
/// Maximum number of names listed in one change.
const NAMED_MAX: usize = 20;

/// The trust decisions with only the harmless changes applied.
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

/// More unreadable entries take effect at once. Fewer need consent: someone could break the
/// file and then repair it without its blocks.
fn review_unreadable(
    scale: &mut ChangeReviewer,
    before: &UnreadableEntries,
    after: &UnreadableEntries,
) -> UnreadableEntries {
    let both = before.union(after);
    if both != *after {
        let what = "calls that ask because of unreadable entries would no longer ask";
        scale.add_needing_consent(TRUST, what, None, None);
    }
    if both != *before {
        scale.add_harmless(TRUST, "calls that unreadable entries may concern now ask");
    }
    both
}

fn review_rules(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let has = |list: &[TrustRule], rule: &TrustRule| list.iter().any(|other| other.is_same(rule));
    let before = std::mem::take(&mut trust.rules);
    for rule in &before {
        let is_kept = has(&after.rules, rule);
        if !is_kept && rule.is_blocking() {
            let what = format!("{} would no longer be blocked", rule_subject(rule));
            scale.add_needing_consent(TRUST, what, Some(describe_rule(rule)), None);
        } else if !is_kept {
            scale.add_harmless(
                TRUST,
                format!("{} is no longer allowed", rule_subject(rule)),
            );
        }
        if is_kept || rule.is_blocking() {
            trust.rules.push(rule.clone());
        }
    }
    for rule in after.rules.iter().filter(|rule| !has(&before, rule)) {
        if rule.is_blocking() {
            scale.add_harmless(TRUST, format!("{} is now blocked", rule_subject(rule)));
            trust.rules.push(rule.clone());
        } else {
            let what = format!("{} would run without asking", rule_subject(rule));
            scale.add_needing_consent(TRUST, what, None, Some(describe_rule(rule)));
        }
    }
}

/// The subject of a rule, as the start of a clause.
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
            format!("if it matches {pattern}")
        }
    }
}

fn review_instructions(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let before = std::mem::take(&mut trust.instruction_consents);
    for agreed in before {
        if after.has_consent(&agreed) {
            trust.instruction_consents.push(agreed);
        } else {
            let what = format!("the instructions of `{}` are no longer sent", agreed.server);
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

/// A definition of a so far unknown tool is harmless: it would be recorded on first sight
/// anyway. Any other definition decides what counts as a change, so it needs consent.
fn review_pins(scale: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    for (server, launch, tool, new) in accepted_definitions(after) {
        match trust.accepted_definition(server, launch, tool).cloned() {
            None => trust.accept(server, launch, tool, new.clone()),
            Some(old) if old.pin == new.pin => {
                // The same definition: only whether it was declined can differ.
                trust.accept(server, launch, tool, new.clone());
            }
            // The tool was recorded while the file was unreadable: the file has precedence.
            Some(_) if trust.unreadable.is_file_unreadable => {
                trust.accept(server, launch, tool, new.clone())
            }
            Some(old) => {
                let what =
                    format!("tool `{tool}` of `{server}`: another definition would be accepted");
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
        let what = format!("server `{server}`: its accepted tool definitions would be removed");
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

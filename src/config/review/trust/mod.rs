//! Reviews edits to `trust.json` by other programs: removing a permission applies at once,
//! adding one needs consent. A tool that can write this file could otherwise allow itself
//! anything.

use super::{ChangeReviewer, TRUST};
use crate::domain::trust::{AcceptedDefinition, RuleScope, TrustRule, UnreadableEntries};
use crate::domain::{LaunchId, ServerId, Trust};

const LISTED_NAMES_MAX: usize = 20;

pub(super) fn review_trust(reviewer: &mut ChangeReviewer, before: &Trust, after: &Trust) -> Trust {
    if before == after {
        return after.clone();
    }
    let mut trust = before.clone();
    review_rules(reviewer, &mut trust, after);
    review_instructions(reviewer, &mut trust, after);
    review_pins(reviewer, &mut trust, after);
    trust.unreadable = review_unreadable(reviewer, &before.unreadable, &after.unreadable);
    trust
}

/// New unreadable entries take effect at once. Their removal needs consent: someone could break the
/// file and then repair it without its blocking rules.
fn review_unreadable(
    reviewer: &mut ChangeReviewer,
    before: &UnreadableEntries,
    after: &UnreadableEntries,
) -> UnreadableEntries {
    let combined = before.union(after);
    if combined != *after {
        let what = "calls that ask because of unreadable entries would no longer ask";
        reviewer.add_needing_consent((TRUST, ""), what, None, None);
    }
    if combined != *before {
        reviewer.add_harmless(TRUST, "calls that unreadable entries may affect now ask");
    }
    combined
}

fn review_rules(reviewer: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let contains =
        |list: &[TrustRule], rule: &TrustRule| list.iter().any(|other| other.is_same(rule));
    let before = std::mem::take(&mut trust.rules);
    for rule in &before {
        let is_kept = contains(&after.rules, rule);
        if !is_kept && rule.is_blocking() {
            let what = format!("{} would no longer be blocked", rule_subject(rule));
            reviewer.add_needing_consent((TRUST, ""), what, Some(describe_rule(rule)), None);
        } else if !is_kept {
            reviewer.add_harmless(
                TRUST,
                format!("{} is no longer allowed", rule_subject(rule)),
            );
        }
        if is_kept || rule.is_blocking() {
            trust.rules.push(rule.clone());
        }
    }
    for rule in after.rules.iter().filter(|rule| !contains(&before, rule)) {
        if rule.is_blocking() {
            reviewer.add_harmless(TRUST, format!("{} is now blocked", rule_subject(rule)));
            trust.rules.push(rule.clone());
        } else {
            let what = format!("{} would run without asking", rule_subject(rule));
            reviewer.add_needing_consent((TRUST, ""), what, None, Some(describe_rule(rule)));
        }
    }
}

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
            names.truncate(LISTED_NAMES_MAX);
            let omitted = match count.saturating_sub(LISTED_NAMES_MAX) {
                0 => String::new(),
                omitted => format!(" and {omitted} more"),
            };
            format!("always: {}{omitted}", names.join(", "))
        }
        RuleScope::Matching { pattern, .. } => {
            let pattern = serde_json::Value::Object(pattern.to_json());
            format!("if it matches {pattern}")
        }
    }
}

fn review_instructions(reviewer: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    let before = std::mem::take(&mut trust.instruction_consents);
    for consent in before {
        if after.has_consent(&consent) {
            trust.instruction_consents.push(consent);
        } else {
            let what = format!(
                "the instructions of `{}` are no longer sent",
                consent.server
            );
            reviewer.add_harmless(TRUST, what);
        }
    }
    for consent in &after.instruction_consents {
        if !trust.has_consent(consent) {
            let what = format!("the instructions of `{}` would be sent", consent.server);
            reviewer.add_needing_consent((TRUST, ""), what, None, Some("sent".to_owned()));
        }
    }
}

/// Adding the definition of an unknown tool is harmless: it would be recorded on first sight
/// anyway. Changing or removing a definition needs consent, since tools are compared with it.
fn review_pins(reviewer: &mut ChangeReviewer, trust: &mut Trust, after: &Trust) {
    for (server, launch, tool, new) in accepted_definitions(after) {
        match trust.accepted_definition(server, launch, tool).cloned() {
            None => trust.record_pin(server, launch, tool, new.clone()),
            Some(old) if old.pin == new.pin => {
                // The accepted definition stays the same.
                trust.record_pin(server, launch, tool, new.clone());
            }
            // The tool was recorded while the file was unreadable, so the file takes precedence.
            Some(_) if trust.unreadable.is_file_unreadable => {
                trust.record_pin(server, launch, tool, new.clone())
            }
            Some(old) => {
                let what = format!(
                    "tool `{tool}` of `{server}`: a different definition would be accepted"
                );
                reviewer.add_needing_consent(
                    (TRUST, ""),
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
    let mut removed_counts: Vec<(&ServerId, usize)> = Vec::new();
    for (server, launch, tool, _) in accepted_definitions(trust) {
        if after.accepted_definition(server, launch, tool).is_none() {
            match removed_counts
                .last_mut()
                .filter(|(last, _)| *last == server)
            {
                Some((_, count)) => *count += 1,
                None => removed_counts.push((server, 1)),
            }
        }
    }
    for (server, count) in removed_counts {
        let what = format!("server `{server}`: its accepted tool definitions would be removed");
        let definitions = match count {
            1 => "1 definition".to_owned(),
            count => format!("{count} definitions"),
        };
        reviewer.add_needing_consent((TRUST, ""), what, Some(definitions), None);
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

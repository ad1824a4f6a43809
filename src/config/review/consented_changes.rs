//! Applies changes that the user consented to on top of the current configuration. The user may
//! have made decisions while the question was open, and an older snapshot of the files must not
//! bring back a revoked permission.

use super::super::{ConfigSnapshot, Settings};
use crate::domain::Trust;
use crate::domain::trust::{AcceptedDefinition, InstructionsConsent, Pins, TrustRule};
use std::sync::Arc;

/// A three-way merge. Applies to `now` the differences between `base`, the configuration when the
/// files were read, and `after`, the contents of the files. Values of `now` that have changed since
/// `base` are kept, except those that only a file can change (`ui`, `keys`,
/// `theme` and `registry_url`).
pub fn apply_consented(
    now: &ConfigSnapshot,
    base: &ConfigSnapshot,
    after: ConfigSnapshot,
) -> ConfigSnapshot {
    let Settings {
        models,
        log_level,
        tool_mode,
        limits,
        tool_diet,
        ui,
        keys,
        theme,
        built_in,
        notes,
        roots,
        registry_url,
        has_model_entries,
    } = after.settings;
    let (base_settings, now_settings) = (&base.settings, &now.settings);
    ConfigSnapshot {
        settings: Settings {
            models: unless_changed(&now_settings.models, &base_settings.models, models),
            log_level: unless_changed(&now_settings.log_level, &base_settings.log_level, log_level),
            tool_mode: unless_changed(&now_settings.tool_mode, &base_settings.tool_mode, tool_mode),
            limits: unless_changed(&now_settings.limits, &base_settings.limits, limits),
            tool_diet: unless_changed(&now_settings.tool_diet, &base_settings.tool_diet, tool_diet),
            ui,
            keys,
            theme,
            built_in: unless_changed(&now_settings.built_in, &base_settings.built_in, built_in),
            notes: unless_changed(&now_settings.notes, &base_settings.notes, notes),
            roots: unless_changed(&now_settings.roots, &base_settings.roots, roots),
            registry_url,
            has_model_entries: unless_changed(
                &now_settings.has_model_entries,
                &base_settings.has_model_entries,
                has_model_entries,
            ),
        },
        servers: unless_changed(&now.servers, &base.servers, after.servers),
        system_prompt: unless_changed(&now.system_prompt, &base.system_prompt, after.system_prompt),
        personas: unless_changed(&now.personas, &base.personas, after.personas),
        trust: match now.trust == base.trust {
            true => after.trust,
            false => Arc::new(merge_trust(&now.trust, &base.trust, &after.trust)),
        },
    }
}

fn unless_changed<T: PartialEq + Clone>(now: &T, base: &T, after: T) -> T {
    if now == base { after } else { now.clone() }
}

fn merge_trust(now: &Trust, base: &Trust, after: &Trust) -> Trust {
    Trust {
        rules: merge_lists(&now.rules, &base.rules, &after.rules, TrustRule::is_same),
        instruction_consents: merge_lists(
            &now.instruction_consents,
            &base.instruction_consents,
            &after.instruction_consents,
            InstructionsConsent::is_same,
        ),
        pins: merge_pins(now, base, after),
        unreadable: unless_changed(&now.unreadable, &base.unreadable, after.unreadable.clone()),
    }
}

/// The entries of `now`, minus those that `after` removes from `base`, plus those it adds.
fn merge_lists<T: Clone>(
    now: &[T],
    base: &[T],
    after: &[T],
    is_same: fn(&T, &T) -> bool,
) -> Vec<T> {
    let contains = |list: &[T], entry: &T| list.iter().any(|other| is_same(other, entry));
    let remains = |entry: &&T| !contains(base, entry) || contains(after, entry);
    let is_new = |entry: &&T| !contains(base, entry) && !contains(now, entry);
    let remaining = now.iter().filter(remains);
    remaining
        .chain(after.iter().filter(is_new))
        .cloned()
        .collect()
}

fn merge_pins(now: &Trust, base: &Trust, after: &Trust) -> Pins {
    fn find<'a>(
        trust: &'a Trust,
        server: &str,
        launch: &str,
        tool: &str,
    ) -> Option<&'a AcceptedDefinition> {
        let launches = trust.pins.iter().find(|(id, _)| id.as_str() == server)?.1;
        let tools = launches.iter().find(|(id, _)| id.as_str() == launch)?.1;
        tools.get(tool)
    }
    let mut pins = Pins::new();
    for (server, launches) in now.pins.iter().chain(&after.pins) {
        for (launch, tools) in launches {
            for tool in tools.keys() {
                let [current, original, edited] = [now, base, after]
                    .map(|trust| find(trust, server.as_str(), launch.as_str(), tool));
                let merged = if current == original { edited } else { current };
                if let Some(merged) = merged {
                    let launches = pins.entry(server.clone()).or_default();
                    let tools = launches.entry(launch.clone()).or_default();
                    tools.insert(tool.clone(), merged.clone());
                }
            }
        }
    }
    pins
}

/// Whether `one` and `other` add to `now` the same permissions and consents to instructions.
/// Changes with identical descriptions can still differ in a launch, a tool definition or a text.
pub fn grants_same_permissions(now: &Trust, one: &Trust, other: &Trust) -> bool {
    let new_rules = |trust: &Trust| -> Vec<TrustRule> {
        let is_new = |rule: &&TrustRule| {
            !rule.is_blocking() && !now.rules.iter().any(|old| old.is_same(rule))
        };
        trust.rules.iter().filter(is_new).cloned().collect()
    };
    let new_consents = |trust: &Trust| -> Vec<InstructionsConsent> {
        let is_new = |consent: &&InstructionsConsent| !now.has_consent(consent);
        trust
            .instruction_consents
            .iter()
            .filter(is_new)
            .cloned()
            .collect()
    };
    let (rules, other_rules) = (new_rules(one), new_rules(other));
    let (consents, other_consents) = (new_consents(one), new_consents(other));
    rules.len() == other_rules.len()
        && consents.len() == other_consents.len()
        && rules
            .iter()
            .all(|rule| other_rules.iter().any(|other| other.is_same(rule)))
        && consents
            .iter()
            .all(|consent| other_consents.iter().any(|other| other.is_same(consent)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::trust::RuleScope;
    use crate::domain::{LaunchId, Pin, ServerId, ToolMode};

    fn rule(tool: &str, pin: &str) -> TrustRule {
        TrustRule {
            server: ServerId::new("s"),
            launch: LaunchId::from_hash("l"),
            decided_at: jiff::Timestamp::UNIX_EPOCH,
            scope: RuleScope::Tool {
                tool: tool.to_owned(),
                pin: Pin::from_hash(pin),
            },
        }
    }

    fn snapshot(rules: &[TrustRule], mode: ToolMode) -> ConfigSnapshot {
        let trust = Trust {
            rules: rules.to_vec(),
            ..Trust::default()
        };
        ConfigSnapshot {
            settings: Settings {
                tool_mode: mode,
                ..Settings::default()
            },
            trust: Arc::new(trust),
            ..ConfigSnapshot::default()
        }
    }

    #[test]
    fn decisions_made_while_the_question_was_open_are_kept() {
        let (a, b, c, d) = (
            rule("a", "1"),
            rule("b", "1"),
            rule("c", "1"),
            rule("d", "1"),
        );
        let base = snapshot(&[a.clone(), b.clone()], ToolMode::Auto);
        // The files add `c` and remove `a`. Meanwhile the user revoked `b`, allowed `d` and
        // returned to manual mode.
        let after = snapshot(&[b.clone(), c.clone()], ToolMode::Auto);
        let now = snapshot(&[a, d.clone()], ToolMode::Manual);
        assert_eq!(
            apply_consented(&now, &base, after.clone()),
            snapshot(&[d, c], ToolMode::Manual)
        );
        assert_eq!(apply_consented(&base, &base, after.clone()), after);
    }

    #[test]
    fn pins_decided_while_the_question_was_open_are_kept() {
        let pinned = |tools: &[(&str, &str)]| {
            let mut trust = Trust::default();
            for (tool, pin) in tools {
                let accepted = AcceptedDefinition {
                    pin: Pin::from_hash(*pin),
                    ..AcceptedDefinition::unknown()
                };
                let (server, launch) = (ServerId::new("s"), LaunchId::from_hash("l"));
                trust.record_pin(&server, &launch, tool, accepted);
            }
            trust
        };
        let base = pinned(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let after = pinned(&[("a", "2"), ("b", "2"), ("e", "1")]);
        let now = pinned(&[("a", "1"), ("b", "3"), ("c", "1"), ("d", "1")]);
        let expected = pinned(&[("a", "2"), ("b", "3"), ("d", "1"), ("e", "1")]);
        assert_eq!(merge_trust(&now, &base, &after).pins, expected.pins);
    }

    #[test]
    fn grants_with_identical_descriptions_are_distinguished() {
        let with_rules = |rules: &[TrustRule]| Trust {
            rules: rules.to_vec(),
            ..Trust::default()
        };
        let now = Trust::default();
        let one = with_rules(&[rule("a", "1")]);
        let other = with_rules(&[rule("a", "2")]);
        assert!(grants_same_permissions(&now, &one, &one));
        assert!(!grants_same_permissions(&now, &one, &other));
        assert!(grants_same_permissions(&other, &other, &now));
    }
}

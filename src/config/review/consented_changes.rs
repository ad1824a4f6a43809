//! Applies changes that the user consented to, on top of the configuration at that time. The
//! user may have made decisions while the question was open, and an older snapshot of the
//! files must not bring back a revoked permission.

use super::super::{ConfigSnapshot, Settings};
use crate::domain::Trust;
use crate::domain::trust::{AcceptedDefinition, InstructionsConsent, Pins, TrustRule};
use std::sync::Arc;

/// A three-way merge: `now` with the differences between `base`, the configuration when the
/// files were read, and `after`, their contents. Values that changed since then are kept.
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
        has_model_entries: lists_models,
    } = after.settings;
    let (was, is) = (&base.settings, &now.settings);
    ConfigSnapshot {
        settings: Settings {
            models: unless_replaced(&is.models, &was.models, models),
            log_level: unless_replaced(&is.log_level, &was.log_level, log_level),
            tool_mode: unless_replaced(&is.tool_mode, &was.tool_mode, tool_mode),
            limits: unless_replaced(&is.limits, &was.limits, limits),
            has_model_entries: unless_replaced(
                &is.has_model_entries,
                &was.has_model_entries,
                lists_models,
            ),
        },
        servers: unless_replaced(&now.servers, &base.servers, after.servers),
        system_prompt: unless_replaced(
            &now.system_prompt,
            &base.system_prompt,
            after.system_prompt,
        ),
        personas: unless_replaced(&now.personas, &base.personas, after.personas),
        trust: match now.trust == base.trust {
            true => after.trust,
            false => Arc::new(merge_trust(&now.trust, &base.trust, &after.trust)),
        },
    }
}

/// `after`, unless the value changed since `base`.
fn unless_replaced<T: PartialEq + Clone>(now: &T, base: &T, after: T) -> T {
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
        unreadable: unless_replaced(&now.unreadable, &base.unreadable, after.unreadable.clone()),
    }
}

/// The entries of `now`, minus those that `after` removes from `base`, plus those it adds.
fn merge_lists<T: Clone>(
    now: &[T],
    base: &[T],
    after: &[T],
    is_same: fn(&T, &T) -> bool,
) -> Vec<T> {
    let has = |list: &[T], entry: &T| list.iter().any(|other| is_same(other, entry));
    let remains = |entry: &&T| !has(base, entry) || has(after, entry);
    let is_new = |entry: &&T| !has(base, entry) && !has(now, entry);
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
                let [is, was, new] = [now, base, after]
                    .map(|trust| find(trust, server.as_str(), launch.as_str(), tool));
                let merged = if is == was { new } else { is };
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

/// Whether both grant the same permissions and instructions beyond `now`. Changes with
/// identical descriptions can still differ in a launch, a tool definition or a text.
pub fn grants_same_permissions(now: &Trust, one: &Trust, other: &Trust) -> bool {
    let rules = |trust: &Trust| -> Vec<TrustRule> {
        let is_new = |rule: &&TrustRule| {
            !rule.is_blocking() && !now.rules.iter().any(|known| known.is_same(rule))
        };
        trust.rules.iter().filter(is_new).cloned().collect()
    };
    let agreed = |trust: &Trust| -> Vec<InstructionsConsent> {
        let is_new = |agreed: &&InstructionsConsent| !now.has_consent(agreed);
        trust
            .instruction_consents
            .iter()
            .filter(is_new)
            .cloned()
            .collect()
    };
    let (a, b) = (rules(one), rules(other));
    let (c, d) = (agreed(one), agreed(other));
    a.len() == b.len()
        && c.len() == d.len()
        && a.iter()
            .all(|rule| b.iter().any(|other| other.is_same(rule)))
        && c.iter()
            .all(|agreed| d.iter().any(|other| other.is_same(agreed)))
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

    fn known(rules: &[TrustRule], mode: ToolMode) -> ConfigSnapshot {
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
        let base = known(&[a.clone(), b.clone()], ToolMode::Auto);
        // The files add `c` and remove `a`. Meanwhile the user revoked `b`, allowed `d` and
        // returned to manual mode.
        let after = known(&[b.clone(), c.clone()], ToolMode::Auto);
        let now = known(&[a, d.clone()], ToolMode::Manual);
        assert_eq!(
            apply_consented(&now, &base, after.clone()),
            known(&[d, c], ToolMode::Manual)
        );
        assert_eq!(apply_consented(&base, &base, after.clone()), after);
    }

    #[test]
    fn pins_decided_in_the_meantime_are_kept() {
        let pinned = |tools: &[(&str, &str)]| {
            let mut trust = Trust::default();
            for (tool, pin) in tools {
                let accepted = AcceptedDefinition {
                    pin: Pin::from_hash(*pin),
                    ..AcceptedDefinition::unknown()
                };
                let (server, launch) = (ServerId::new("s"), LaunchId::from_hash("l"));
                trust.accept(&server, &launch, tool, accepted);
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

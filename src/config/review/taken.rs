//! Applies changes that the user consented to, on top of the configuration at that time. The
//! user may have made decisions while the question was open, and an older snapshot of the
//! files must not bring back a revoked permission.

use super::super::{Known, Settings};
use crate::domain::Trust;
use crate::domain::trust::{Accepted, Agreed, Pins, Rule};
use std::sync::Arc;

/// A three-way merge: `now` with the differences between `base`, the configuration when the
/// files were read, and `after`, their contents. Values that changed since then are kept.
pub fn taken(now: &Known, base: &Known, after: Known) -> Known {
    let Settings {
        models,
        log_level,
        tool_mode,
        limits,
        lists_models,
    } = after.settings;
    let (was, is) = (&base.settings, &now.settings);
    Known {
        settings: Settings {
            models: pick(&is.models, &was.models, models),
            log_level: pick(&is.log_level, &was.log_level, log_level),
            tool_mode: pick(&is.tool_mode, &was.tool_mode, tool_mode),
            limits: pick(&is.limits, &was.limits, limits),
            lists_models: pick(&is.lists_models, &was.lists_models, lists_models),
        },
        servers: pick(&now.servers, &base.servers, after.servers),
        system_prompt: pick(&now.system_prompt, &base.system_prompt, after.system_prompt),
        personas: pick(&now.personas, &base.personas, after.personas),
        trust: match now.trust == base.trust {
            true => after.trust,
            false => Arc::new(trust(&now.trust, &base.trust, &after.trust)),
        },
    }
}

/// `after`, unless the value changed since `base`.
fn pick<T: PartialEq + Clone>(now: &T, base: &T, after: T) -> T {
    if now == base { after } else { now.clone() }
}

fn trust(now: &Trust, base: &Trust, after: &Trust) -> Trust {
    Trust {
        rules: listed(&now.rules, &base.rules, &after.rules, Rule::is_same),
        instructions: listed(
            &now.instructions,
            &base.instructions,
            &after.instructions,
            Agreed::is_same,
        ),
        pins: pins(now, base, after),
        doubt: pick(&now.doubt, &base.doubt, after.doubt.clone()),
    }
}

/// The entries of `now`, minus those that `after` removes from `base`, plus those it adds.
fn listed<T: Clone>(now: &[T], base: &[T], after: &[T], is_same: fn(&T, &T) -> bool) -> Vec<T> {
    let has = |list: &[T], entry: &T| list.iter().any(|other| is_same(other, entry));
    let remains = |entry: &&T| !has(base, entry) || has(after, entry);
    let is_new = |entry: &&T| !has(base, entry) && !has(now, entry);
    let remaining = now.iter().filter(remains);
    remaining
        .chain(after.iter().filter(is_new))
        .cloned()
        .collect()
}

fn pins(now: &Trust, base: &Trust, after: &Trust) -> Pins {
    fn find<'a>(trust: &'a Trust, server: &str, launch: &str, tool: &str) -> Option<&'a Accepted> {
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
pub fn is_same_leave(now: &Trust, one: &Trust, other: &Trust) -> bool {
    let rules = |trust: &Trust| -> Vec<Rule> {
        let is_new =
            |rule: &&Rule| !rule.is_never() && !now.rules.iter().any(|known| known.is_same(rule));
        trust.rules.iter().filter(is_new).cloned().collect()
    };
    let agreed = |trust: &Trust| -> Vec<Agreed> {
        let is_new = |agreed: &&Agreed| !now.is_agreed(agreed);
        trust.instructions.iter().filter(is_new).cloned().collect()
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
    use crate::domain::trust::Cover;
    use crate::domain::{LaunchId, Pin, ServerId, ToolMode};

    fn rule(tool: &str, pin: &str) -> Rule {
        Rule {
            server: ServerId::new("s"),
            launch: LaunchId::from_hash("l"),
            since: jiff::Timestamp::UNIX_EPOCH,
            cover: Cover::Tool {
                tool: tool.to_owned(),
                pin: Pin::from_hash(pin),
            },
        }
    }

    fn known(rules: &[Rule], mode: ToolMode) -> Known {
        let trust = Trust {
            rules: rules.to_vec(),
            ..Trust::default()
        };
        Known {
            settings: Settings {
                tool_mode: mode,
                ..Settings::default()
            },
            trust: Arc::new(trust),
            ..Known::default()
        }
    }

    #[test]
    fn what_was_decided_while_the_question_was_open_stays() {
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
            taken(&now, &base, after.clone()),
            known(&[d, c], ToolMode::Manual)
        );
        assert_eq!(taken(&base, &base, after.clone()), after);
    }

    #[test]
    fn pins_that_were_decided_meanwhile_stay() {
        let pinned = |tools: &[(&str, &str)]| {
            let mut trust = Trust::default();
            for (tool, pin) in tools {
                let accepted = Accepted {
                    pin: Pin::from_hash(*pin),
                    ..Accepted::unknown()
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
        assert_eq!(trust(&now, &base, &after).pins, expected.pins);
    }

    #[test]
    fn grants_with_the_same_words_are_told_apart() {
        let with_rules = |rules: &[Rule]| Trust {
            rules: rules.to_vec(),
            ..Trust::default()
        };
        let now = Trust::default();
        let one = with_rules(&[rule("a", "1")]);
        let other = with_rules(&[rule("a", "2")]);
        assert!(is_same_leave(&now, &one, &one));
        assert!(!is_same_leave(&now, &one, &other));
        assert!(is_same_leave(&other, &other, &now));
    }
}

//! Changes of stored decisions from outside a turn.

use super::checker::Checker;
use super::test_rng::TestRng;
use super::world;
use humble::domain::trust::RuleScope;
use humble::domain::{ArgumentPattern, ToolIdentity};
use humble::engine::approval::Approval;
use humble::engine::turn::TurnInput;
use serde_json::json;

/// Rules that were revoked, granted or blocked, here or in another instance.
pub fn trust_changed(dice: &mut TestRng, seen: &Checker) -> TurnInput {
    let mut approval = Approval::new(seen.mode);
    for tool in world::offered(if dice.one_in(3) { 2 } else { 0 }).tools() {
        let (name, pin) = (tool.tool.name.clone(), tool.tool.pin.clone());
        let cover = match dice.below(12) {
            0 => RuleScope::Never { tool: name, pin },
            1 => RuleScope::Tool { tool: name, pin },
            2 => RuleScope::Server {
                tools: [(name, pin)].into(),
            },
            3 => RuleScope::Matching {
                tool: name,
                pin,
                pattern: pattern(dice),
            },
            4 => {
                approval.grant(ToolIdentity::from_offered(tool));
                continue;
            }
            _ => continue,
        };
        approval.remember(tool, cover);
    }
    TurnInput::TrustChanged(Box::new(approval))
}

pub fn pattern(dice: &mut TestRng) -> ArgumentPattern {
    let path = *dice.pick(&["a", "b", "*"]);
    let pattern = json!({ "path": path });
    ArgumentPattern::from_json(pattern.as_object().expect("an object")).expect("a valid pattern")
}

//! Changes to stored decisions that do not come from the turn itself.

use super::invariant_checker::InvariantChecker;
use super::test_rng::TestRng;
use super::world;
use humble::domain::trust::RuleScope;
use humble::domain::{ArgumentPattern, ToolIdentity};
use humble::engine::approval::Approval;
use humble::engine::turn::TurnInput;
use serde_json::json;

/// Random rules and session grants, as if decisions had been stored or revoked elsewhere.
pub fn trust_changed(rng: &mut TestRng, checker: &InvariantChecker) -> TurnInput {
    let mut approval = Approval::new(checker.mode);
    for tool in world::toolset(if rng.one_in(3) { 2 } else { 0 }).tools() {
        let (name, pin) = (tool.tool.name.clone(), tool.tool.pin.clone());
        let scope = match rng.below(12) {
            0 => RuleScope::Never { tool: name, pin },
            1 => RuleScope::Tool { tool: name, pin },
            2 => RuleScope::Server {
                tools: [(name, pin)].into(),
            },
            3 => RuleScope::Matching {
                tool: name,
                pin,
                pattern: pattern(rng),
            },
            4 => {
                approval.grant(ToolIdentity::from_offered(tool));
                continue;
            }
            _ => continue,
        };
        approval.remember(tool, scope);
    }
    TurnInput::TrustChanged(Box::new(approval))
}

pub fn pattern(rng: &mut TestRng) -> ArgumentPattern {
    let path = *rng.pick(&["a", "b", "*"]);
    let pattern = json!({ "path": path });
    ArgumentPattern::from_json(pattern.as_object().expect("an object")).expect("a valid pattern")
}

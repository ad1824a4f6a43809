//! Changes of stored decisions from outside a turn.

use super::checker::Checker;
use super::test_rng::TestRng;
use super::world;
use humble::domain::trust::Cover;
use humble::domain::{Grant, Pattern};
use humble::engine::approval::Approval;
use humble::engine::turn::TurnInput;
use serde_json::json;

/// Rules that were revoked, granted or blocked, here or in another instance.
pub fn trust_changed(dice: &mut TestRng, seen: &Checker) -> TurnInput {
    let mut approval = Approval::new(seen.mode);
    for tool in world::offered(if dice.one_in(3) { 2 } else { 0 }).tools() {
        let (name, pin) = (tool.tool.name.clone(), tool.tool.pin.clone());
        let cover = match dice.below(12) {
            0 => Cover::Never { tool: name, pin },
            1 => Cover::Tool { tool: name, pin },
            2 => Cover::Server {
                tools: [(name, pin)].into(),
            },
            3 => Cover::Matching {
                tool: name,
                pin,
                pattern: pattern(dice),
            },
            4 => {
                approval.grant(Grant::of(tool));
                continue;
            }
            _ => continue,
        };
        approval.remember(tool, cover);
    }
    TurnInput::TrustChanged(Box::new(approval))
}

pub fn pattern(dice: &mut TestRng) -> Pattern {
    let path = *dice.pick(&["a", "b", "*"]);
    let pattern = json!({ "path": path });
    Pattern::from_json(pattern.as_object().expect("an object")).expect("a valid pattern")
}

//! A simulated user who gives any answer.

use super::test_rng::TestRng;
use super::trust_inputs::pattern;
use super::world::arguments;
use humble::domain::{CallId, Decision};
use humble::protocol::{Question, UserAnswer, UserChoice};

pub const CHOICES: [UserChoice; 10] = [
    UserChoice::TellModel,
    UserChoice::TreatAsText,
    UserChoice::Retry,
    UserChoice::AllowMoreTools,
    UserChoice::KeepWaiting,
    UserChoice::SendAgain,
    UserChoice::ExtendRoundLimit,
    UserChoice::NoRoundLimit,
    UserChoice::AnswerNow,
    UserChoice::Stop,
];

pub fn answer(rng: &mut TestRng, question: &Question) -> UserAnswer {
    if rng.one_in(20) {
        return UserAnswer::Dismissed;
    }
    let calls = question.calls();
    if calls.is_empty() {
        let offered = question.choices;
        // Stopping ends the turn, so it is chosen less often.
        let picked = rng.pick(offered);
        let picked = if picked.choice == UserChoice::Stop {
            rng.pick(offered)
        } else {
            picked
        };
        return UserAnswer::Choice(picked.choice);
    }
    let mut decisions: Vec<_> = calls
        .iter()
        .map(|call| (call.call, decision(rng)))
        .collect();
    if rng.one_in(15) {
        decisions.pop();
    }
    if rng.one_in(15) {
        decisions.push((CallId(999), Decision::Run));
    }
    UserAnswer::Calls(decisions)
}

fn decision(rng: &mut TestRng) -> Decision {
    match rng.below(22) {
        18 => Decision::RunAlways,
        19 => Decision::RunWholeServer,
        20 => Decision::RunMatching {
            pattern: pattern(rng),
        },
        21 => Decision::Never,
        0 => Decision::Refuse,
        1 | 2 => Decision::Deny { message: None },
        3 => Decision::Deny {
            message: Some("다른 폴더".to_owned()),
        },
        4 | 5 => Decision::Edit {
            arguments: arguments(rng).unwrap_or_default(),
        },
        6 => Decision::ReuseResult,
        7 => Decision::TreatAsText,
        8 | 9 => Decision::RunForSession,
        _ => Decision::Run,
    }
}

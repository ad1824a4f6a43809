//! Turns that were offered to a note agent, which may prepare the request and use the answer.

use super::invariant_checker::{InvariantChecker, Verdict};
use super::test_rng::TestRng;
use super::{INPUTS_MAX, run_count, world};
use humble::domain::{AgentResult, Notice};
use humble::engine::turn::{AgentPlan, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnState};
use std::collections::BTreeSet;

/// The number of kinds of [`AgentPlan`].
const KINDS: usize = 6;

fn result() -> AgentResult {
    AgentResult::NotesConsulted {
        sources: vec!["tea.md".to_owned()],
        remarks: Vec::new(),
    }
}

fn plan(kind: usize) -> AgentPlan {
    let notice = Notice::failure("no notes");
    match kind {
        0 => AgentPlan::PassOn(notice),
        1 => AgentPlan::RequestFailed(notice),
        2 => AgentPlan::AskModel("Write a note.".to_owned()),
        3 => AgentPlan::UseAnswer,
        4 => AgentPlan::AddToPrompt {
            excerpts: "노트".to_owned(),
            result: result(),
        },
        _ => AgentPlan::Answer {
            text: "글".to_owned(),
            result: result(),
        },
    }
}

fn agent_input(rng: &mut TestRng, plan_kind: usize) -> TurnInput {
    match rng.below(6) {
        0 => TurnInput::AgentProgressed("reading".to_owned()),
        1 | 2 => TurnInput::AgentPrepared(plan(plan_kind)),
        3 | 4 => TurnInput::AgentFinished(Ok(result())),
        _ => TurnInput::AgentFinished(Err(Notice::failure("not saved"))),
    }
}

/// The rules of an agent's turn, in addition to the invariants of every turn.
#[derive(Default)]
struct AgentRules {
    plan: Option<usize>,
    finishes: u32,
}

impl AgentRules {
    fn check(&mut self, effects: &[TurnEffect]) -> Result<(), String> {
        for effect in effects {
            match effect {
                TurnEffect::Request { .. } if self.plan.is_none() => {
                    return Err("a request before the agent is ready".to_owned());
                }
                TurnEffect::Run(_) | TurnEffect::OpenAsk { .. } | TurnEffect::CheckArguments(_)
                    if self.plan.is_none() =>
                {
                    return Err(format!("before the agent is ready: {effect:?}"));
                }
                TurnEffect::Run(call) if self.plan == Some(2) => {
                    return Err(format!("the agent's request offers no tools: {call:?}"));
                }
                TurnEffect::FinishAgent(_) => {
                    self.finishes += 1;
                    if self.finishes > 1 || !matches!(self.plan, Some(2 | 3)) {
                        return Err("the agent gets an answer that it did not wait for".to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn run(seed: u64, states: &mut BTreeSet<(usize, TurnState)>) -> Result<(), String> {
    let rng = &mut TestRng::new(seed);
    let plan_kind = rng.below(KINDS);
    let setup = world::setup(rng);
    let mut checker = InvariantChecker::new(setup.approval.mode, setup.limits.errors_per_turn);
    let ids = TurnIdGenerators::default();
    let awaits_servers = seed % 2 == 1;
    let (mut turn, first_effects) = match awaits_servers {
        true => Turn::begin_awaiting_servers(setup, ids),
        false => Turn::begin_with_agent(setup, ids),
    };
    let mut rules = AgentRules::default();
    let described = |verdict: Verdict| verdict.map_err(|violation| format!("{violation:?}"));
    described(checker.check_effects(&first_effects))?;
    rules.check(&first_effects)?;
    let mut inputs_after_end = 0;
    for step in 0..INPUTS_MAX {
        let state = turn.state();
        states.insert((plan_kind, state));
        let is_agent_at_work =
            matches!(state, TurnState::AgentPreparing | TurnState::AgentFinishing);
        let input = match step == INPUTS_MAX - 1 {
            true => TurnInput::Interrupt,
            false if checker.is_awaiting_servers => world::servers_ready(true),
            false if rng.one_in(if is_agent_at_work { 3 } else { 30 }) => {
                agent_input(rng, plan_kind)
            }
            false => world::input(rng, &checker),
        };
        if state == TurnState::AgentPreparing && matches!(input, TurnInput::AgentPrepared(_)) {
            rules.plan = Some(plan_kind);
        }
        checker.observe_input(&input);
        let effects = turn.step(input);
        described(checker.check_effects(&effects))?;
        rules.check(&effects)?;
        inputs_after_end += usize::from(checker.has_ended);
        if inputs_after_end > 5 {
            return Ok(());
        }
    }
    match checker.has_ended {
        true => Ok(()),
        false => Err(format!("an interrupt did not end it: {:?}", turn.state())),
    }
}

#[test]
fn random_turns_of_agents_keep_every_invariant() {
    let mut states = BTreeSet::new();
    for seed in 0..run_count() {
        if let Err(why) = run(seed, &mut states) {
            panic!("seed {seed}: {why}");
        }
    }
    for kind in 0..KINDS {
        assert!(states.contains(&(kind, TurnState::Ended)), "plan {kind}");
        let finishes = states.contains(&(kind, TurnState::AgentFinishing));
        assert_eq!(finishes, matches!(kind, 2 | 3), "plan {kind}");
    }
}

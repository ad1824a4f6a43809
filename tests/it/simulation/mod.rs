//! Seeded random inputs for the pure cores. A failure prints its seed; pass it to `one_turn`
//! to reproduce it.

use crate::support::test_rng;
mod approvals;
mod approving_user;
mod argument_checks;
mod checker;
mod drawn_calls;
mod faulty_turns;
mod random_arguments;
mod screen;
mod transitions;
mod trust_inputs;
mod trust_model;
mod user;
mod world;

use checker::{Checker, Invariant};
use faulty_turns::{FAULTY_TURNS, TurnMachine};
use humble::domain::ToolMode;
use humble::engine::turn::{Turn, TurnEffect, TurnIdGenerators, TurnState};
use std::collections::BTreeSet;
use test_rng::TestRng;
use transitions::{TRANSITIONS, Transition, kind_of};

/// Number of seeds in the test suite; CI sets `HUMBLE_SIMULATION_RUNS` to 100,000.
const RUNS: u64 = 5_000;
/// Seeds for transitions that the default seeds do not take.
const RARE_SEEDS: [u64; 3] = [5_298, 6_938, 16_350];
const INPUTS_MAX: usize = 400;

struct Outcome {
    inputs: usize,
    verdict: Result<(), (Invariant, String)>,
}

fn one_turn(
    seed: u64,
    wrap: impl FnOnce(Turn) -> Box<dyn TurnMachine>,
    seen: &mut BTreeSet<Transition>,
) -> Outcome {
    let dice = &mut TestRng::new(seed);
    let setup = world::setup(dice);
    let manual = setup.approval.mode == ToolMode::Manual;
    let mode = if manual {
        ToolMode::Manual
    } else {
        ToolMode::Auto
    };
    let mut checker = Checker::new(mode, setup.limits.errors_per_turn);
    let (turn, first): (Turn, Vec<TurnEffect>) = Turn::begin(setup, TurnIdGenerators::default());
    let mut machine = wrap(turn);
    let mut verdict = checker.check_effects(&first);
    let mut inputs = 0;
    let mut after_the_end = 0;
    while verdict.is_ok() && inputs < INPUTS_MAX && after_the_end < 5 {
        let input = world::input(dice, &checker);
        let (from, kind) = (machine.state(), kind_of(&input));
        checker.observe_input(&input);
        let effects = machine.step(input);
        seen.insert((from, kind, machine.state()));
        verdict = checker.check_effects(&effects);
        // Inputs after the end are tried but not counted.
        after_the_end += usize::from(checker.ended);
        inputs += usize::from(after_the_end <= 1);
    }
    Outcome { inputs, verdict }
}

fn runs() -> u64 {
    let given = std::env::var("HUMBLE_SIMULATION_RUNS").ok();
    given.map_or(RUNS, |given| given.parse().expect("a number of runs"))
}

#[test]
fn random_turns_keep_every_invariant_and_take_every_transition() {
    let runs = runs();
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            std::thread::spawn(move || {
                let mut seen = BTreeSet::new();
                let mut inputs = 0;
                let rare = RARE_SEEDS.into_iter().filter(|seed| *seed >= runs);
                for seed in (0..runs)
                    .chain(rare)
                    .filter(|seed| seed % threads == worker)
                {
                    let outcome = one_turn(seed, |turn| Box::new(turn), &mut seen);
                    if let Err((invariant, what)) = outcome.verdict {
                        panic!("seed {seed}: {invariant:?}: {what}");
                    }
                    inputs += outcome.inputs;
                }
                (seen, inputs)
            })
        })
        .collect();
    let (mut seen, mut inputs) = (BTreeSet::new(), 0);
    for worker in workers {
        let (of_worker, count) = worker.join().expect("no seed failed");
        seen.extend(of_worker);
        inputs += count;
    }
    let average = inputs as u64 / runs;
    println!(
        "{runs} turns, {inputs} inputs, {average} each, {} transitions",
        seen.len()
    );
    assert!(average >= 30, "only {average} inputs per run");
    // Inputs that do not change the state are not listed.
    let taken: BTreeSet<Transition> = seen
        .into_iter()
        .filter(|(from, _, to)| from != to)
        .collect();
    let listed: BTreeSet<Transition> = TRANSITIONS.iter().copied().collect();
    let missing: Vec<_> = listed.difference(&taken).collect();
    let unlisted: Vec<_> = taken.difference(&listed).collect();
    assert!(missing.is_empty(), "never taken: {missing:#?}");
    assert!(unlisted.is_empty(), "not in the table: {unlisted:#?}");
}

#[test]
fn each_faulty_machine_is_caught() {
    for (name, invariant, wrap) in FAULTY_TURNS {
        let caught = (0..5_000).find_map(|seed| {
            one_turn(seed, *wrap, &mut BTreeSet::new())
                .verdict
                .err()
                .map(|(found, _)| found)
        });
        assert_eq!(caught, Some(*invariant), "{name}");
    }
}

#[test]
fn ended_turn_stays_ended() {
    for seed in 0..2_000 {
        let mut seen = BTreeSet::new();
        one_turn(seed, |turn| Box::new(turn), &mut seen);
        assert!(
            seen.iter()
                .all(|(from, _, to)| *from != TurnState::Ended || *to == TurnState::Ended)
        );
    }
}

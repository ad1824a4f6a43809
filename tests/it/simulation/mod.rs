//! Seeded random inputs for the turn and the screen, which perform no I/O, and for the whole
//! engine. A failure prints its seed; pass the seed to the function that runs one seed, such as
//! `run_turn`, to reproduce the failure.

use crate::support::test_rng;
mod agent_turns;
mod approvals;
mod approving_user;
mod argument_checks;
mod drawn_calls;
mod engine;
mod faulty_turns;
mod invariant_checker;
mod key_timing;
mod random_arguments;
mod saved_text;
mod screen;
mod transitions;
mod trust_inputs;
mod trust_model;
mod user;
mod world;

use faulty_turns::{FAULTY_TURNS, TurnMachine};
use humble::domain::ToolMode;
use humble::engine::turn::{Turn, TurnEffect, TurnIdGenerators, TurnState};
use invariant_checker::{Invariant, InvariantChecker};
use std::collections::BTreeSet;
use test_rng::TestRng;
use transitions::{TRANSITIONS, Transition, kind_of};

/// Number of seeds in the test suite; CI sets `HUMBLE_SIMULATION_RUNS` to 100,000.
const RUNS: u64 = 5_000;
/// Seeds for transitions that the default seeds do not take.
const RARE_SEEDS: [u64; 3] = [9_783, 10_376, 29_268];
const INPUTS_MAX: usize = 400;
/// One turn of this many waits for servers first.
const SEEDS_PER_WAITING_TURN: u64 = 64;

struct Outcome {
    inputs: usize,
    verdict: Result<(), (Invariant, String)>,
}

fn run_turn(
    seed: u64,
    wrap: impl FnOnce(Turn) -> Box<dyn TurnMachine>,
    transitions: &mut BTreeSet<Transition>,
) -> Outcome {
    let rng = &mut TestRng::new(seed);
    let setup = world::setup(rng);
    let is_manual = setup.approval.mode == ToolMode::Manual;
    let mode = if is_manual {
        ToolMode::Manual
    } else {
        ToolMode::Auto
    };
    let mut checker = InvariantChecker::new(mode, setup.limits.errors_per_turn);
    let ids = TurnIdGenerators::default();
    let (turn, first_effects): (Turn, Vec<TurnEffect>) = match (seed + 1) % SEEDS_PER_WAITING_TURN {
        0 => Turn::begin_awaiting_servers(setup, ids),
        _ => Turn::begin(setup, ids),
    };
    let mut machine = wrap(turn);
    let mut verdict = checker.check_effects(&first_effects);
    let mut inputs = 0;
    let mut inputs_after_end = 0;
    while verdict.is_ok() && inputs < INPUTS_MAX && inputs_after_end < 5 {
        let input = world::input(rng, &checker);
        let (from, kind) = (machine.state(), kind_of(&input));
        checker.observe_input(&input);
        let effects = machine.step(input);
        transitions.insert((from, kind, machine.state()));
        verdict = checker.check_effects(&effects);
        // A few inputs are sent after the end, but not counted.
        inputs_after_end += usize::from(checker.has_ended);
        inputs += usize::from(inputs_after_end <= 1);
    }
    Outcome { inputs, verdict }
}

fn run_count() -> u64 {
    let variable = std::env::var("HUMBLE_SIMULATION_RUNS").ok();
    variable.map_or(RUNS, |text| text.parse().expect("a number of runs"))
}

#[test]
fn random_turns_keep_every_invariant_and_take_every_transition() {
    let runs = run_count();
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            std::thread::spawn(move || {
                let mut transitions = BTreeSet::new();
                let mut inputs = 0;
                let rare_seeds = RARE_SEEDS.into_iter().filter(|seed| *seed >= runs);
                for seed in (0..runs)
                    .chain(rare_seeds)
                    .filter(|seed| seed % threads == worker)
                {
                    let outcome = run_turn(seed, |turn| Box::new(turn), &mut transitions);
                    if let Err((invariant, details)) = outcome.verdict {
                        panic!("seed {seed}: {invariant:?}: {details}");
                    }
                    inputs += outcome.inputs;
                }
                (transitions, inputs)
            })
        })
        .collect();
    let (mut transitions, mut inputs) = (BTreeSet::new(), 0);
    for worker in workers {
        let (worker_transitions, count) = worker.join().expect("no seed failed");
        transitions.extend(worker_transitions);
        inputs += count;
    }
    let average = inputs as u64 / runs;
    println!(
        "{runs} turns, {inputs} inputs, {average} each, {} transitions",
        transitions.len()
    );
    assert!(average >= 30, "only {average} inputs per run");
    // The table omits inputs that do not change the state.
    let taken: BTreeSet<Transition> = transitions
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
fn the_checker_detects_every_faulty_turn() {
    for (name, invariant, wrap) in FAULTY_TURNS {
        let detected = (0..5_000).find_map(|seed| {
            run_turn(seed, *wrap, &mut BTreeSet::new())
                .verdict
                .err()
                .map(|(violated, _)| violated)
        });
        assert_eq!(detected, Some(*invariant), "{name}");
    }
}

#[test]
fn ended_turn_stays_ended() {
    for seed in 0..2_000 {
        let mut transitions = BTreeSet::new();
        run_turn(seed, |turn| Box::new(turn), &mut transitions);
        assert!(
            transitions
                .iter()
                .all(|(from, _, to)| *from != TurnState::Ended || *to == TurnState::Ended)
        );
    }
}

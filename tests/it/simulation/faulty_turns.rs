//! Machines with one fault each. The checker must catch all of them.

use super::checker::Invariant;
use humble::domain::{Decision, PieceId, PieceKind, ToolCall, ToolOutcome, ToolState, TurnEvent};
use humble::engine::approval::ApprovedCall;
use humble::engine::turn::{Turn, TurnEffect, TurnInput, TurnState};

pub trait TurnMachine {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect>;
    fn state(&self) -> TurnState;
}

impl TurnMachine for Turn {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        Turn::step(self, input)
    }

    fn state(&self) -> TurnState {
        Turn::state(self)
    }
}

/// A turn whose effects pass through `twist`.
struct EffectFilter<F> {
    turn: Turn,
    twist: F,
}

impl<F: FnMut(TurnState, Vec<TurnEffect>) -> Vec<TurnEffect>> TurnMachine for EffectFilter<F> {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let effects = self.turn.step(input);
        (self.twist)(self.turn.state(), effects)
    }

    fn state(&self) -> TurnState {
        self.turn.state()
    }
}

fn filter_effects(
    turn: Turn,
    twist: impl FnMut(TurnState, Vec<TurnEffect>) -> Vec<TurnEffect> + 'static,
) -> Box<dyn TurnMachine> {
    Box::new(EffectFilter { turn, twist })
}

type FaultyTurn = (&'static str, Invariant, fn(Turn) -> Box<dyn TurnMachine>);

pub const FAULTY_TURNS: &[FaultyTurn] = &[
    (
        "runs a call that still needs approval",
        Invariant::NoUnapprovedCall,
        eager,
    ),
    (
        "ignores untrusted text",
        Invariant::NoCopiedCallWithoutApproval,
        gullible,
    ),
    ("runs a blocked tool", Invariant::NoBlockedCall, heedless),
    (
        "ignores that a tool is withheld",
        Invariant::NoWithheldCall,
        deaf,
    ),
    (
        "does not close an interrupted call",
        Invariant::EveryCallIsAnswered,
        forgetful,
    ),
    (
        "stops everything when one call is cancelled",
        Invariant::CancelStopsOneCall,
        blunt,
    ),
    ("asks the model twice", Invariant::OneOpenRequest, impatient),
    (
        "emits events after the end",
        Invariant::NothingAfterTheEnd,
        talkative,
    ),
    (
        "saves an answer twice",
        Invariant::OneSavePerAnswer,
        anxious,
    ),
    (
        "leaves its dialog open",
        Invariant::EveryAskIsClosed,
        careless,
    ),
];

fn waiting(effect: &TurnEffect) -> Option<&ToolCall> {
    match effect {
        TurnEffect::Emit(TurnEvent::Tool(call)) if call.state == ToolState::AwaitingApproval => {
            Some(call)
        }
        _ => None,
    }
}

fn eager(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let approved = effects
            .iter()
            .find_map(waiting)
            .and_then(|call| ApprovedCall::from_decision(call, &Decision::Run));
        effects.extend(approved.map(TurnEffect::Run));
        effects
    })
}

struct Gullible(Turn);

impl TurnMachine for Gullible {
    fn step(&mut self, mut input: TurnInput) -> Vec<TurnEffect> {
        if let TurnInput::CallDone {
            untrusted_text: quote,
            ..
        } = &mut input
        {
            *quote = None;
        }
        self.0.step(input)
    }

    fn state(&self) -> TurnState {
        self.0.state()
    }
}

fn gullible(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(Gullible(turn))
}

fn heedless(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let ruled_out = effects.iter().find_map(|effect| match effect {
            TurnEffect::Emit(TurnEvent::Tool(call))
                if call.state == ToolState::Done(ToolOutcome::Never) =>
            {
                ApprovedCall::from_decision(call, &Decision::Run)
            }
            _ => None,
        });
        effects.extend(ruled_out.map(TurnEffect::Run));
        effects
    })
}

struct Deaf(Turn);

impl TurnMachine for Deaf {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        match input {
            TurnInput::ToolsetChanged(_) => Vec::new(),
            input => self.0.step(input),
        }
    }

    fn state(&self) -> TurnState {
        self.0.state()
    }
}

fn deaf(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(Deaf(turn))
}

struct Blunt(Turn);

impl TurnMachine for Blunt {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let input = match input {
            TurnInput::CancelCall { .. } => TurnInput::Interrupt,
            other => other,
        };
        self.0.step(input)
    }

    fn state(&self) -> TurnState {
        self.0.state()
    }
}

fn blunt(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(Blunt(turn))
}

fn forgetful(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        effects.retain(|effect| {
            !matches!(
                effect,
                TurnEffect::Emit(TurnEvent::Tool(ToolCall {
                    state: ToolState::Done(ToolOutcome::Interrupted),
                    ..
                }))
            )
        });
        effects
    })
}

fn impatient(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let request = effects
            .iter()
            .find(|effect| matches!(effect, TurnEffect::Request { .. }))
            .cloned();
        effects.extend(request);
        effects
    })
}

fn talkative(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |state, mut effects| {
        if state == TurnState::Ended && effects.is_empty() {
            let (piece, kind) = (PieceId(1), PieceKind::Text);
            effects.push(TurnEffect::Emit(TurnEvent::Delta {
                piece,
                kind,
                text: "more".to_owned(),
            }));
        }
        effects
    })
}

fn anxious(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        if let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, TurnEffect::SaveAnswer { .. }))
        {
            effects.insert(at, effects[at].clone());
        }
        effects
    })
}

fn careless(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        effects.retain(|effect| !matches!(effect, TurnEffect::CloseAsk(_)));
        effects
    })
}

//! Machines that do one thing wrong each. A checker that lets one of them pass
//! checks nothing.

use super::checker::Invariant;
use humble::domain::{Decision, PieceId, PieceKind, ToolCall, ToolOutcome, ToolState, TurnEvent};
use humble::engine::approval::ApprovedCall;
use humble::engine::turn::{Effect, Input, StateKind, Turn};

pub trait Machine {
    fn step(&mut self, input: Input) -> Vec<Effect>;
    fn state(&self) -> StateKind;
}

impl Machine for Turn {
    fn step(&mut self, input: Input) -> Vec<Effect> {
        Turn::step(self, input)
    }

    fn state(&self) -> StateKind {
        Turn::state(self)
    }
}

/// A turn whose effects pass through `twist`.
struct Twisted<F> {
    turn: Turn,
    twist: F,
}

impl<F: FnMut(StateKind, Vec<Effect>) -> Vec<Effect>> Machine for Twisted<F> {
    fn step(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.turn.step(input);
        (self.twist)(self.turn.state(), effects)
    }

    fn state(&self) -> StateKind {
        self.turn.state()
    }
}

fn twisted(
    turn: Turn,
    twist: impl FnMut(StateKind, Vec<Effect>) -> Vec<Effect> + 'static,
) -> Box<dyn Machine> {
    Box::new(Twisted { turn, twist })
}

type Fault = (&'static str, Invariant, fn(Turn) -> Box<dyn Machine>);

pub const FAULTS: &[Fault] = &[
    (
        "runs a call that still waits for the person",
        Invariant::NoUnapprovedCall,
        eager,
    ),
    (
        "does not read what tools say",
        Invariant::NoQuotedCallUnasked,
        gullible,
    ),
    (
        "runs what was ruled out",
        Invariant::NoRuledOutCall,
        heedless,
    ),
    (
        "does not hear that a tool is withheld",
        Invariant::NoWithheldCall,
        deaf,
    ),
    (
        "forgets that a call was interrupted",
        Invariant::EveryCallIsAnswered,
        forgetful,
    ),
    (
        "stops everything where one call is cancelled",
        Invariant::ACancelStopsOneCall,
        blunt,
    ),
    ("asks the model twice", Invariant::OneOpenRequest, impatient),
    (
        "goes on talking after the end",
        Invariant::NothingAfterTheEnd,
        talkative,
    ),
    (
        "saves an answer twice",
        Invariant::OneSaveForAnAnswer,
        anxious,
    ),
    (
        "leaves its dialog open",
        Invariant::EveryAskIsClosed,
        careless,
    ),
];

fn waiting(effect: &Effect) -> Option<&ToolCall> {
    match effect {
        Effect::Emit(TurnEvent::Tool(call)) if call.state == ToolState::AwaitingApproval => {
            Some(call)
        }
        _ => None,
    }
}

fn eager(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        let approved = effects
            .iter()
            .find_map(waiting)
            .and_then(|call| ApprovedCall::by_decision(call, &Decision::Run));
        effects.extend(approved.map(Effect::Run));
        effects
    })
}

struct Gullible(Turn);

impl Machine for Gullible {
    fn step(&mut self, mut input: Input) -> Vec<Effect> {
        if let Input::CallDone { quote, .. } = &mut input {
            *quote = None;
        }
        self.0.step(input)
    }

    fn state(&self) -> StateKind {
        self.0.state()
    }
}

fn gullible(turn: Turn) -> Box<dyn Machine> {
    Box::new(Gullible(turn))
}

fn heedless(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        let ruled_out = effects.iter().find_map(|effect| match effect {
            Effect::Emit(TurnEvent::Tool(call))
                if call.state == ToolState::Done(ToolOutcome::Never) =>
            {
                ApprovedCall::by_decision(call, &Decision::Run)
            }
            _ => None,
        });
        effects.extend(ruled_out.map(Effect::Run));
        effects
    })
}

struct Deaf(Turn);

impl Machine for Deaf {
    fn step(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::OfferedChanged(_) => Vec::new(),
            input => self.0.step(input),
        }
    }

    fn state(&self) -> StateKind {
        self.0.state()
    }
}

fn deaf(turn: Turn) -> Box<dyn Machine> {
    Box::new(Deaf(turn))
}

struct Blunt(Turn);

impl Machine for Blunt {
    fn step(&mut self, input: Input) -> Vec<Effect> {
        let input = match input {
            Input::CancelCall { .. } => Input::Interrupt,
            other => other,
        };
        self.0.step(input)
    }

    fn state(&self) -> StateKind {
        self.0.state()
    }
}

fn blunt(turn: Turn) -> Box<dyn Machine> {
    Box::new(Blunt(turn))
}

fn forgetful(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        effects.retain(|effect| {
            !matches!(
                effect,
                Effect::Emit(TurnEvent::Tool(ToolCall {
                    state: ToolState::Done(ToolOutcome::Interrupted),
                    ..
                }))
            )
        });
        effects
    })
}

fn impatient(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        let request = effects
            .iter()
            .find(|effect| matches!(effect, Effect::Request { .. }))
            .cloned();
        effects.extend(request);
        effects
    })
}

fn talkative(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |state, mut effects| {
        if state == StateKind::Ended && effects.is_empty() {
            let (piece, kind) = (PieceId(1), PieceKind::Text);
            effects.push(Effect::Emit(TurnEvent::Delta {
                piece,
                kind,
                text: "more".to_owned(),
            }));
        }
        effects
    })
}

fn anxious(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        if let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, Effect::Save { .. }))
        {
            effects.insert(at, effects[at].clone());
        }
        effects
    })
}

fn careless(turn: Turn) -> Box<dyn Machine> {
    twisted(turn, |_, mut effects| {
        effects.retain(|effect| !matches!(effect, Effect::CloseAsk(_)));
        effects
    })
}

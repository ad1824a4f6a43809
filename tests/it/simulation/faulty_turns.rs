//! Turns with one bug each. The checker must detect every bug.

use super::invariant_checker::Invariant;
use super::world;
use humble::domain::{
    Decision, Message, PieceId, PieceKind, ToolCall, ToolOutcome, ToolState, TurnEvent,
};
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

/// A turn whose effects are changed by `change`.
struct EffectFilter<F> {
    turn: Turn,
    change: F,
}

impl<F: FnMut(TurnState, Vec<TurnEffect>) -> Vec<TurnEffect>> TurnMachine for EffectFilter<F> {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        let effects = self.turn.step(input);
        (self.change)(self.turn.state(), effects)
    }

    fn state(&self) -> TurnState {
        self.turn.state()
    }
}

fn filter_effects(
    turn: Turn,
    change: impl FnMut(TurnState, Vec<TurnEffect>) -> Vec<TurnEffect> + 'static,
) -> Box<dyn TurnMachine> {
    Box::new(EffectFilter { turn, change })
}

type FaultyTurn = (&'static str, Invariant, fn(Turn) -> Box<dyn TurnMachine>);

pub const FAULTY_TURNS: &[FaultyTurn] = &[
    (
        "sends the same id for every call",
        Invariant::CallIdsAreUnique,
        repeats_call_ids,
    ),
    (
        "runs a call that still needs approval",
        Invariant::NoUnapprovedCall,
        runs_unapproved_call,
    ),
    (
        "ignores untrusted text",
        Invariant::NoCopiedCallWithoutApproval,
        ignores_untrusted_text,
    ),
    (
        "runs a blocked tool",
        Invariant::NoBlockedCall,
        runs_blocked_tool,
    ),
    (
        "ignores that a tool is withheld",
        Invariant::NoWithheldCall,
        ignores_withheld_tools,
    ),
    (
        "does not close an interrupted call",
        Invariant::EveryCallIsAnswered,
        keeps_interrupted_call_open,
    ),
    (
        "stops everything when one call is cancelled",
        Invariant::CancelStopsOneCall,
        interrupts_on_cancel,
    ),
    (
        "asks the model twice",
        Invariant::OneOpenRequest,
        requests_twice,
    ),
    (
        "emits events after the end",
        Invariant::NothingAfterTheEnd,
        emits_after_end,
    ),
    (
        "does not wait for servers",
        Invariant::NothingBeforeTheServers,
        ignores_starting_servers,
    ),
    (
        "saves an answer twice",
        Invariant::OneSavePerAnswer,
        saves_twice,
    ),
    (
        "leaves a stopped answer out",
        Invariant::StoppedTextIsTheAnswer,
        drops_stopped_answer,
    ),
    (
        "leaves its dialog open",
        Invariant::EveryAskIsClosed,
        keeps_dialog_open,
    ),
];

fn call_awaiting_approval(effect: &TurnEffect) -> Option<&ToolCall> {
    match effect {
        TurnEffect::Emit(TurnEvent::Tool(call)) if call.state == ToolState::AwaitingApproval => {
            Some(call)
        }
        _ => None,
    }
}

fn runs_unapproved_call(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let approved = effects
            .iter()
            .find_map(call_awaiting_approval)
            .and_then(|call| ApprovedCall::from_decision(call, &Decision::Run));
        effects.extend(approved.map(TurnEffect::Run));
        effects
    })
}

struct IgnoresUntrustedText(Turn);

impl TurnMachine for IgnoresUntrustedText {
    fn step(&mut self, mut input: TurnInput) -> Vec<TurnEffect> {
        if let TurnInput::CallDone {
            outcome: ToolOutcome::Succeeded { text, .. },
            ..
        } = &mut input
        {
            text.clear();
        }
        self.0.step(input)
    }

    fn state(&self) -> TurnState {
        self.0.state()
    }
}

fn ignores_untrusted_text(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(IgnoresUntrustedText(turn))
}

fn runs_blocked_tool(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let blocked_call = effects.iter().find_map(|effect| match effect {
            TurnEffect::Emit(TurnEvent::Tool(call))
                if call.state == ToolState::Done(ToolOutcome::Never) =>
            {
                ApprovedCall::from_decision(call, &Decision::Run)
            }
            _ => None,
        });
        effects.extend(blocked_call.map(TurnEffect::Run));
        effects
    })
}

struct IgnoresToolsetChanges(Turn);

impl TurnMachine for IgnoresToolsetChanges {
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

fn ignores_withheld_tools(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(IgnoresToolsetChanges(turn))
}

struct InterruptsOnCancel(Turn);

impl TurnMachine for InterruptsOnCancel {
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

fn interrupts_on_cancel(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(InterruptsOnCancel(turn))
}

fn keeps_interrupted_call_open(turn: Turn) -> Box<dyn TurnMachine> {
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

struct IgnoresStartingServers(Turn);

impl TurnMachine for IgnoresStartingServers {
    fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        if self.0.state() != TurnState::AwaitingServers {
            return self.0.step(input);
        }
        let mut effects = self.0.step(world::servers_ready(false));
        effects.extend(self.0.step(input));
        effects
    }

    fn state(&self) -> TurnState {
        self.0.state()
    }
}

fn ignores_starting_servers(turn: Turn) -> Box<dyn TurnMachine> {
    Box::new(IgnoresStartingServers(turn))
}

fn requests_twice(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        let request = effects
            .iter()
            .find(|effect| matches!(effect, TurnEffect::Request { .. }))
            .cloned();
        effects.extend(request);
        effects
    })
}

fn emits_after_end(turn: Turn) -> Box<dyn TurnMachine> {
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

fn saves_twice(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        if let Some(index) = effects
            .iter()
            .position(|effect| matches!(effect, TurnEffect::SaveAnswer { .. }))
        {
            effects.insert(index, effects[index].clone());
        }
        effects
    })
}

fn drops_stopped_answer(turn: Turn) -> Box<dyn TurnMachine> {
    let is_stopped = |effect: &TurnEffect| {
        matches!(
            effect,
            TurnEffect::SaveAnswer {
                is_stopped: true,
                ..
            }
        )
    };
    filter_effects(turn, move |_, mut effects| {
        effects.retain(|effect| !is_stopped(effect));
        effects
    })
}

fn keeps_dialog_open(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        effects.retain(|effect| !matches!(effect, TurnEffect::CloseAsk(_)));
        effects
    })
}

fn repeats_call_ids(turn: Turn) -> Box<dyn TurnMachine> {
    filter_effects(turn, |_, mut effects| {
        for effect in &mut effects {
            let TurnEffect::Request { messages, .. } = effect else {
                continue;
            };
            for message in messages {
                match message {
                    Message::ToolCalls { calls, .. } => calls
                        .iter_mut()
                        .for_each(|call| call.wire_id = "same".to_owned()),
                    Message::ToolResult(result) => result.wire_id = "same".to_owned(),
                    _ => {}
                }
            }
        }
        effects
    })
}

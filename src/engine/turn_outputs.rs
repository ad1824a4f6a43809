//! Does what the conversation's turn asks for, and feeds back what comes of it.

use super::active_turn::ActiveTurnSignal;
use super::actor::Actor;
use super::approval::ApprovedCall;
use super::failures;
use super::quotes::{self, read};
use super::turn::Input;
use super::turn_driver::{FinishedCall, TurnOutput, TurnSignal};
use crate::domain::{CallId, QuotedIn, ToolOutcome, ToolState, TurnEvent};
use crate::mcp::Call;
use crate::protocol::{Event, Job, Owner};
use crate::provider::StreamPart;
use std::sync::Arc;

impl Actor {
    pub(super) fn active_turn_signal(&mut self, signal: ActiveTurnSignal) {
        match signal {
            ActiveTurnSignal::Turn(signal) => self.turn_signal(signal),
            ActiveTurnSignal::Facts(facts) => self.facts_came(facts),
            ActiveTurnSignal::PipedTextRead(quote) => self.context_read(quote),
        }
    }

    pub(super) fn turn_signal(&mut self, signal: TurnSignal) {
        match &signal {
            TurnSignal::Part(Some(Ok(StreamPart::Usage(usage)))) => self.measured(*usage),
            TurnSignal::CallDone(done) => self.quotes.extend(done.quote.clone()),
            _ => {}
        }
        let Some(turn) = &mut self.turn else { return };
        for input in turn.driver.read(signal) {
            self.feed(input);
        }
    }

    /// Gives the turn under way, if there is one, an input, and does what follows.
    pub(super) fn feed(&mut self, input: Input) {
        if let Some(turn) = &mut self.turn {
            let outputs = turn.driver.feed(input);
            self.perform(outputs);
        }
    }

    pub(super) fn perform(&mut self, outputs: Vec<TurnOutput>) {
        for output in outputs {
            let Some(turn) = &self.turn else { return };
            let owner = Owner::Job(Job::Turn(turn.id));
            match output {
                TurnOutput::Event(event) => self.emit(event),
                TurnOutput::Request { messages, tools } => self.request(messages, tools),
                TurnOutput::RequestDropped => self.drop_unsent(),
                TurnOutput::Asked { ask, question } => self.outbox.push(Event::Asked {
                    ask,
                    owner,
                    question,
                }),
                TurnOutput::AskClosed(ask) => self.outbox.push(Event::AskClosed(ask)),
                TurnOutput::Call(call) => self.run(&call),
                TurnOutput::Granted(grant) => self.grant_session(grant),
                TurnOutput::RuleMade(rule) => self.store_rule(rule),
                TurnOutput::Answered { answer, usage } => self.save(&answer, usage),
                TurnOutput::Unanswered { words } => self.keep(&words),
            }
        }
    }

    fn emit(&mut self, event: TurnEvent) {
        let Some(turn) = &mut self.turn else { return };
        turn.transcript.apply(turn.id, &event);
        if let TurnEvent::Tool(call) = &event
            && let (ToolState::AwaitingApproval, Some(quoted)) = (&call.state, call.quoted)
        {
            let words = quoted.words();
            tracing::warn!(server = %call.server, tool = %call.tool, "the call asks: it {words}");
        }
        let (id, ended) = (turn.id, matches!(event, TurnEvent::Ended { .. }));
        if let TurnEvent::Ended { end, .. } = &event {
            failures::log_turn_end(end);
        }
        self.take_down(&event);
        self.outbox.push(Event::Turn(id, event));
        if ended && let Some(turn) = self.turn.take() {
            let finished = turn.driver.finish();
            self.ids = finished.ids;
            self.trace = finished.trace;
            self.cancelled_calls.extend(finished.calls);
            if turn.covers.is_some() {
                // No summary came: the meter showed what it would have been made of.
                self.weigh_session();
            }
            self.offer_to_compact();
        }
    }

    /// The user does not wait for the next attempt.
    pub(super) fn retry_now(&mut self) {
        let due = self.turn.as_mut().and_then(|turn| turn.driver.retry_now());
        due.into_iter().for_each(|input| self.feed(input));
    }

    pub(super) fn cancel_call(&mut self, call: CallId) {
        let cancelled = self.turn.as_ref().and_then(|turn| turn.driver.cancel(call));
        if let Some(input) = cancelled {
            tracing::info!(%call, "the call is cancelled by hand");
            self.feed(input);
        }
    }

    fn run(&mut self, call: &ApprovedCall) {
        let Some(turn) = &mut self.turn else { return };
        let id = call.id();
        // The turn made sure that the tool is still the one that was shown. Should that
        // ever fail, nothing runs unchecked.
        let Some(tool) = self.offered.get(call.server(), call.tool()) else {
            return turn.driver.run(call, |_| async move {
                let why = "the tool is not on offer any more".to_owned();
                FinishedCall {
                    call: id,
                    outcome: ToolOutcome::NotRun { why },
                    quote: None,
                }
            });
        };
        tracing::info!(server = %call.server(), tool = %call.tool(), "tool call");
        let request = Call {
            id,
            server: call.server().clone(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().clone(),
            pin: Some(tool.tool.pin.clone()),
        };
        let (server, tool, private) = (request.server.clone(), request.tool.clone(), self.private);
        let (hub, offered) = (&self.hub, Arc::clone(&self.offered));
        turn.driver.run(call, |cancel| {
            let outcome = hub.call(request, cancel);
            async move {
                let outcome = outcome.await;
                failures::log_outcome(&server, &tool, &outcome, private);
                // The model sees no result that the guard has not read.
                let quote = match quotes::said(&outcome) {
                    Some(said) => Some(read(QuotedIn::ToolResult, said.to_owned(), offered).await),
                    None => None,
                };
                FinishedCall {
                    call: id,
                    outcome,
                    quote,
                }
            }
        });
    }
}

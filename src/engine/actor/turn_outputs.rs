//! Does what the conversation's turn asks for, and feeds back what comes of it.

use super::Actor;
use crate::domain::compaction;
use crate::domain::{CallId, QuotedIn, ToolOutcome, ToolState, TurnEvent, Usage};
use crate::engine::active_turn::ActiveTurnSignal;
use crate::engine::approval::ApprovedCall;
use crate::engine::context::BudgetOutput;
use crate::engine::failures;
use crate::engine::injection_guard::{read, said};
use crate::engine::jobs::JobResult;
use crate::engine::persist::session_writer::Epoch;
use crate::engine::questions::PendingQuestion;
use crate::engine::turn::Input;
use crate::engine::turn_driver::{FinishedCall, TurnOutput, TurnSignal};
use crate::mcp::Call;
use crate::protocol::{Event, Job, Owner};
use crate::provider::StreamPart;
use std::sync::Arc;

impl Actor {
    pub(super) fn active_turn_signal(&mut self, signal: ActiveTurnSignal) {
        match signal {
            ActiveTurnSignal::Turn(signal) => self.turn_signal(signal),
            ActiveTurnSignal::Facts(facts) => {
                let outputs = self.models.context.facts_came(facts);
                self.budget_outputs(outputs);
            }
            ActiveTurnSignal::PipedTextRead(quote) => {
                self.guard.add(Arc::clone(&quote));
                self.feed(Input::Quoted(quote));
                let outputs = self.models.context.go_on();
                self.budget_outputs(outputs);
            }
        }
    }

    pub(super) fn turn_signal(&mut self, signal: TurnSignal) {
        match &signal {
            TurnSignal::Part(Some(Ok(StreamPart::Usage(usage)))) => {
                if let Some(turn) = &self.turn {
                    let outputs = self.models.context.counted(&turn.model, *usage);
                    self.budget_outputs(outputs);
                }
            }
            TurnSignal::CallDone(FinishedCall {
                quote: Some(quote), ..
            }) => self.guard.add(Arc::clone(quote)),
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
                TurnOutput::Request { messages, tools } => {
                    self.models
                        .context
                        .queue(Arc::clone(&turn.model), messages, tools);
                    // Nothing is sent before the piped text was read for calls.
                    if turn.reading.is_none() {
                        let outputs = self.models.context.go_on();
                        self.budget_outputs(outputs);
                    }
                }
                TurnOutput::RequestDropped => self.drop_unsent(),
                TurnOutput::Asked { ask, question } => self.cx.outbox.push(Event::Asked {
                    ask,
                    owner,
                    question,
                }),
                TurnOutput::AskClosed(ask) => self.cx.outbox.push(Event::AskClosed(ask)),
                TurnOutput::Call(call) => self.run(&call),
                TurnOutput::Granted(grant) => {
                    let servers = self.hub.servers();
                    self.trust.grant_session(grant, &servers, &mut self.cx);
                }
                TurnOutput::RuleMade(rule) => {
                    let servers = self.hub.servers();
                    self.trust.store_rule(rule, &servers, &mut self.cx);
                }
                TurnOutput::Answered { answer, usage } => self.answer_came(&answer, usage),
                TurnOutput::Unanswered { words } => self.keep_words(&words),
            }
        }
    }

    /// Does what the context budget asks for.
    pub(super) fn budget_outputs(&mut self, outputs: Vec<BudgetOutput>) {
        for output in outputs {
            match output {
                BudgetOutput::Note(notice) => self.feed(Input::Noted(notice)),
                BudgetOutput::Notice(notice) => self.cx.notice(notice),
                BudgetOutput::Measured(meter) => {
                    self.cx.outbox.push(Event::ContextMeasured(meter));
                }
                BudgetOutput::Stop => self.feed(Input::Stopped),
                BudgetOutput::AskFacts(model) => {
                    let provider = self.cx.provider.clone();
                    if let Some(turn) = &mut self.turn {
                        let asked = async move { provider.facts(&model).await.ok() };
                        turn.facts = Some(Box::pin(asked));
                    }
                }
                BudgetOutput::AskUser { question, to } => {
                    if let Some(turn) = &self.turn {
                        let owner = Owner::Job(Job::Turn(turn.id));
                        self.cx
                            .ask(owner, question, PendingQuestion::Context { to });
                    }
                }
                BudgetOutput::Send(request) => {
                    if let Some(turn) = &mut self.turn {
                        turn.driver.send(request);
                    }
                }
            }
        }
    }

    /// Nothing waits to be sent any more, and nobody is asked about it.
    fn drop_unsent(&mut self) {
        self.models.context.drop_unsent();
        if let Some(turn) = &mut self.turn {
            turn.facts = None;
        }
        self.cx
            .withdraw_all(|pending| matches!(pending, PendingQuestion::Context { .. }));
    }

    /// Estimates what the conversation takes, between two requests and in the background: it
    /// may be long.
    pub(super) fn weigh_session(&mut self) {
        let Some(model) = self.models.current() else {
            return;
        };
        let weigher = self.models.context.weigher(model);
        let (system, offered) = (self.system_text(), self.offered_now());
        let (epoch, session) = (
            self.conversation.epoch(),
            self.conversation.session().clone(),
        );
        self.cx.jobs.spawn_blocking(move || {
            let weight = weigher.weigh(&system, &offered, &compaction::history(&session));
            JobResult::Weighed(epoch, weight)
        });
    }

    pub(super) fn session_weighed(&mut self, epoch: Epoch, weight: u64) {
        if epoch != self.conversation.epoch() || self.turn.is_some() {
            return;
        }
        if let Some(model) = self.models.current().cloned() {
            let output = self.models.context.session_weighed(&model, weight);
            self.budget_outputs(vec![output]);
        }
    }

    fn answer_came(&mut self, answer: &str, usage: Usage) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(covered) = turn.covers.take() {
            return self.compacted(covered, answer);
        }
        let (turn, conversation) = (turn.to_save(), &mut self.conversation);
        self.persist
            .save_answer(conversation, &turn, answer, usage, &self.cx);
    }

    fn keep_words(&mut self, words: &str) {
        // Half a summary is of no use to anybody.
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.covers.is_none()) {
            let (turn, conversation) = (turn.to_save(), &mut self.conversation);
            self.persist
                .keep_words(conversation, &turn, words, &self.cx);
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
        self.persist.record(&event, &mut self.cx);
        self.cx.outbox.push(Event::Turn(id, event));
        if ended && let Some(turn) = self.turn.take() {
            let finished = turn.driver.finish();
            self.turn_ids = finished.ids;
            self.trace = finished.trace;
            self.cancelled_calls.extend(finished.calls);
            self.models.context.drop_unsent();
            if turn.covers.is_some() {
                // No summary came: the meter showed what it would have been made of.
                self.weigh_session();
            }
            let tools = self.offered_now();
            let offer = self.models.context.offer_to_compact(&tools);
            offer.into_iter().for_each(|offer| self.cx.notice(offer));
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
        let (server, tool, private) = (
            request.server.clone(),
            request.tool.clone(),
            self.persist.is_private(),
        );
        let (hub, offered) = (&self.hub, Arc::clone(&self.offered));
        turn.driver.run(call, |cancel| {
            let outcome = hub.call(request, cancel);
            async move {
                let outcome = outcome.await;
                failures::log_outcome(&server, &tool, &outcome, private);
                // The model sees no result that the guard has not read.
                let quote = match said(&outcome) {
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

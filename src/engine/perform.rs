//! Runs the effects of a turn, and feeds what comes of them back into it.

use super::actor::{Actor, CallEnd, Running};
use super::approval::ApprovedCall;
use super::failures;
use super::quotes::{self, read};
use super::turn::{Effect, Input};
use crate::domain::{CallId, QuotedIn, ToolOutcome, ToolState, TurnEvent};
use crate::mcp::Call;
use crate::protocol::{Event, Job, Owner};
use crate::provider::{Fault, StreamPart};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

impl Actor {
    /// Gives the turn under way, if there is one, an input, and does what follows.
    pub(super) fn feed(&mut self, input: Input) {
        if let Some(running) = &mut self.running {
            let effects = running.turn.step(input);
            self.perform(effects);
        }
    }

    pub(super) fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let Some(running) = &mut self.running else {
                return;
            };
            let owner = Owner::Job(Job::Turn(running.id));
            match effect {
                Effect::Emit(event) => self.emit(event),
                Effect::Request { messages, tools } => self.request(messages, tools),
                Effect::DropRequest => {
                    running.reply = None;
                    running.idle_at = None;
                    running.loading = None;
                    self.drop_unsent();
                }
                Effect::CheckArguments(checks) => {
                    running.checking = Some(Box::pin(self.argument_checker.run(checks)));
                }
                Effect::RetryIn(pause) => running.retry_at = Some(Instant::now() + pause),
                Effect::OpenAsk { ask, question } => {
                    self.outbox.push(Event::Asked {
                        ask,
                        owner,
                        question,
                    });
                }
                Effect::CloseAsk(ask) => self.outbox.push(Event::AskClosed(ask)),
                Effect::Run(call) => self.run(&call),
                Effect::Cancel(call) => {
                    if let Some((token, _)) = running.calls.get(&call) {
                        token.cancel();
                    }
                }
                Effect::Remember(grant) => self.grant_session(grant),
                Effect::Store(rule) => self.store_rule(rule),
                Effect::Save { answer, usage } => self.save(&answer, usage),
                Effect::Keep { words } => self.keep(&words),
            }
        }
    }

    fn emit(&mut self, event: TurnEvent) {
        let Some(running) = &mut self.running else {
            return;
        };
        running.transcript.apply(running.id, &event);
        if let TurnEvent::Tool(call) = &event {
            self.tracer.became(call);
        }
        if let TurnEvent::Tool(call) = &event
            && let (ToolState::AwaitingApproval, Some(quoted)) = (&call.state, call.quoted)
        {
            let words = quoted.words();
            tracing::warn!(server = %call.server, tool = %call.tool, "the call asks: it {words}");
        }
        let (id, ended) = (running.id, matches!(event, TurnEvent::Ended { .. }));
        if let TurnEvent::Ended { end, .. } = &event {
            failures::log_turn_end(end);
        }
        self.take_down(&event);
        self.outbox.push(Event::Turn(id, event));
        // Dropping it drops an open connection.
        if ended && let Some(running) = self.running.take() {
            self.ids = running.turn.ids();
            if running.covers.is_some() {
                // No summary came: the meter showed what it would have been made of.
                self.weigh_session();
            }
            self.offer_to_compact();
        }
    }

    pub(super) fn reply_part(&mut self, part: Option<Result<StreamPart, Fault>>) {
        let idle = Duration::from_secs(self.settings.limits.idle_seconds);
        let Some(running) = &mut self.running else {
            return;
        };
        let Some(reply) = &mut running.reply else {
            return;
        };
        if let Some(Ok(StreamPart::Usage(usage))) = &part {
            let usage = *usage;
            let inputs = reply.read(part, &mut self.tracer);
            self.measured(usage);
            inputs.into_iter().for_each(|input| self.feed(input));
            return;
        }
        if let Some(Err(fault)) = &part {
            tracing::warn!("the model's reply failed: {fault}");
        }
        let inputs = reply.read(part, &mut self.tracer);
        running.idle_at = Some(Instant::now() + idle);
        running.loading = None;
        if matches!(inputs.last(), Some(Input::ReplyEnded(_))) {
            running.reply = None;
            running.idle_at = None;
        }
        for input in inputs {
            self.feed(input);
        }
    }

    /// The person does not wait for the next attempt.
    pub(super) fn retry_now(&mut self) {
        if let Some(running) = &mut self.running
            && running.retry_at.take().is_some()
        {
            self.feed(Input::RetryDue);
        }
    }

    pub(super) fn idle(&mut self) {
        let seconds = self.settings.limits.idle_seconds;
        if let Some(Running { idle_at, .. }) = &mut self.running {
            // Should the person choose to wait on, the next silence asks again.
            *idle_at = Some(Instant::now() + Duration::from_secs(seconds));
        }
        self.feed(Input::Idle { seconds });
    }

    fn run(&mut self, call: &ApprovedCall) {
        let Some(running) = &mut self.running else {
            return;
        };
        let (turn, id) = (running.id, call.id());
        // The machine made sure that what was shown is what is on offer now; should
        // that ever fail, nothing runs unchecked.
        let Some(offered) = self.offered.get(call.server(), call.tool()) else {
            let why = "the tool is not on offer any more".to_owned();
            let ended = CallEnd {
                turn,
                call: id,
                outcome: ToolOutcome::NotRun { why },
                quote: None,
            };
            self.calls.push(Box::pin(async move { ended }));
            return;
        };
        let token = CancellationToken::new();
        running.calls.insert(id, (token.clone(), Instant::now()));
        let call = Call {
            id,
            server: call.server().clone(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().clone(),
            pin: Some(offered.tool.pin.clone()),
        };
        tracing::info!(server = %call.server, tool = %call.tool, "tool call");
        let (server, tool, private) = (call.server.clone(), call.tool.clone(), self.private);
        let outcome = self.hub.call(call, token);
        let offered = Arc::clone(&self.offered);
        self.calls.push(Box::pin(async move {
            let outcome = outcome.await;
            failures::log_outcome(&server, &tool, &outcome, private);
            // The model sees no result that the guard has not read.
            let quote = match quotes::said(&outcome) {
                Some(said) => Some(read(QuotedIn::ToolResult, said.to_owned(), offered).await),
                None => None,
            };
            CallEnd {
                turn,
                call: id,
                outcome,
                quote,
            }
        }));
    }

    pub(super) fn cancel_call(&mut self, call: CallId) {
        let calls = self.running.as_ref().map(|running| &running.calls);
        if let Some((_, since)) = calls.and_then(|calls| calls.get(&call)) {
            let elapsed = since.elapsed();
            tracing::info!(%call, "the call is cancelled by hand");
            self.feed(Input::CancelCall { call, elapsed });
        }
    }

    pub(super) fn call_ended(&mut self, ended: CallEnd) {
        let CallEnd {
            turn,
            call,
            outcome,
            quote,
        } = ended;
        tracing::debug!(%call, ?outcome, "tool result");
        if let Some(running) = self.running.as_mut().filter(|running| running.id == turn) {
            running.calls.remove(&call);
            self.quotes.extend(quote.clone());
            self.feed(Input::CallDone {
                call,
                outcome,
                quote,
            });
        }
    }
}

//! Runs one [`Turn`]: sends its requests, reads the replies, has arguments checked, and owns its
//! timers and running calls. Used by the conversation and by the probe, so it is independent of
//! sessions, saving and the screen: all other work is returned as [`TurnOutput`].
//!
//! The owner awaits [`TurnDriver::next_signal`], converts the signal into inputs with
//! [`TurnDriver::read_signal`], passes each to [`TurnDriver::feed`], and handles all outputs
//! in order before feeding the next input.

mod finished_call;
mod reply_stream;
mod reply_trace;

pub(super) use finished_call::FinishedCall;
pub(super) use reply_trace::ReplyTracer;

use super::approval::{ApprovedCall, ToolIdentity};
use super::argument_checker::ArgumentChecker;
use super::turn::{
    ModelAnswer, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup, TurnState,
};
use crate::domain::trust::TrustRule;
use crate::domain::{
    AskId, CallId, Message, PromptKind, SchemaCheck, ToolCall, Toolset, TurnEvent, Usage,
};
use crate::engine::injection_guard::InjectionGuard;
use crate::protocol::Question;
use crate::provider::{ChatRequest, Provider, ProviderError, StreamPart};
use futures::future::{BoxFuture, FutureExt, OptionFuture};
use futures::stream::{FuturesUnordered, StreamExt};
use reply_stream::OpenReply;
use std::collections::HashMap;
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Running calls. They outlive an interrupted turn until their servers have been notified of
/// the cancellation, and those that the user leaves outlive any turn.
pub(super) type RunningCalls = FuturesUnordered<BoxFuture<'static, FinishedCall>>;

#[derive(Debug)]
pub(super) enum TurnSignal {
    CallDone(FinishedCall),
    /// The next part of the open reply; `None` after its end.
    Part(Option<Result<StreamPart, ProviderError>>),
    /// Whether the server has loaded the model; `None` if unknown.
    Loaded(Option<bool>),
    /// The open reply was silent for the idle time.
    Silence,
    ArgumentsChecked(Vec<SchemaCheck>),
    /// The pause before another attempt is over.
    RetryDue,
}

/// An action for the owner of the driver. Actions are carried out in order.
#[expect(
    clippy::large_enum_variant,
    reason = "most outputs are events, and a box would cost an allocation per token"
)]
#[derive(Debug)]
pub(super) enum TurnOutput {
    Event(TurnEvent),
    /// Send this with [`TurnDriver::send`], once the context size is known.
    Request {
        messages: Vec<Message>,
        tools: Arc<Toolset>,
    },
    RequestDropped,
    Asked {
        ask: AskId,
        question: Question,
    },
    AskClosed(AskId),
    /// Run this with [`TurnDriver::run`].
    Call(ApprovedCall),
    /// Wait for this task with [`TurnDriver::run`].
    FollowTask(Box<ToolCall>),
    Granted(ToolIdentity),
    RuleAdded(TrustRule),
    FinishAgent(ModelAnswer),
    Answered {
        answer: String,
        usage: Usage,
        is_stopped: bool,
    },
    /// The turn ended without an answer; this is its text.
    PartialAnswer {
        text: String,
    },
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstStep {
    AwaitServers,
    PrepareAgent,
    Request,
}

/// The parts of a finished turn that outlive it.
pub(super) struct FinishedTurn {
    pub(super) ids: TurnIdGenerators,
    pub(super) trace: ReplyTracer,
    pub(super) calls: RunningCalls,
}

pub(super) struct TurnDriver {
    provider: Provider,
    checker: ArgumentChecker,
    guard: InjectionGuard,
    turn: Turn,
    kind: PromptKind,
    /// After this long without a further part, an open reply causes [`TurnSignal::Silence`].
    idle_timeout: Duration,
    idle_deadline: Option<Instant>,
    reply: Option<OpenReply>,
    /// The running query of whether the server has loaded the model.
    load_query: OptionFuture<BoxFuture<'static, Option<bool>>>,
    argument_check: OptionFuture<BoxFuture<'static, Vec<SchemaCheck>>>,
    retry_at: Option<Instant>,
    calls: RunningCalls,
    /// The cancellation token and start time of each running call.
    running: HashMap<CallId, (CancellationToken, Instant)>,
    trace: ReplyTracer,
}

impl TurnDriver {
    /// Starts a turn. Its first request comes at once, unless it has another first step or resumes
    /// calls.
    pub(super) fn begin(
        provider: Provider,
        setup: TurnSetup,
        ids: TurnIdGenerators,
        checker: ArgumentChecker,
        first_step: FirstStep,
    ) -> (Self, Vec<TurnOutput>) {
        let idle_timeout = Duration::from_secs(setup.limits.idle_seconds);
        let (kind, guard) = (setup.prompt.kind, setup.guard.clone());
        let (turn, effects) = match first_step {
            FirstStep::AwaitServers => Turn::begin_awaiting_servers(setup, ids),
            FirstStep::PrepareAgent => Turn::begin_with_agent(setup, ids),
            FirstStep::Request => Turn::begin(setup, ids),
        };
        let mut driver = Self {
            provider,
            checker,
            guard,
            turn,
            kind,
            idle_timeout,
            idle_deadline: None,
            reply: None,
            load_query: None.into(),
            argument_check: None.into(),
            retry_at: None,
            calls: FuturesUnordered::new(),
            running: HashMap::new(),
            trace: ReplyTracer::default(),
        };
        let outputs = driver.perform_all(effects);
        (driver, outputs)
    }

    pub(super) fn is_over(&self) -> bool {
        self.turn.state() == TurnState::Ended
    }

    pub(super) fn trace(&self) -> &ReplyTracer {
        &self.trace
    }

    /// Ends the driver and closes any open connection.
    pub(super) fn finish(self) -> FinishedTurn {
        FinishedTurn {
            ids: self.turn.ids(),
            trace: self.trace,
            calls: self.calls,
        }
    }

    /// Cancel-safe.
    pub(super) async fn next_signal(&mut self) -> TurnSignal {
        let (finished_call, other_signal) = self.signals();
        tokio::select! {
            biased;
            signal = finished_call => signal,
            signal = other_signal => signal,
        }
    }

    /// Two futures: the next finished call, and the next signal of any other kind. They are
    /// separate for owners that handle their own events between the two. Cancel-safe.
    pub(super) fn signals(
        &mut self,
    ) -> (
        impl Future<Output = TurnSignal>,
        impl Future<Output = TurnSignal>,
    ) {
        let Self {
            calls,
            argument_check,
            retry_at,
            reply,
            load_query,
            idle_deadline,
            ..
        } = self;
        let finished_call = async move {
            match calls.next().await {
                Some(done) => TurnSignal::CallDone(done),
                None => pending().await,
            }
        };
        let other_signal = async move {
            let part = async {
                match reply {
                    Some(reply) => reply.next().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                Some(results) = &mut *argument_check => {
                    *argument_check = None.into();
                    TurnSignal::ArgumentsChecked(results)
                }
                () = sleep_until_some(*retry_at) => {
                    *retry_at = None;
                    TurnSignal::RetryDue
                }
                part = part => TurnSignal::Part(part),
                Some(is_loaded) = &mut *load_query => {
                    *load_query = None.into();
                    TurnSignal::Loaded(is_loaded)
                }
                () = sleep_until_some(*idle_deadline) => TurnSignal::Silence,
            }
        };
        (finished_call, other_signal)
    }

    pub(super) fn read_signal(&mut self, signal: TurnSignal) -> Vec<TurnInput> {
        match signal {
            TurnSignal::CallDone(finished) => {
                let (call, outcome) = (finished.call, &finished.outcome);
                tracing::debug!(%call, ?outcome, "tool result");
                self.running.remove(&call);
                vec![finished.into()]
            }
            TurnSignal::Part(part) => self.read_part(part),
            TurnSignal::Loaded(Some(false)) => vec![TurnInput::Loading],
            TurnSignal::Loaded(_) => Vec::new(),
            TurnSignal::Silence => {
                // If the user keeps waiting, ask again after the next silence.
                self.idle_deadline = Some(Instant::now() + self.idle_timeout);
                let seconds = self.idle_timeout.as_secs();
                vec![TurnInput::Idle { seconds }]
            }
            TurnSignal::ArgumentsChecked(results) => vec![TurnInput::ArgumentsChecked(results)],
            TurnSignal::RetryDue => vec![TurnInput::RetryDue],
        }
    }

    fn read_part(&mut self, part: Option<Result<StreamPart, ProviderError>>) -> Vec<TurnInput> {
        let Some(reply) = &mut self.reply else {
            return Vec::new();
        };
        if let Some(Err(error)) = &part {
            tracing::warn!("the model's reply failed: {error}");
        }
        let is_usage = matches!(part, Some(Ok(StreamPart::Usage(_))));
        let inputs = reply.read_part(part, &mut self.trace);
        if !is_usage {
            self.idle_deadline = Some(Instant::now() + self.idle_timeout);
            self.load_query = None.into();
        }
        if matches!(inputs.last(), Some(TurnInput::ReplyEnded(_))) {
            self.reply = None;
            self.idle_deadline = None;
        }
        inputs
    }

    pub(super) fn feed(&mut self, input: TurnInput) -> Vec<TurnOutput> {
        let effects = self.turn.step(input);
        self.perform_all(effects)
    }

    fn perform_all(&mut self, effects: Vec<TurnEffect>) -> Vec<TurnOutput> {
        effects
            .into_iter()
            .filter_map(|effect| self.perform(effect))
            .collect()
    }

    /// Performs an effect, or returns the output if it is work for the owner.
    fn perform(&mut self, effect: TurnEffect) -> Option<TurnOutput> {
        Some(match effect {
            TurnEffect::Emit(event) => {
                if let TurnEvent::Tool(call) = &event {
                    self.trace.record_call_state(call);
                }
                TurnOutput::Event(event)
            }
            TurnEffect::Request { messages, tools } => TurnOutput::Request { messages, tools },
            TurnEffect::DropRequest => {
                self.reply = None;
                self.idle_deadline = None;
                self.load_query = None.into();
                TurnOutput::RequestDropped
            }
            TurnEffect::CheckArguments(checks) => {
                let guard = self.guard.clone();
                let prepared = tokio::task::spawn_blocking(move || guard.prepare());
                let checked = self.checker.run(checks);
                let both = async { futures::join!(checked, prepared).0 };
                self.argument_check = Some(both.boxed()).into();
                return None;
            }
            TurnEffect::RetryIn(pause) => {
                self.retry_at = Some(Instant::now() + pause);
                return None;
            }
            TurnEffect::OpenAsk { ask, question } => TurnOutput::Asked { ask, question },
            TurnEffect::CloseAsk(ask) => TurnOutput::AskClosed(ask),
            TurnEffect::Run(call) => TurnOutput::Call(call),
            TurnEffect::FollowTask(call) => TurnOutput::FollowTask(call),
            TurnEffect::Cancel(call) => {
                if let Some((token, _)) = self.running.get(&call) {
                    token.cancel();
                }
                return None;
            }
            TurnEffect::GrantForSession(grant) => TurnOutput::Granted(grant),
            TurnEffect::StoreRule(rule) => TurnOutput::RuleAdded(rule),
            TurnEffect::FinishAgent(answer) => TurnOutput::FinishAgent(answer),
            TurnEffect::SaveAnswer {
                answer,
                usage,
                is_stopped,
            } => TurnOutput::Answered {
                answer,
                usage,
                is_stopped,
            },
            TurnEffect::SavePartialAnswer { text } => TurnOutput::PartialAnswer { text },
        })
    }

    pub(super) fn send(&mut self, request: ChatRequest) {
        let model = &request.model;
        if model.provider.manages_models() {
            let (provider, model) = (self.provider.clone(), Arc::clone(model));
            let query = async move { provider.is_loaded(&model).await };
            self.load_query = Some(query.boxed()).into();
        }
        self.trace.begin_reply(&model.name);
        let stream = self.provider.stream(request);
        self.reply = Some(OpenReply::new(
            stream,
            self.turn.toolset(),
            self.turn.dialect(),
            self.kind,
        ));
        self.idle_deadline = None;
    }

    /// `start` receives the call's cancellation token and returns its future.
    pub(super) fn run<F>(&mut self, call: CallId, start: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = FinishedCall> + Send + 'static,
    {
        let token = CancellationToken::new();
        self.running.insert(call, (token.clone(), Instant::now()));
        self.calls.push(start(token).boxed());
    }

    /// Cancels all running calls without notifying the turn.
    pub(super) fn cancel_all(&self) {
        self.running.values().for_each(|(token, _)| token.cancel());
    }

    /// Lets a running call go on after the turn stops waiting for it. Returns the token that cancels it
    /// and how long it has run.
    pub(super) fn leave(&mut self, call: CallId) -> Option<(CancellationToken, Duration)> {
        let (token, started) = self.running.remove(&call)?;
        Some((token, started.elapsed()))
    }

    /// `None` if the call is not running.
    pub(super) fn run_time(&self, call: CallId) -> Option<Duration> {
        let (_, started) = self.running.get(&call)?;
        Some(started.elapsed())
    }

    pub(super) fn set_idle_timeout(&mut self, timeout: Duration) {
        self.idle_timeout = timeout;
    }

    /// Returns the input that retries; `None` if no retry is pending.
    pub(super) fn take_retry(&mut self) -> Option<TurnInput> {
        self.retry_at.take().map(|_| TurnInput::RetryDue)
    }
}

async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

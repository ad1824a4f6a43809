//! One dialect of a probe: drives a real turn to its end, answers its questions, and
//! notes what the model wrote. Every wait of it has a deadline.

mod seen;

use super::argument_checker::ArgumentChecker;
use super::probe::{Desk, ProbeNews};
use super::reply::Reply;
use super::tracer::Tracer;
use super::turn::{Effect, Ids, Input, Setup, StateKind, Turn};
use crate::domain::probe::Trial;
use crate::domain::{CallId, ModelConfig, Notice, ProviderKind, SchemaCheck, ToolOutcome};
use crate::mcp::Call;
use crate::provider::{Cause, Fault, Provider, Request, StreamPart};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use seen::Seen;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// All that one dialect may take, not counting the loading of the model.
pub(super) const TRIAL_TIME_MAX: Duration = Duration::from_secs(180);
/// How long a server may load the model.
pub(super) const LOADING_TIME_MAX: Duration = Duration::from_secs(600);

/// How a model is asked in one dialect.
pub(super) struct Attempt<'a> {
    pub(super) provider: &'a Provider,
    pub(super) model: Arc<ModelConfig>,
    pub(super) num_ctx: u32,
    pub(super) idle: Duration,
    pub(super) tell: &'a mpsc::Sender<ProbeNews>,
}

pub(super) enum Ended {
    Tried(Trial),
    /// No dialect would fare better: why.
    Hopeless(Notice),
}

impl Attempt<'_> {
    pub(super) async fn run(self, setup: Setup, desk: &mut Desk) -> Ended {
        let (turn, effects) = Turn::begin(setup, Ids::default());
        let now = Instant::now();
        let mut run = Run {
            ends: now + TRIAL_TIME_MAX,
            began: now,
            attempt: self,
            turn,
            reply: None,
            loading: None,
            is_loading: false,
            retry_at: None,
            idle_at: None,
            calls: FuturesUnordered::new(),
            checking: None,
            seen: Seen::default(),
        };
        run.perform(effects, desk);
        while run.turn.state() != StateKind::Ended {
            let heard = run.hear(desk).await;
            if let Some(end) = run.take_in(heard, desk).await {
                return end;
            }
        }
        run.trial()
    }
}

struct Run<'a> {
    attempt: Attempt<'a>,
    turn: Turn,
    reply: Option<Reply>,
    /// Is the model still being loaded?
    loading: Option<BoxFuture<'static, Option<bool>>>,
    is_loading: bool,
    retry_at: Option<Instant>,
    idle_at: Option<Instant>,
    calls: FuturesUnordered<BoxFuture<'static, (CallId, ToolOutcome)>>,
    checking: Option<BoxFuture<'static, Vec<SchemaCheck>>>,
    began: Instant,
    ends: Instant,
    seen: Seen,
}

enum Heard {
    Late,
    CallDone(CallId, ToolOutcome),
    Checked(Vec<SchemaCheck>),
    Part(Option<Result<StreamPart, Fault>>),
    Loaded(Option<bool>),
    RetryDue,
    Silent,
    Hub,
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}

impl Run<'_> {
    /// The next thing that happens. The deadline comes first: a stream that never ends
    /// must not hide it.
    async fn hear(&mut self, desk: &mut Desk) -> Heard {
        let Self {
            reply,
            loading,
            calls,
            checking,
            retry_at,
            idle_at,
            ends,
            ..
        } = self;
        let part = async {
            match reply {
                Some(reply) => reply.next().await,
                None => pending().await,
            }
        };
        let loaded = async {
            match loading.as_mut() {
                Some(asked) => asked.await,
                None => pending().await,
            }
        };
        let checked = async {
            match checking.as_mut() {
                Some(checking) => checking.await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = sleep_until(*ends) => Heard::Late,
            results = checked => {
                *checking = None;
                Heard::Checked(results)
            }
            Some((call, outcome)) = calls.next() => Heard::CallDone(call, outcome),
            part = part => Heard::Part(part),
            answer = loaded => {
                *loading = None;
                Heard::Loaded(answer)
            }
            () = at(*retry_at) => {
                *retry_at = None;
                Heard::RetryDue
            }
            () = at(*idle_at) => Heard::Silent,
            Some(_) = desk.events.recv() => Heard::Hub,
        }
    }

    /// How it ended, where it did so before the turn.
    async fn take_in(&mut self, heard: Heard, desk: &Desk) -> Option<Ended> {
        match heard {
            // No other dialect would load it sooner.
            Heard::Late if self.is_loading => {
                let (name, seconds) = (&self.attempt.model.name, LOADING_TIME_MAX.as_secs());
                let what = format!("The server did not load {name} within {seconds} s.");
                let advice = "Its own log may say why; a smaller model loads sooner.";
                return Some(Ended::Hopeless(Notice::failure(what).advise(advice)));
            }
            Heard::Late => {
                let seconds = TRIAL_TIME_MAX.as_secs();
                return Some(self.given_up(format!("no answer within {seconds} s.")));
            }
            Heard::Silent => {
                let seconds = self.attempt.idle.as_secs();
                return Some(self.given_up(format!("nothing more came for {seconds} s.")));
            }
            Heard::Hub => {}
            Heard::RetryDue => self.step(Input::RetryDue, desk),
            Heard::Checked(results) => self.step(Input::ArgumentsChecked(results), desk),
            Heard::CallDone(call, outcome) => {
                // What the one tool on offer says is this program's own.
                let done = Input::CallDone {
                    call,
                    outcome,
                    quote: None,
                };
                self.step(done, desk);
            }
            Heard::Loaded(answer) => {
                if answer == Some(false) {
                    self.is_loading = true;
                    self.ends = Instant::now() + LOADING_TIME_MAX;
                    let _ = self.attempt.tell.send(ProbeNews::Loading).await;
                }
            }
            Heard::Part(part) => {
                if let Some(Err(fault)) = &part {
                    tracing::warn!("probe: {fault}");
                    if is_hopeless(&fault.cause) {
                        return Some(Ended::Hopeless(fault.notice()));
                    }
                    self.seen.breaks_off(&fault.cause);
                }
                self.part(part, desk).await;
            }
        }
        None
    }

    async fn part(&mut self, part: Option<Result<StreamPart, Fault>>, desk: &Desk) {
        let now = Instant::now();
        self.loading = None;
        if std::mem::take(&mut self.is_loading) {
            // Loading is the server's time, not the model's.
            (self.began, self.ends) = (now, now + TRIAL_TIME_MAX);
            let _ = self.attempt.tell.send(ProbeNews::Loaded).await;
        }
        let Some(reply) = &mut self.reply else { return };
        // A probe is not the last answer.
        let inputs = reply.read(part, &mut Tracer::default());
        self.idle_at = Some(now + self.attempt.idle);
        if matches!(inputs.last(), Some(Input::ReplyEnded(_))) {
            self.reply = None;
            self.idle_at = None;
        }
        for input in inputs {
            self.seen.input(&input);
            self.step(input, desk);
        }
    }

    fn step(&mut self, input: Input, desk: &Desk) {
        let effects = self.turn.step(input);
        self.perform(effects, desk);
    }

    fn perform(&mut self, effects: Vec<Effect>, desk: &Desk) {
        for effect in effects {
            match effect {
                Effect::Emit(event) => self.seen.event(self.attempt.model.dialect, &event),
                Effect::Request { messages, tools } => {
                    self.seen.begin_round();
                    let Attempt {
                        provider,
                        model,
                        num_ctx,
                        ..
                    } = &self.attempt;
                    if model.provider == ProviderKind::Ollama {
                        let (provider, model) = ((*provider).clone(), Arc::clone(model));
                        let asked = async move { provider.is_loaded(&model).await };
                        self.loading = Some(Box::pin(asked));
                    }
                    let stream = provider.stream(Request {
                        model: Arc::clone(model),
                        messages,
                        tools,
                        num_ctx: *num_ctx,
                    });
                    self.reply = Some(Reply::new(stream, self.turn.offered()));
                    self.idle_at = None;
                }
                Effect::DropRequest => {
                    self.reply = None;
                    self.idle_at = None;
                    self.loading = None;
                }
                Effect::CheckArguments(checks) => {
                    self.checking = Some(Box::pin(ArgumentChecker::default().run(checks)));
                }
                Effect::RetryIn(pause) => self.retry_at = Some(Instant::now() + pause),
                Effect::OpenAsk { ask, question } => {
                    let answer = self.seen.answer_to(&question);
                    self.step(Input::Answered { ask, answer }, desk);
                }
                Effect::Run(call) => {
                    let id = call.id();
                    let call = Call {
                        id,
                        server: call.server().clone(),
                        tool: call.tool().to_owned(),
                        arguments: call.arguments().clone(),
                        pin: None,
                    };
                    let outcome = desk.hub.call(call, CancellationToken::new());
                    self.calls
                        .push(Box::pin(async move { (id, outcome.await) }));
                }
                // Nothing of this is kept, and no call is cancelled but by the end.
                Effect::CloseAsk(_)
                | Effect::Cancel(_)
                | Effect::Remember(_)
                | Effect::Store(_)
                | Effect::Save { .. }
                | Effect::Keep { .. } => {}
            }
        }
    }

    fn given_up(&mut self, fault: String) -> Ended {
        self.seen.gives_up(fault);
        self.trial()
    }

    fn trial(&mut self) -> Ended {
        let seen = std::mem::take(&mut self.seen);
        let dialect = self.attempt.model.dialect;
        Ended::Tried(seen.trial(dialect, self.began.elapsed()))
    }
}

/// Would every dialect run into this alike?
fn is_hopeless(cause: &Cause) -> bool {
    match cause {
        Cause::Refused
        | Cause::Unresolved
        | Cause::ConnectTimeout
        | Cause::Unreachable { .. }
        | Cause::Redirected { .. }
        | Cause::NoCredit { .. }
        | Cause::MissingKey { .. }
        | Cause::UnusableKey { .. }
        | Cause::Unsupported
        | Cause::BadUrl { .. }
        | Cause::BadCaFile { .. }
        | Cause::NoClient { .. } => true,
        Cause::Status { status, .. } => matches!(status, 401..=404),
        _ => false,
    }
}

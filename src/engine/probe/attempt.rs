//! Probes one dialect: runs a turn to its end, answers its questions, and observes what
//! the model wrote. Every wait has a deadline.

use super::observation::Observation;
use super::run::{DialectProbe, ProbeNews, ProbeTools};
use crate::domain::model::Limits;
use crate::domain::probe::{TOOL, Trial};
use crate::domain::{Dialect, Message, ModelConfig, ModelFacts, Notice, Offered, Prompt, ToolMode};
use crate::engine::approval::{Approval, Grant};
use crate::engine::argument_checker::ArgumentChecker;
use crate::engine::context::{ContextFit, ContextLimits, weigh, with_tool_role};
use crate::engine::turn::{Ids, Input, Setup};
use crate::engine::turn_driver::{FinishedCall, TurnDriver, TurnOutput, TurnSignal};
use crate::mcp::Call;
use crate::provider::{ChatRequest, FailureCause};
use crate::text::token_estimate::Vocabulary;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// All that one dialect may take, not counting the loading of the model.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(180);
/// How long a server may load the model.
const LOADING_TIME_MAX: Duration = Duration::from_secs(600);
/// Rounds with calls in one dialect: the one that was asked for, and two more.
const ROUNDS_MAX: u32 = 3;

pub(super) enum AttemptEnd {
    Tried(Trial),
    /// No dialect would fare better: why.
    Hopeless(Notice),
}

/// One dialect of a probe, under way.
pub(super) struct Attempt<'a> {
    probe: &'a DialectProbe,
    facts: &'a ModelFacts,
    tools: &'a mut ProbeTools,
    news: &'a mpsc::Sender<ProbeNews>,
    /// The model, set to the dialect that is tried.
    model: Arc<ModelConfig>,
    driver: TurnDriver,
    observation: Observation,
    /// Ollama's `num_ctx`, from the first request on.
    num_ctx: Option<u32>,
    is_loading: bool,
    began: Instant,
    deadline: Instant,
}

impl<'a> Attempt<'a> {
    pub(super) async fn run(
        probe: &'a DialectProbe,
        dialect: Dialect,
        facts: &'a ModelFacts,
        tools: &'a mut ProbeTools,
        news: &'a mpsc::Sender<ProbeNews>,
    ) -> AttemptEnd {
        let model = Arc::new(ModelConfig {
            dialect,
            ..ModelConfig::clone(&probe.model)
        });
        let model = with_tool_role(&model, facts);
        let setup = setup(probe, &model, tools);
        let (provider, checker) = (probe.provider.clone(), ArgumentChecker::default());
        let (driver, outputs) = TurnDriver::begin(provider, setup, Ids::default(), checker);
        let began = Instant::now();
        let mut attempt = Self {
            probe,
            facts,
            tools,
            news,
            model,
            driver,
            observation: Observation::default(),
            num_ctx: None,
            is_loading: false,
            began,
            deadline: began + ATTEMPT_TIME_MAX,
        };
        attempt.take(outputs);
        while !attempt.driver.is_over() {
            // The deadline comes first: a stream that never ends must not hide it.
            let signal = tokio::select! {
                biased;
                () = sleep_until(attempt.deadline) => return attempt.out_of_time(),
                signal = attempt.driver.next_signal() => signal,
                Some(_) = attempt.tools.events.recv() => continue,
            };
            if let Some(end) = attempt.observe(&signal).await {
                return end;
            }
            for input in attempt.driver.read(signal) {
                attempt.feed(input);
            }
        }
        attempt.tried()
    }

    /// How the attempt ends, where a signal ends it before its turn.
    async fn observe(&mut self, signal: &TurnSignal) -> Option<AttemptEnd> {
        match signal {
            TurnSignal::Loaded(Some(false)) => {
                self.is_loading = true;
                self.deadline = Instant::now() + LOADING_TIME_MAX;
                let _ = self.news.send(ProbeNews::Loading).await;
            }
            TurnSignal::Silence => {
                let seconds = self.probe.idle_seconds();
                return Some(self.given_up(format!("nothing more came for {seconds} s.")));
            }
            TurnSignal::Part(part) => {
                if let Some(Err(fault)) = part {
                    if is_hopeless(&fault.cause) {
                        tracing::warn!("probe: {fault}");
                        return Some(AttemptEnd::Hopeless(fault.notice()));
                    }
                    self.observation.breaks_off(&fault.cause);
                }
                if std::mem::take(&mut self.is_loading) {
                    // Loading is the server's time, not the model's.
                    self.began = Instant::now();
                    self.deadline = self.began + ATTEMPT_TIME_MAX;
                    let _ = self.news.send(ProbeNews::Loaded).await;
                }
            }
            _ => {}
        }
        None
    }

    fn feed(&mut self, input: Input) {
        self.observation.input(&input);
        let outputs = self.driver.feed(input);
        self.take(outputs);
    }

    fn take(&mut self, outputs: Vec<TurnOutput>) {
        for output in outputs {
            match output {
                TurnOutput::Event(event) => self.observation.event(self.model.dialect, &event),
                TurnOutput::Request { messages, tools } => {
                    self.observation.begin_round();
                    let num_ctx = self.num_ctx(&messages, &tools);
                    self.driver.send(ChatRequest {
                        model: Arc::clone(&self.model),
                        messages,
                        tools,
                        num_ctx,
                    });
                }
                TurnOutput::Asked { ask, question } => {
                    let answer = self.observation.answer_to(&question);
                    self.feed(Input::Answered { ask, answer });
                }
                TurnOutput::Call(call) => {
                    let id = call.id();
                    let request = Call {
                        id,
                        server: call.server().clone(),
                        tool: call.tool().to_owned(),
                        arguments: call.arguments().clone(),
                        pin: None,
                    };
                    let hub = &self.tools.hub;
                    self.driver.run(&call, |cancel| {
                        let outcome = hub.call(request, cancel);
                        async move {
                            FinishedCall {
                                call: id,
                                outcome: outcome.await,
                                // What the one tool on offer says is this program's own.
                                quote: None,
                            }
                        }
                    });
                }
                // Nothing of a probe is kept.
                TurnOutput::RequestDropped
                | TurnOutput::AskClosed(_)
                | TurnOutput::Granted(_)
                | TurnOutput::RuleMade(_)
                | TurnOutput::Answered { .. }
                | TurnOutput::Unanswered { .. } => {}
            }
        }
    }

    /// The context that a conversation would ask for; 0 where none is asked for.
    fn num_ctx(&mut self, messages: &[Message], tools: &Offered) -> u32 {
        let model = &self.model;
        if !model.provider.truncates_silently() {
            return 0;
        }
        *self.num_ctx.get_or_insert_with(|| {
            let native = (model.dialect == Dialect::Native).then_some(tools);
            let vocabulary = Vocabulary::of(self.facts.family.as_deref(), &model.model);
            let estimate = weigh(messages, native, vocabulary);
            let (before, agreed) = (self.probe.num_ctx, self.probe.agreed);
            let tokens = match ContextLimits::new(model, self.facts, before, agreed).fit(estimate) {
                ContextFit::Fits { num_ctx } | ContextFit::TooLong { num_ctx } => num_ctx,
                ContextFit::Grows { from, .. } => from,
            };
            u32::try_from(tokens).unwrap_or(u32::MAX)
        })
    }

    fn out_of_time(mut self) -> AttemptEnd {
        if self.is_loading {
            // No other dialect would load it sooner.
            let (name, seconds) = (&self.model.name, LOADING_TIME_MAX.as_secs());
            let what = format!("The server did not load {name} within {seconds} s.");
            let advice = "Its own log may say why; a smaller model loads sooner.";
            return AttemptEnd::Hopeless(Notice::failure(what).advise(advice));
        }
        let seconds = ATTEMPT_TIME_MAX.as_secs();
        self.given_up(format!("no answer within {seconds} s."))
    }

    fn given_up(&mut self, fault: String) -> AttemptEnd {
        self.observation.gives_up(fault);
        self.tried()
    }

    fn tried(&mut self) -> AttemptEnd {
        let observation = std::mem::take(&mut self.observation);
        AttemptEnd::Tried(observation.trial(self.model.dialect, self.began.elapsed()))
    }
}

fn setup(probe: &DialectProbe, model: &ModelConfig, tools: &ProbeTools) -> Setup {
    // Nothing but the one tool is on offer, and it does no harm.
    let mut approval = Approval::new(ToolMode::Manual);
    for tool in tools.offered.tools() {
        approval.grant(Grant::of(tool));
    }
    Setup {
        prompt: Prompt::new(prompt()),
        instruction: None,
        model: model.name.clone(),
        dialect: model.dialect,
        system_prompt: Arc::clone(&probe.system_prompt),
        history: Arc::default(),
        offered: Arc::clone(&tools.offered),
        approval,
        limits: Limits {
            tool_rounds: ROUNDS_MAX,
            idle_seconds: probe.idle_seconds(),
            ..Limits::default()
        },
        quotes: Default::default(),
    }
}

/// The number and the time make each prompt a new one, so that no cache answers it.
fn prompt() -> String {
    let id = RandomState::new().hash_one(TOOL) as u32;
    let now = jiff::Timestamp::now();
    format!(
        "This is a test of tool calls (request {id:08x}, {now:.0}). Call the tool `{TOOL}` once, \
         without arguments. Its result holds a secret word. Then answer in one sentence that \
         repeats this secret word exactly."
    )
}

/// Would every dialect fail in the same way?
fn is_hopeless(cause: &FailureCause) -> bool {
    match cause {
        FailureCause::ConnectionRefused
        | FailureCause::HostNotFound
        | FailureCause::ConnectTimeout
        | FailureCause::Unreachable { .. }
        | FailureCause::Redirected { .. }
        | FailureCause::NoCredit { .. }
        | FailureCause::MissingKey { .. }
        | FailureCause::UnusableKey { .. }
        | FailureCause::Unsupported
        | FailureCause::InvalidBaseUrl { .. }
        | FailureCause::InvalidCaFile { .. }
        | FailureCause::TlsUnavailable { .. } => true,
        FailureCause::Status { status, .. } => matches!(status, 401..=404),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_prompts_are_alike() {
        let (one, other) = (prompt(), prompt());
        assert_ne!(one, other);
        assert!(one.contains("`say_hello`"), "{one}");
    }
}

//! Tries one dialect: runs a turn to its end, answers its questions and observes the model's
//! output. Every wait has a deadline.

use super::observation::Observation;
use super::run::{DialectProbe, ProbeEvent, ProbeTools};
use crate::domain::model::Limits;
use crate::domain::probe::{DialectTrial, PROBE_TOOL};
use crate::domain::{
    Dialect, Message, ModelConfig, ModelInfo, Notice, Prompt, Think, ToolMode, Toolset,
};
use crate::engine::approval::{Approval, ToolIdentity};
use crate::engine::argument_checker::ArgumentChecker;
use crate::engine::context::{ContextFit, ContextLimits, raw_estimate, with_tool_role};
use crate::engine::result_images::ResultImages;
use crate::engine::turn::{TurnIdGenerators, TurnInput, TurnSetup};
use crate::engine::turn_driver::{FinishedCall, FirstStep, TurnDriver, TurnOutput, TurnSignal};
use crate::mcp::McpCall;
use crate::provider::{ChatRequest, FailureCause};
use crate::text::token_estimate::Vocabulary;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Time limit for one dialect, excluding the time to load the model.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(180);
const LOADING_TIME_MAX: Duration = Duration::from_secs(600);
/// Rounds with calls per dialect: the requested call and two more tries.
const ROUNDS_MAX: u32 = 3;

pub(super) enum TrialEnd {
    Completed(DialectTrial),
    /// The failure, which would affect every other dialect as well.
    Aborted(Notice),
}

pub(super) struct RunningTrial<'a> {
    probe: &'a DialectProbe,
    model_info: &'a ModelInfo,
    tools: &'a mut ProbeTools,
    events: &'a mpsc::Sender<ProbeEvent>,
    /// The model, configured for this dialect.
    model: Arc<ModelConfig>,
    driver: TurnDriver,
    observation: Observation,
    /// Ollama's `num_ctx`, set by the first request.
    num_ctx: Option<u32>,
    is_loading: bool,
    started_at: Instant,
    deadline: Instant,
}

impl<'a> RunningTrial<'a> {
    pub(super) async fn run(
        probe: &'a DialectProbe,
        dialect: Dialect,
        model_info: &'a ModelInfo,
        tools: &'a mut ProbeTools,
        events: &'a mpsc::Sender<ProbeEvent>,
    ) -> TrialEnd {
        let model = Arc::new(ModelConfig {
            dialect,
            ..ModelConfig::clone(&probe.model)
        });
        let model = with_tool_role(&model, model_info);
        let setup = setup(probe, &model, tools);
        let (provider, checker) = (probe.provider.clone(), ArgumentChecker::default());
        let ids = TurnIdGenerators::default();
        let (driver, outputs) =
            TurnDriver::begin(provider, setup, ids, checker, FirstStep::Request);
        let started_at = Instant::now();
        let mut trial = Self {
            probe,
            model_info,
            tools,
            events,
            model,
            driver,
            observation: Observation::default(),
            num_ctx: None,
            is_loading: false,
            started_at,
            deadline: started_at + ATTEMPT_TIME_MAX,
        };
        trial.handle_outputs(outputs);
        while !trial.driver.is_over() {
            // The deadline is polled first, so that an endless stream cannot starve it.
            let signal = tokio::select! {
                biased;
                () = sleep_until(trial.deadline) => return trial.handle_timeout(),
                signal = trial.driver.next_signal() => signal,
                Some(_) = trial.tools.hub_events.recv() => continue,
            };
            if let Some(end) = trial.observe_signal(&signal).await {
                return end;
            }
            for input in trial.driver.read_signal(signal) {
                trial.feed(input);
            }
        }
        trial.complete()
    }

    /// Returns the result if the signal ends the trial before its turn ends.
    async fn observe_signal(&mut self, signal: &TurnSignal) -> Option<TrialEnd> {
        match signal {
            TurnSignal::Loaded(Some(false)) => {
                self.is_loading = true;
                self.deadline = Instant::now() + LOADING_TIME_MAX;
                let _ = self.events.send(ProbeEvent::ModelLoading).await;
            }
            TurnSignal::Silence => {
                let seconds = self.probe.idle_seconds();
                return Some(self.give_up(format!("the reply stalled for {seconds} s.")));
            }
            TurnSignal::Part(part) => {
                if let Some(Err(error)) = part {
                    if affects_every_dialect(&error.cause) {
                        tracing::warn!("probe: {error}");
                        return Some(TrialEnd::Aborted(error.notice()));
                    }
                    self.observation.record_reply_failure(&error.cause);
                }
                if std::mem::take(&mut self.is_loading) {
                    // Loading time does not count.
                    self.started_at = Instant::now();
                    self.deadline = self.started_at + ATTEMPT_TIME_MAX;
                    let _ = self.events.send(ProbeEvent::ModelLoaded).await;
                }
            }
            _ => {}
        }
        None
    }

    fn feed(&mut self, input: TurnInput) {
        self.observation.observe_input(&input);
        let outputs = self.driver.feed(input);
        self.handle_outputs(outputs);
    }

    fn handle_outputs(&mut self, outputs: Vec<TurnOutput>) {
        for output in outputs {
            match output {
                TurnOutput::Event(event) => {
                    self.observation.observe_event(self.model.dialect, &event)
                }
                TurnOutput::Request { messages, tools } => {
                    self.observation.begin_round();
                    let num_ctx = self.num_ctx(&messages, &tools);
                    self.driver.send(ChatRequest {
                        model: Arc::clone(&self.model),
                        messages,
                        tools,
                        num_ctx,
                        temperature: None,
                    });
                }
                TurnOutput::Asked { ask, question } => {
                    let answer = self.observation.answer_to(&question);
                    self.feed(TurnInput::Answered { ask, answer });
                }
                TurnOutput::Call(call) => {
                    let id = call.id();
                    let request = McpCall {
                        id,
                        server: call.server().clone(),
                        tool: call.tool().to_owned(),
                        arguments: call.arguments().clone(),
                        pin: None,
                        task: None,
                    };
                    let hub = &self.tools.hub;
                    self.driver.run(call.id(), |cancel| {
                        let outcome = hub.call(request, cancel);
                        async move {
                            FinishedCall {
                                call: id,
                                outcome: outcome.await,
                                // The only tool is built in, so its output is trusted.
                                images: ResultImages::default(),
                            }
                        }
                    });
                }
                // A probe saves nothing and has no screen to update.
                TurnOutput::RequestDropped
                | TurnOutput::AskClosed(_)
                | TurnOutput::Granted(_)
                | TurnOutput::RuleAdded(_)
                | TurnOutput::FinishAgent(_)
                // A probe resumes no turn.
                | TurnOutput::FollowTask(..)
                | TurnOutput::Answered { .. }
                | TurnOutput::PartialAnswer { .. } => {}
            }
        }
    }

    /// The context size that a conversation would request from Ollama; 0 for other servers.
    fn num_ctx(&mut self, messages: &[Message], tools: &Toolset) -> u32 {
        let model = &self.model;
        if !model.provider.truncates_silently() {
            return 0;
        }
        *self.num_ctx.get_or_insert_with(|| {
            let native_tools = (model.dialect == Dialect::Native).then_some(tools);
            let vocabulary = Vocabulary::for_model(self.model_info.family.as_deref(), &model.model);
            let estimate = raw_estimate(messages, native_tools, vocabulary);
            let (previous, approved) = (self.probe.num_ctx, self.probe.approved_num_ctx);
            let tokens = match ContextLimits::new(model, self.model_info, previous, approved)
                .fit(estimate)
            {
                ContextFit::Fits { num_ctx } | ContextFit::TooLong { num_ctx } => num_ctx,
                ContextFit::Grows { from, .. } => from,
            };
            u32::try_from(tokens).unwrap_or(u32::MAX)
        })
    }

    fn handle_timeout(mut self) -> TrialEnd {
        if self.is_loading {
            // The other dialects would not load it any faster.
            let (name, seconds) = (&self.model.name, LOADING_TIME_MAX.as_secs());
            let message = format!("The server did not load {name} within {seconds} s.");
            let advice = "The server's log may show why; a smaller model loads faster.";
            return TrialEnd::Aborted(Notice::failure(message).with_advice(advice));
        }
        let seconds = ATTEMPT_TIME_MAX.as_secs();
        self.give_up(format!("no answer within {seconds} s."))
    }

    fn give_up(&mut self, problem: String) -> TrialEnd {
        self.observation.give_up(problem);
        self.complete()
    }

    fn complete(&mut self) -> TrialEnd {
        let observation = std::mem::take(&mut self.observation);
        TrialEnd::Completed(observation.into_trial(self.model.dialect, self.started_at.elapsed()))
    }
}

fn setup(probe: &DialectProbe, model: &ModelConfig, tools: &ProbeTools) -> TurnSetup {
    // The only tool offered is harmless, so it may run without asking.
    let mut approval = Approval::new(ToolMode::Manual);
    for tool in tools.toolset.tools() {
        approval.grant(ToolIdentity::from_offered(tool));
    }
    TurnSetup {
        prompt: Prompt::new(prompt()),
        prompt_override: None,
        model: model.name.clone(),
        may_think: model.think != Some(Think::Off),
        dialect: model.dialect,
        system_prompt: Arc::clone(&probe.system_prompt),
        history: Arc::default(),
        toolset: Arc::clone(&tools.toolset),
        offered: Arc::clone(&tools.toolset),
        approval,
        limits: Limits {
            tool_rounds: ROUNDS_MAX,
            idle_seconds: probe.idle_seconds(),
            ..Limits::default()
        },
        guard: Default::default(),
        resumed_calls: Vec::new(),
    }
}

/// A random number and the time make it unique, so that no cache answers it.
fn prompt() -> String {
    let id = RandomState::new().hash_one(PROBE_TOOL) as u32;
    let now = jiff::Timestamp::now();
    format!(
        "This is a test of tool calls (request {id:08x}, {now:.0}). Call the tool `{PROBE_TOOL}` once, \
         without arguments. Its result holds a secret word. Then answer in one sentence that \
         repeats this secret word exactly."
    )
}

fn affects_every_dialect(cause: &FailureCause) -> bool {
    match cause {
        FailureCause::ConnectionRefused
        | FailureCause::HostNotFound
        | FailureCause::ConnectTimeout
        | FailureCause::Unreachable { .. }
        | FailureCause::Redirected { .. }
        | FailureCause::SignInRequired { .. }
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
    fn each_probe_prompt_is_unique() {
        let (first, second) = (prompt(), prompt());
        assert_ne!(first, second);
        assert!(first.contains("`say_hello`"), "{first}");
    }
}

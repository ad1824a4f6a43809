//! A turn as a pure state machine: it receives inputs and returns effects, both as data
//! (`types`). It makes every decision between a prompt and its final answer, and performs no
//! I/O. `round` reads a reply, `reply_text` keeps its text, `proposals` resolves the requested
//! calls, `parsing_changes` finds the changes that parsing made to their arguments, `check` has
//! arguments checked, `server_choice` asks which server a call means, `argument_eq` compares them,
//! `agent` lets a note agent take over, `awaiting_servers` waits for servers that are starting,
//! `loop_detector` detects repetition, `retry` resends a failed request, `decisions` asks for
//! approval and applies decisions, `trust_change` applies changed rules, `execute` runs the calls,
//! `questions` asks all other questions, `resume` waits for tasks of earlier calls.

mod agent;
mod argument_eq;
mod awaiting_servers;
mod check;
mod decisions;
mod execute;
mod loop_detector;
mod parsing_changes;
mod proposals;
mod questions;
mod reply_text;
mod resume;
mod retry;
mod round;
mod server_choice;
mod trust_change;
mod types;

pub use types::{
    AgentPart, AgentPlan, ModelAnswer, ProposedCall, ReadyServers, ReplyEnd, ReplyFailure,
    TurnEffect, TurnIdGenerators, TurnInput, TurnSetup, TurnState,
};

use super::approval::{ApprovedCall, ToolIdentity};
use super::context::{self, Exchange};
use super::result_images::ResultImages;
use crate::domain::session::MessageRole;
use crate::domain::{
    Arguments, AskId, CallId, CallOrigin, Decision, Dialect, Message, Notice, PieceId, PieceKind,
    QuoteSource, ReasoningEcho, RoundEnd, ToolCall, ToolOutcome, ToolProgress, ToolState, Toolset,
    TurnEnd, TurnEvent, Usage, WaitReason,
};
use crate::protocol::{Question, UserAnswer};
use check::PendingCheck;
use proposals::Proposal;
use round::Round;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::ServerChoice;

/// A call that was started: the identity of its tool, and the id that links it to its result.
#[derive(Debug, Clone)]
struct StartedCall {
    identity: ToolIdentity,
    wire_id: String,
}

/// A running retry. Its result replaces the one with this wire id.
#[derive(Debug, Clone)]
struct CallRetry {
    call: CallId,
    wire_id: String,
}

/// The state machine of one turn.
#[derive(Debug)]
pub struct Turn {
    setup: TurnSetup,
    ids: TurnIdGenerators,
    state: TurnState,
    ask: Option<AskId>,
    round: Round,
    /// The earlier rounds of this turn, as they are sent to the model.
    exchanges: Vec<Exchange>,
    /// All calls of this turn, in the order of their proposals.
    calls: BTreeMap<CallId, ToolCall>,
    /// The calls of this round, in the order of the model's requests.
    proposals: Vec<Proposal>,
    pending_check: Option<PendingCheck>,
    server_choice: ServerChoice,
    /// The decisions to run calls, kept until all calls are decided.
    run_decisions: BTreeMap<CallId, Decision>,
    /// The provider's ids of the calls in this turn.
    wire_ids: BTreeSet<String>,
    /// Every call that ran, in case it is retried.
    started_calls: BTreeMap<CallId, StartedCall>,
    /// The images of results, sent with them in each further round.
    result_images: BTreeMap<CallId, ResultImages>,
    call_retry: Option<CallRetry>,
    /// The call that finished last, to detect that the model repeats it.
    last_finished: Option<CallId>,
    round_count: u32,
    /// Number of automatic retries of this round's request.
    retry_count: u32,
    /// The message of the last notice about a retry. It is not repeated.
    last_retry_message: Option<String>,
    /// Number of rounds with calls.
    tool_rounds: u32,
    tool_rounds_max: Option<u32>,
    /// Number of failed calls. The user is asked once it reaches `errors_max`.
    error_count: u32,
    errors_max: u32,
    last_failed: Option<CallId>,
    is_unusable_call_reported: bool,
    /// The user asked for an answer without more tools.
    must_answer_now: bool,
    agent: AgentPart,
    usage: Usage,
    effects: Vec<TurnEffect>,
}

impl Turn {
    /// Starts a turn. The returned effects send the prompt to the model, or wait for the tasks of
    /// resumed calls first.
    pub fn begin(setup: TurnSetup, ids: TurnIdGenerators) -> (Self, Vec<TurnEffect>) {
        let mut turn = Self::new(setup, ids);
        match std::mem::take(&mut turn.setup.resumed_calls) {
            calls if calls.is_empty() => turn.start_round(),
            calls => turn.resume_calls(calls),
        }
        let effects = std::mem::take(&mut turn.effects);
        (turn, effects)
    }

    fn new(setup: TurnSetup, ids: TurnIdGenerators) -> Self {
        let mut turn = Self {
            tool_rounds_max: Some(setup.limits.tool_rounds),
            errors_max: setup.limits.errors_per_turn.max(1),
            setup,
            ids,
            state: TurnState::Waiting,
            ask: None,
            round: Round::default(),
            exchanges: Vec::new(),
            calls: BTreeMap::new(),
            proposals: Vec::new(),
            pending_check: None,
            server_choice: ServerChoice::default(),
            run_decisions: BTreeMap::new(),
            wire_ids: BTreeSet::new(),
            started_calls: BTreeMap::new(),
            result_images: BTreeMap::new(),
            call_retry: None,
            last_finished: None,
            round_count: 0,
            retry_count: 0,
            last_retry_message: None,
            tool_rounds: 0,
            error_count: 0,
            last_failed: None,
            is_unusable_call_reported: false,
            must_answer_now: false,
            agent: AgentPart::default(),
            usage: Usage::default(),
            effects: Vec::new(),
        };
        turn.emit(TurnEvent::Started {
            prompt: turn.setup.prompt.clone(),
            model: turn.setup.model.clone(),
        });
        turn
    }

    pub fn state(&self) -> TurnState {
        self.state
    }

    /// The tools whose calls are recognized in text. These include all tools even when the model
    /// must answer without them, because a call is never an answer.
    pub fn toolset(&self) -> Arc<Toolset> {
        Arc::clone(&self.setup.toolset)
    }

    /// How the model is asked to write calls.
    pub fn dialect(&self) -> Dialect {
        self.setup.dialect
    }

    /// The id generators, to be passed to the next turn.
    pub fn ids(&self) -> TurnIdGenerators {
        self.ids.clone()
    }

    /// Handles one input. An input that does not apply to the current state changes nothing, such
    /// as a late part of a dropped reply or an answer to a closed question.
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        match input {
            _ if self.state == TurnState::Ended => {}
            TurnInput::Interrupt => self.interrupt(TurnEnd::Cancelled),
            TurnInput::Stopped => self.interrupt(TurnEnd::Stopped),
            TurnInput::ModeChanged(mode) => self.setup.approval.mode = mode,
            TurnInput::ToolsetChanged(offered) => self.handle_toolset_changed(offered),
            TurnInput::ToolsOffered(offered) => self.handle_tools_offered(offered),
            TurnInput::TrustChanged(approval) => self.handle_trust_changed(*approval),
            TurnInput::Answered { ask, answer } => {
                if self.ask == Some(ask) {
                    self.handle_answer(answer);
                }
            }
            TurnInput::ArgumentsChecked(results) => self.handle_arguments_checked(results),
            TurnInput::Progress { call, progress } => self.update_progress(call, progress),
            TurnInput::TaskStarted { call, task } => self.handle_task_started(call, task),
            TurnInput::CancelCall { call, elapsed } => {
                self.drop_call(call, ToolOutcome::Cancelled { elapsed });
            }
            TurnInput::LeaveCall { call, elapsed } => {
                self.drop_call(call, ToolOutcome::Left { elapsed });
            }
            TurnInput::CallDone {
                call,
                outcome,
                images,
            } => {
                self.keep_images(call, images);
                self.handle_call_done(call, outcome);
            }
            TurnInput::RetryDue => self.handle_retry_due(),
            TurnInput::ServersReady(ready) => self.handle_servers_ready(ready),
            TurnInput::AgentPrepared(plan) => self.handle_agent_prepared(plan),
            TurnInput::AgentProgressed(text) => self.handle_agent_progress(text),
            TurnInput::AgentFinished(result) => self.handle_agent_finished(result),
            reply_input => {
                if matches!(
                    self.state,
                    TurnState::Waiting | TurnState::Streaming | TurnState::Stalled
                ) {
                    self.handle_reply_input(reply_input);
                }
            }
        }
        std::mem::take(&mut self.effects)
    }

    fn prompt_text(&self) -> &str {
        let agent_prompt = self.agent.prompt.as_deref();
        agent_prompt.unwrap_or_else(|| self.setup.prompt_text())
    }

    fn start_round(&mut self) {
        self.reset_round();
        self.retry_count = 0;
        self.send_request();
    }

    fn send_request(&mut self) {
        self.state = TurnState::Waiting;
        let tools = if self.must_answer_now {
            Arc::new(Toolset::default())
        } else {
            Arc::clone(&self.setup.offered)
        };
        let prompt = context::user_message(self.prompt_text(), &self.setup.prompt.attachments);
        let mut messages = context::assemble_messages(
            &self.setup.system_prompt,
            self.setup.dialect,
            &tools,
            &self.setup.history,
            prompt.clone(),
            &self.exchanges,
        );
        self.keep_untrusted_parts(&messages, &prompt, &tools);
        if self.must_answer_now {
            messages.push(Message::User(
                "Answer now with what you have. No more tools can be called.".to_owned(),
            ));
        }
        self.effects.push(TurnEffect::Request { messages, tools });
    }

    /// Passes all of a request to the injection guard that is neither ours nor the user's.
    fn keep_untrusted_parts(&self, messages: &[Message], prompt: &Message, tools: &Toolset) {
        let current = &self.setup.prompt;
        let source = match current.piped_from {
            _ if self.agent.prompt.is_some() => QuoteSource::Notes,
            Some(_) => QuoteSource::Context,
            None => QuoteSource::Attachment,
        };
        let earlier = self.setup.history.iter();
        let earlier = earlier.filter(|message| message.role == MessageRole::User);
        let earlier = earlier.map(|message| &*message.content);
        let typed = match current.kind.is_typed() {
            true => current.text_before_piped(),
            // Our own instruction.
            false => self.setup.prompt_text(),
        };
        let typed = earlier.chain([typed]).filter(|text| !text.is_empty());
        let guard = &self.setup.guard;
        guard.keep_request(messages, (prompt, source), &typed.collect());
        guard.keep_definitions(tools);
    }

    fn reset_round(&mut self) {
        self.round_count += 1;
        self.round = Round::default();
        self.proposals.clear();
        self.state = TurnState::Waiting;
        self.emit(TurnEvent::RoundStarted {
            round: self.round_count,
        });
    }

    fn interrupt(&mut self, end: TurnEnd) {
        match self.state {
            TurnState::Waiting | TurnState::Streaming | TurnState::Stalled => {
                self.effects.push(TurnEffect::DropRequest);
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Broken,
                });
            }
            TurnState::Running => {
                for call in self.running_calls() {
                    self.effects.push(TurnEffect::Cancel(call));
                }
            }
            _ => {}
        }
        self.end(end);
    }

    /// Closes the open question, marks running calls as interrupted and other open ones as not run,
    /// and has the answer saved. Cancels no call; see [`Self::interrupt`].
    fn end(&mut self, end: TurnEnd) {
        self.close_ask();
        // No call may be shown as still running.
        for call in self.running_calls() {
            self.finish_call(call, ToolOutcome::Interrupted);
        }
        for call in self.open_calls() {
            let why = "the turn was stopped".to_owned();
            self.finish_call(call, ToolOutcome::NotRun { why });
        }
        match &end {
            TurnEnd::Answered { text, .. } => self.save_answer(text.clone(), false),
            TurnEnd::Cancelled | TurnEnd::Stopped if self.has_stopped_answer() => {
                self.save_answer(self.round.reply_text.text().into_owned(), true);
            }
            _ => {
                let text = self.round.reply_text.text().into_owned();
                if !text.trim().is_empty() || self.calls.values().any(ToolCall::may_have_run) {
                    self.effects.push(TurnEffect::SavePartialAnswer { text });
                }
            }
        }
        self.state = TurnState::Ended;
        let usage = self.usage;
        self.emit(TurnEvent::Ended { end, usage });
    }

    /// Whether the text of this round becomes the answer if the user stops the turn. Part of a summary
    /// must not replace the messages that the summary would have covered.
    fn has_stopped_answer(&self) -> bool {
        let is_summary = self.setup.prompt_override.is_some();
        !is_summary && !self.round.reply_text.text().trim().is_empty()
    }

    fn save_answer(&mut self, answer: String, is_stopped: bool) {
        self.effects.push(TurnEffect::SaveAnswer {
            answer,
            usage: self.usage,
            is_stopped,
        });
    }

    fn open_ask(&mut self, state: TurnState, question: Question) {
        let ask = AskId(self.ids.asks.next_id());
        self.state = state;
        self.ask = Some(ask);
        self.effects.push(TurnEffect::OpenAsk { ask, question });
    }

    fn close_ask(&mut self) {
        if let Some(ask) = self.ask.take() {
            self.effects.push(TurnEffect::CloseAsk(ask));
        }
    }

    fn emit(&mut self, event: TurnEvent) {
        self.effects.push(TurnEffect::Emit(event));
    }

    fn note(&mut self, notice: Notice) {
        self.emit(TurnEvent::Noted(notice));
    }

    fn set_call_state(&mut self, id: CallId, state: ToolState) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.state = state;
            let call = call.clone();
            self.emit(TurnEvent::Tool(call));
        }
    }

    fn finish_call(&mut self, id: CallId, outcome: ToolOutcome) {
        self.set_call_state(id, ToolState::Done(outcome));
    }

    fn open_calls(&self) -> Vec<CallId> {
        let is_open = |call: &&ToolCall| !matches!(call.state, ToolState::Done(_));
        self.calls
            .values()
            .filter(is_open)
            .map(|call| call.id)
            .collect()
    }

    fn running_calls(&self) -> Vec<CallId> {
        let is_running = |call: &&ToolCall| matches!(call.state, ToolState::Running { .. });
        self.calls
            .values()
            .filter(is_running)
            .map(|call| call.id)
            .collect()
    }
}

//! Carries out the outputs of the conversation's turn and feeds the results back.

use super::Actor;
use crate::domain::compaction;
use crate::domain::{Advice, CallId, Notice, PromptKind, ToolState, TurnEvent, Usage};
use crate::engine::active_turn::ActiveTurnSignal;
use crate::engine::context::BudgetOutput;
use crate::engine::failures;
use crate::engine::jobs::JobResult;
use crate::engine::models::select::no_model;
use crate::engine::persist::session_writer::ConversationSeq;
use crate::engine::questions::PendingQuestion;
use crate::engine::turn::TurnInput;
use crate::engine::turn_driver::{TurnOutput, TurnSignal};
use crate::protocol::{ContextShares, Event, ModelJob, QuestionOwner};
use crate::provider::StreamPart;
use futures::future::ready;

impl Actor {
    pub(super) fn handle_active_turn_signal(&mut self, signal: ActiveTurnSignal) {
        match signal {
            ActiveTurnSignal::Turn(signal) => self.handle_turn_signal(signal),
            ActiveTurnSignal::ServersOverdue => self.stop_awaiting_servers(),
            ActiveTurnSignal::ModelInfo(model_info) => {
                let outputs = self.models.context.handle_model_info(model_info);
                self.perform_budget_outputs(outputs);
            }
            ActiveTurnSignal::Agent(signal) => self.handle_agent_signal(signal),
        }
    }

    pub(super) fn handle_turn_signal(&mut self, signal: TurnSignal) {
        if let TurnSignal::Part(Some(Ok(StreamPart::Usage(usage)))) = &signal {
            let turn = self.turn.as_ref();
            if let Some(model) = turn.and_then(|turn| turn.model.as_ref()) {
                let outputs = self.models.context.record_usage(model, *usage);
                self.perform_budget_outputs(outputs);
            }
        }
        let signal = match signal {
            TurnSignal::CallDone(finished) => match self.take_left_task(finished) {
                Some(finished) => TurnSignal::CallDone(finished),
                None => return,
            },
            signal => signal,
        };
        let Some(turn) = &mut self.turn else { return };
        for input in turn.driver.read_signal(signal) {
            self.feed(input);
        }
    }

    pub(super) fn feed(&mut self, input: TurnInput) {
        if let Some(turn) = &mut self.turn {
            let outputs = turn.driver.feed(input);
            self.perform(outputs);
        }
    }

    pub(super) fn perform(&mut self, outputs: Vec<TurnOutput>) {
        for output in outputs {
            let Some(turn) = &self.turn else { return };
            let owner = QuestionOwner::Job(ModelJob::Turn(turn.id));
            match output {
                TurnOutput::Event(event) => self.emit(event),
                TurnOutput::Request { messages, tools } => {
                    let has_images = turn.attachments.iter().any(|file| file.is_image());
                    let Some(model) = turn.model.clone() else {
                        let notice = no_model(&self.cx);
                        self.feed(TurnInput::ReplyEnded(Err(notice.into())));
                        continue;
                    };
                    self.models
                        .context
                        .queue(model, messages, tools, has_images);
                    let outputs = self.models.context.prepare_request();
                    self.perform_budget_outputs(outputs);
                }
                TurnOutput::RequestDropped => self.drop_unsent(),
                TurnOutput::Asked { ask, question } => self.cx.outbox.push(Event::Asked {
                    ask,
                    owner,
                    question,
                }),
                TurnOutput::AskClosed(ask) => self.cx.outbox.push(Event::AskClosed(ask)),
                TurnOutput::Call(call) => self.run_call(&call),
                TurnOutput::FollowTask(call) => self.follow_task(*call),
                TurnOutput::Granted(grant) => {
                    let servers = self.hub.servers();
                    self.trust.grant_session(grant, &servers, &mut self.cx);
                }
                TurnOutput::RuleAdded(rule) => {
                    let servers = self.hub.servers();
                    self.trust.store_rule(rule, &servers, &mut self.cx);
                }
                TurnOutput::FinishAgent(answer) => self.finish_agent(answer),
                TurnOutput::Answered {
                    answer,
                    usage,
                    is_stopped,
                } => self.save_model_answer(&answer, usage, is_stopped),
                TurnOutput::PartialAnswer { text } => self.save_partial_answer(&text),
            }
        }
    }

    fn is_side_request(&self) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.agent.is_side_request)
    }

    pub(super) fn perform_budget_outputs(&mut self, outputs: Vec<BudgetOutput>) {
        for output in outputs {
            match output {
                BudgetOutput::TurnNotice(notice) => self.feed(TurnInput::Noted(notice)),
                BudgetOutput::Notice(notice) => self.cx.notice(notice),
                // `humble ask` has no meter.
                BudgetOutput::MeterNotice(_)
                    if self.cx.options.is_one_shot || self.is_side_request() => {}
                BudgetOutput::MeterNotice(notice) => {
                    self.cx.outbox.push(Event::LowPriorityNoticePosted(notice));
                }
                // The meter keeps showing the conversation while an agent sends a request of its own.
                BudgetOutput::Measured(_) if self.is_side_request() => {}
                BudgetOutput::Measured(meter) => {
                    self.cx.outbox.push(Event::ContextMeasured(meter));
                }
                BudgetOutput::Refuse(notice) => {
                    self.feed(TurnInput::ReplyEnded(Err(notice.into())));
                }
                BudgetOutput::Stop => self.feed(TurnInput::Stopped),
                BudgetOutput::FetchModelInfo(model) => {
                    let provider = self.cx.provider.clone();
                    if let Some(turn) = &mut self.turn {
                        let query = async move { provider.model_info(&model).await.ok() };
                        turn.model_info_query = Some(Box::pin(query));
                    }
                }
                BudgetOutput::AskUser { question, to } => {
                    if let Some(turn) = &self.turn {
                        let owner = QuestionOwner::Job(ModelJob::Turn(turn.id));
                        self.cx
                            .ask(owner, question, PendingQuestion::GrowContext { to });
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

    fn drop_unsent(&mut self) {
        self.models.context.drop_unsent();
        if let Some(turn) = &mut self.turn {
            turn.model_info_query = None;
        }
        self.cx
            .withdraw_matching(|pending| matches!(pending, PendingQuestion::GrowContext { .. }));
    }

    /// Runs in the background, because the conversation may be long.
    pub(super) fn estimate_session(&mut self) {
        let Some(model) = self.models.current() else {
            return;
        };
        let estimator = self.models.context.session_estimator(model);
        let offered = self.tool_offer.current(&self.current_toolset());
        let system = self.current_system_prompt();
        let (seq, session) = (self.conversation.seq(), self.conversation.session().clone());
        self.cx.jobs.spawn_blocking(move || {
            let history = compaction::request_history(&session);
            let shares = estimator.estimate(&system, &offered, &history);
            JobResult::SessionEstimated(seq, shares)
        });
    }

    pub(super) fn handle_session_estimate(&mut self, seq: ConversationSeq, shares: ContextShares) {
        if seq != self.conversation.seq() || self.turn.is_some() {
            return;
        }
        if let Some(model) = self.models.current().cloned() {
            let context = &mut self.models.context;
            let output = context.handle_session_estimate(&model, shares);
            self.perform_budget_outputs(vec![output]);
        }
    }

    fn save_model_answer(&mut self, answer: &str, usage: Usage, is_stopped: bool) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(prefix) = turn.summarized_prefix.take() {
            return self.apply_summary(prefix, answer);
        }
        let replaced_turns = match turn.kind {
            PromptKind::Replace => turn.replaced_turns,
            _ => 0,
        };
        // Of several replaced turns, the user edited only the first and may not think of the notes of
        // the others, so all of these notes stay. A stopped turn has written no new note.
        let (kept_notes, mut replaced_notes) = match replaced_turns {
            0 => (Vec::new(), Vec::new()),
            1 if !is_stopped => (Vec::new(), self.conversation.take_notes_of_last_turn()),
            count => (
                self.conversation.note_names_of_last_turns(count),
                Vec::new(),
            ),
        };
        let (turn, conversation) = (turn.to_save(is_stopped), &mut self.conversation);
        self.persist
            .save_answer(conversation, &turn, answer, usage, &self.cx);
        let last_answer = self.conversation.session().messages.last();
        let is_unfinished =
            last_answer.is_some_and(|last| self.agents.is_unfinished_note(&last.content));
        self.conversation.report_branch_counts(&mut self.cx);
        // The new version may be in the same file.
        let rewritten = self.conversation.notes_of_last_turn();
        replaced_notes.retain(|old| !rewritten.iter().any(|new| new.path == old.path));
        if is_unfinished {
            // The earlier version stays until the new one is complete.
            return;
        }
        let new_note = rewritten.last().map(|new| &*new.note);
        self.remove_notes(replaced_notes, "The turn was replaced.", new_note);
        if !kept_notes.is_empty() {
            let replaced = match replaced_turns {
                1 => "The turn was replaced. Its notes stay".to_owned(),
                count => format!("{count} turns were replaced. Their notes stay"),
            };
            let text = format!("{replaced}: {}.", kept_notes.join(", "));
            // Posted after the end of the turn, whose notice would replace this one.
            let notice = Notice::info(text).with_advice(Advice::ListBranches);
            self.report_later(Box::pin(ready(notice)));
        }
    }

    fn save_partial_answer(&mut self, text: &str) {
        // A partial summary is not saved.
        if let Some(turn) = self
            .turn
            .as_ref()
            .filter(|turn| turn.summarized_prefix.is_none())
        {
            let (turn, conversation) = (turn.to_save(false), &mut self.conversation);
            self.persist
                .save_partial_answer(conversation, &turn, text, &self.cx);
        }
    }

    fn emit(&mut self, event: TurnEvent) {
        let Some(turn) = &mut self.turn else { return };
        turn.transcript.apply(turn.id, &event);
        if let TurnEvent::Tool(call) = &event
            && let (ToolState::AwaitingApproval, Some(quoted)) = (&call.state, call.quoted)
        {
            let reason = quoted.clause();
            tracing::warn!(server = %call.server, tool = %call.tool, "the call needs approval: it {reason}");
        }
        let (id, has_ended) = (turn.id, matches!(event, TurnEvent::Ended { .. }));
        if let TurnEvent::Ended { end, .. } = &event {
            failures::log_turn_end(end);
        }
        self.persist.record(&event, &mut self.cx);
        self.cx.outbox.push(Event::Turn(id, event));
        if has_ended && let Some(turn) = self.turn.take() {
            let finished = turn.driver.finish();
            self.turn_ids = finished.ids;
            self.last_trace = finished.trace;
            self.earlier_calls.extend(finished.calls);
            if let Some(meter) = self.models.context.end_turn() {
                self.cx.outbox.push(Event::ContextMeasured(meter));
            }
            if turn.agent.is_side_request {
                // The agent's request was measured instead of the conversation.
                return self.estimate_session();
            }
            if turn.summarized_prefix.is_some() {
                // No summary was stored, and the meter still shows the request for it.
                self.estimate_session();
            }
            let tools = self.tool_offer.current(&self.current_toolset());
            if let Some(suggestion) = self.models.context.compact_suggestion(&tools) {
                self.cx.notice(suggestion);
            }
        }
    }

    /// Skips the pause before the next attempt, or the wait for servers.
    pub(super) fn send_now(&mut self) {
        self.stop_awaiting_servers();
        let input = self.turn.as_mut().and_then(|turn| turn.driver.take_retry());
        input.into_iter().for_each(|input| self.feed(input));
    }

    pub(super) fn cancel_call(&mut self, call: CallId) {
        let run_time = self.turn.as_ref().map(|turn| turn.driver.run_time(call));
        if let Some(elapsed) = run_time.flatten() {
            tracing::info!(%call, "the user cancelled the call");
            let mut others = self.running_calls(None);
            others.retain(|other| *other != call);
            self.cancel_questions_of(&[call], &others);
            self.feed(TurnInput::CancelCall { call, elapsed });
        }
    }
}

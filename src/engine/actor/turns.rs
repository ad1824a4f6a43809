//! Starts turns for prompts and for summaries of the conversation (`/compact`).

use super::Actor;
use crate::domain::compaction;
use crate::domain::session::SummarizedPrefix;
use crate::domain::{
    Advice, Dialect, ModelConfig, Notice, Prompt, PromptKind, SavedMessage, Think, Transcript,
    TurnEnd, TurnEvent, TurnId, Usage,
};
use crate::engine::active_turn::{ActiveTurn, AwaitedServers};
use crate::engine::agents::Preparation;
use crate::engine::context::NUM_CTX_AUTOMATIC_MAX;
use crate::engine::failures;
use crate::engine::injection_guard::InjectionGuard;
use crate::engine::models::select::no_model;
use crate::engine::turn::TurnSetup;
use crate::engine::turn_driver::{FirstStep, TurnDriver};
use crate::protocol::Event;
use std::sync::Arc;

/// Share of the context for the messages to summarize. The rest is for the instruction, the
/// summary and errors of the estimate.
const SUMMARIZED_SHARE_PERCENT: u64 = 60;
/// Characters per token: a low value, which also fits Korean text.
const CHARS_PER_TOKEN: u64 = 2;

/// Blocks the engine forever if a test requests it, to check that signals and Ctrl+C still end
/// the program.
#[cfg(debug_assertions)]
fn block_on_purpose(prompt: &str) {
    if std::env::var("HUMBLE_TEST_BLOCK").is_ok_and(|value| value == prompt) {
        eprintln!("HUMBLE_TEST_BLOCK is set");
        loop {
            std::thread::park();
        }
    }
}

impl Actor {
    pub(super) fn submit(&mut self, id: TurnId, prompt: Prompt) {
        #[cfg(debug_assertions)]
        block_on_purpose(&prompt.text);
        self.hub.refresh_tools();
        if self.hold_until_open(id, &prompt) {
            return;
        }
        if prompt.kind != PromptKind::Continue {
            self.add_to_history(prompt.text.clone());
        }
        if let Some(busy) = self.busy_notice() {
            return self.reject(id, prompt, busy);
        }
        if prompt.kind == PromptKind::Continue
            && self.conversation.session().last_prompt_index().is_none()
        {
            let notice = Notice::failure("There is no answer to continue.");
            return self.reject(id, prompt, notice);
        }
        let model = self.models.current().cloned();
        let history = self.history_before(&prompt);
        let preparation = self.offer_to_agents(&prompt, model.as_deref());
        let needs_model = preparation.as_ref().is_none_or(|agent| agent.needs_model);
        if model.is_none() && needs_model {
            return self.reject(id, prompt, no_model(&self.cx));
        }
        let resumed_calls = self.recovery.take_calls(self.conversation.seq(), &prompt);
        self.recovery.postpone(&mut self.cx);
        let started_at = &mut self.conversation.session_mut().started_at;
        started_at.get_or_insert_with(jiff::Timestamp::now);
        // An agent that needs no model needs no tools either. Any other acts once the servers are ready.
        let awaited = match needs_model {
            true => self.awaited_servers(&prompt, &resumed_calls),
            false => None,
        };
        let preparation = preparation.filter(|_| awaited.is_none());
        let (toolset, offered) = match &model {
            Some(model) => self.tools_for_turn(&prompt.text, model),
            None => Default::default(),
        };
        let name = model.as_ref().map_or("", |model| &model.name);
        self.persist
            .begin_turn(&self.conversation, &prompt, name, &self.cx);
        let setup = TurnSetup {
            prompt,
            prompt_override: None,
            model: name.to_owned(),
            may_think: model
                .as_ref()
                .is_some_and(|model| model.think != Some(Think::Off)),
            dialect: model
                .as_ref()
                .map_or(Dialect::Native, |model| model.dialect),
            system_prompt: self.current_system_prompt(),
            history: Arc::new(history),
            toolset,
            offered,
            approval: self.trust.approval_for_turn(),
            limits: self.cx.settings.limits.clone(),
            guard: self.guard_of_turn(),
            resumed_calls,
        };
        self.begin_turn(id, setup, model, None, preparation, awaited);
        let servers = self.hub.servers();
        self.trust.ask_next_pin_change(&servers, &mut self.cx);
    }

    fn guard_of_turn(&self) -> InjectionGuard {
        let guard = self.guards.current();
        guard.keep_instructions(&self.hub.servers());
        guard.clone()
    }

    /// The messages that the model gets before `prompt`.
    pub(super) fn history_before(&self, prompt: &Prompt) -> Vec<SavedMessage> {
        let session = self.conversation.session();
        let replaced_index = session
            .nth_last_prompt_index(prompt.replaced_turns)
            .filter(|_| prompt.kind == PromptKind::Replace);
        match replaced_index {
            Some(index) => compaction::request_history_until(session, index),
            None => compaction::request_history(session),
        }
    }

    pub(super) fn offer_to_agents(
        &self,
        prompt: &Prompt,
        model: Option<&ModelConfig>,
    ) -> Option<Preparation> {
        let (session, mut settings) = (self.conversation.session(), self.cx.settings.notes());
        settings.model = model.cloned().map(Box::new);
        self.agents.offer(prompt, session, settings, &self.toolset)
    }

    /// Starts a turn. If its answer will be a summary, `summarized_prefix` identifies
    /// the messages that the summary replaces. An agent that recognized the prompt prepares the
    /// turn first.
    pub(super) fn begin_turn(
        &mut self,
        id: TurnId,
        setup: TurnSetup,
        model: Option<Arc<ModelConfig>>,
        summarized_prefix: Option<SummarizedPrefix>,
        preparation: Option<Preparation>,
        awaited_servers: Option<AwaitedServers>,
    ) {
        let (prompt, kind) = (setup.prompt.typed_text().to_owned(), setup.prompt.kind);
        let replaced_turns = setup.prompt.replaced_turns;
        let attachments = setup.prompt.attachments.clone();
        let first_step = match (&awaited_servers, &preparation) {
            (Some(_), _) => FirstStep::AwaitServers,
            (None, Some(_)) => FirstStep::PrepareAgent,
            (None, None) => FirstStep::Request,
        };
        let (provider, checker) = (self.cx.provider.clone(), self.argument_checker.clone());
        let ids = self.turn_ids.clone();
        let (driver, outputs) = TurnDriver::begin(provider, setup, ids, checker, first_step);
        let agent = preparation.map(|preparation| self.acting_agent(preparation));
        self.turn = Some(ActiveTurn {
            id,
            driver,
            prompt,
            attachments,
            kind,
            replaced_turns,
            summarized_prefix,
            model,
            persona: self.settings.personas().selected().cloned(),
            transcript: Transcript::default(),
            model_info_query: None,
            agent: agent.unwrap_or_default(),
            awaited_servers,
        });
        self.perform(outputs);
    }

    /// `None` if a turn can start. Only one turn runs at a time, and none during a probe.
    pub(super) fn busy_notice(&self) -> Option<Notice> {
        let reason = match (&self.turn, self.probe.is_active()) {
            (Some(_), _) => "A turn is still running.",
            (None, true) => "A probe is still running.",
            (None, false) if self.has_waiting_prompt() => "A turn is still running.",
            (None, false) => return None,
        };
        Some(Notice::failure(reason).with_advice(Advice::WaitOrStop))
    }

    /// Reports a turn that fails before it starts.
    pub(super) fn reject(&mut self, id: TurnId, prompt: Prompt, notice: Notice) {
        self.end_before_start(id, prompt, TurnEnd::Failed { notice });
    }

    pub(super) fn end_before_start(&mut self, id: TurnId, prompt: Prompt, end: TurnEnd) {
        let (model, usage) = (self.models.current_name(), Usage::default());
        failures::log_turn_end(&end);
        self.cx
            .outbox
            .push(Event::Turn(id, TurnEvent::Started { prompt, model }));
        self.cx
            .outbox
            .push(Event::Turn(id, TurnEvent::Ended { end, usage }));
    }

    /// Reports that a summary did not start. No `Started` event precedes it, so the conversation
    /// does not show it.
    fn reject_summary(&mut self, id: TurnId, notice: Notice) {
        let end = TurnEnd::Failed { notice };
        let usage = Usage::default();
        self.cx
            .outbox
            .push(Event::Turn(id, TurnEvent::Ended { end, usage }));
    }

    /// Starts a turn whose answer is a summary of the older messages.
    pub(super) fn compact(&mut self, id: TurnId) {
        if let Some(busy) = self.busy_notice() {
            return self.reject_summary(id, busy);
        }
        let Some(model) = self.models.current().cloned() else {
            return self.reject_summary(id, no_model(&self.cx));
        };
        let tokens = self
            .models
            .context
            .tokens_max(&model)
            .unwrap_or(NUM_CTX_AUTOMATIC_MAX);
        let chars_max = usize::try_from(tokens * SUMMARIZED_SHARE_PERCENT / 100 * CHARS_PER_TOKEN);
        let summary_request = compaction::summary_prompt(
            self.conversation.session(),
            chars_max.unwrap_or(usize::MAX),
        );
        let Some((instruction, prefix)) = summary_request else {
            let notice = Notice::info("There is nothing to summarize yet.")
                .with_reason("The last prompt and its answer are never summarized.");
            return self.reject_summary(id, notice);
        };
        let setup = TurnSetup {
            prompt: Prompt::compaction(),
            prompt_override: Some(instruction),
            model: model.name.clone(),
            may_think: model.think != Some(Think::Off),
            // No tools, and no instructions about them.
            dialect: Dialect::Native,
            system_prompt: "".into(),
            history: Arc::default(),
            toolset: Arc::default(),
            offered: Arc::default(),
            approval: self.trust.approval().clone(),
            limits: self.cx.settings.limits.clone(),
            guard: self.guard_of_turn(),
            resumed_calls: Vec::new(),
        };
        self.begin_turn(id, setup, Some(model), Some(prefix), None, None);
    }

    /// Drops the summary, so the model is sent the messages that it covered, or an earlier summary of
    /// them.
    pub(super) fn drop_summary(&mut self) {
        if self.turn.is_none() && compaction::drop_summary(self.conversation.session_mut()) {
            self.save_and_estimate();
        }
    }

    /// From now on the model is sent the summary in place of the messages in `prefix`.
    pub(super) fn apply_summary(&mut self, prefix: SummarizedPrefix, summary: &str) {
        let Some(turn) = &self.turn else { return };
        let model = turn.model.as_ref();
        let (id, model) = (
            turn.id,
            model.map_or_else(String::new, |model| model.name.clone()),
        );
        compaction::store_summary(
            self.conversation.session_mut(),
            prefix,
            summary.trim(),
            &model,
        );
        let notice =
            Notice::info("The model now receives this summary instead of the messages before it.")
                .with_reason("Nothing is deleted.");
        self.cx
            .outbox
            .push(Event::Turn(id, TurnEvent::Noted(notice)));
        self.save_and_estimate();
    }
}

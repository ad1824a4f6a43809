//! Runs the approved calls of a round and sends their results to the model.

use super::proposals::{Proposal, ProposalKind};
use super::{
    ApprovedCall, CallId, Exchange, StartedCall, ToolCall, ToolIdentity, ToolOutcome, ToolProgress,
    ToolState, Turn, TurnEffect, TurnState, context,
};
use crate::domain::{
    AttachedImage, CallTask, ServerId, ServerTask, ToolCallMessage, ToolLookup, ToolResultMessage,
};
use crate::engine::result_images::ResultImages;

impl Turn {
    pub(super) fn start_approved_calls(&mut self) {
        let mut has_started = false;
        for id in self.round_calls() {
            if let Some(approved) = self.approved_call(id) {
                self.mark_call_started(id);
                self.effects.push(TurnEffect::Run(approved));
                has_started = true;
            }
        }
        self.run_decisions.clear();
        if has_started {
            self.state = TurnState::Running;
        } else {
            self.finish_round();
        }
    }

    fn mark_call_started(&mut self, id: CallId) {
        let wire_id = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.kind {
                ProposalKind::Call { id: call_id, .. } if call_id == id => {
                    Some(proposal.wire_id.clone())
                }
                _ => None,
            });
        if let (Some(offered), Some(wire_id)) = (self.proposed_tool(id), wire_id) {
            let identity = ToolIdentity::from_offered(offered);
            self.started_calls
                .insert(id, StartedCall { identity, wire_id });
        }
        self.set_call_state(id, ToolState::Running { progress: None });
    }

    /// The call to run; `None` if it was not approved. A call whose tool has changed or was blocked
    /// since its approval ends here.
    fn approved_call(&mut self, id: CallId) -> Option<ApprovedCall> {
        let call = self.calls.get(&id)?.clone();
        if call.state != ToolState::Proposed {
            return None;
        }
        let proposed = self.proposed_tool(id)?.clone();
        let current = self
            .setup
            .toolset
            .get(&proposed.server, &proposed.tool.name);
        let is_unchanged = current.is_some_and(|current| {
            ToolIdentity::from_offered(current) == ToolIdentity::from_offered(&proposed)
        });
        if !is_unchanged {
            let why = "the tool changed or is no longer offered".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
            return None;
        }
        // The tool may have been blocked since the decision.
        if self.setup.approval.is_blocked(&call) {
            self.finish_call(id, ToolOutcome::Never);
            return None;
        }
        match self.run_decisions.get(&id) {
            // The edited arguments are already in the call.
            Some(decision) => ApprovedCall::from_decision(&call, decision),
            None => {
                let permission = self.standing_permission(&call, &proposed);
                let approval = &self.setup.approval;
                let approved =
                    permission.and_then(|_| approval.approve_without_asking(&call, &proposed));
                if let Some(call) = self.calls.get_mut(&id) {
                    call.permission = permission;
                }
                approved
            }
        }
    }

    pub(super) fn update_progress(&mut self, id: CallId, progress: ToolProgress) {
        let Some(ToolState::Running { progress: previous }) =
            self.calls.get(&id).map(|call| &call.state)
        else {
            return;
        };
        let progress = Some(progress.following(previous.as_ref()));
        self.set_call_state(id, ToolState::Running { progress });
    }

    pub(super) fn handle_task_started(&mut self, id: CallId, task: ServerTask) {
        let Some(started) = self.started_calls.get(&id) else {
            return;
        };
        let (launch, pin) = (
            started.identity.launch.clone(),
            started.identity.pin.clone(),
        );
        if self.running_calls().contains(&id)
            && let Some(call) = self.calls.get_mut(&id)
        {
            call.task = Some(Box::new(CallTask { task, launch, pin }));
            // Without progress, so that the journal records the task.
            self.set_call_state(id, ToolState::Running { progress: None });
        }
    }

    /// Stops waiting for this call, which ends with `outcome`; other calls keep running. A late
    /// result from its server is ignored.
    pub(super) fn drop_call(&mut self, id: CallId, outcome: ToolOutcome) {
        if self.running_calls().contains(&id) {
            self.effects.push(TurnEffect::Cancel(id));
            self.handle_call_done(id, outcome);
        }
    }

    /// Keeps the images of a running call's result until the end of the turn.
    pub(super) fn keep_images(&mut self, id: CallId, images: ResultImages) {
        if images == ResultImages::default() || !self.running_calls().contains(&id) {
            return;
        }
        if let Some(call) = self.calls.get_mut(&id) {
            call.saved_files = images.saved_files.iter().cloned().collect();
            call.user_text = context::truncate_result(&images.user_text).into();
        }
        self.result_images.insert(id, images);
    }

    pub(super) fn handle_call_done(&mut self, id: CallId, outcome: ToolOutcome) {
        if self.state != TurnState::Running || !self.running_calls().contains(&id) {
            return;
        }
        self.last_finished = Some(id);
        if outcome.is_error() {
            self.error_count += 1;
            self.last_failed = Some(id);
        }
        self.finish_call(id, outcome);
        if self.running_calls().is_empty() {
            if self.call_retry.is_some() {
                self.finish_retry()
            } else {
                self.finish_round()
            }
        }
    }

    /// Ends the round once every call has an outcome: sends the results to the model, unless all
    /// calls turned out to be text.
    fn finish_round(&mut self) {
        let outcome_of = |id: &CallId| match &self.calls.get(id)?.state {
            ToolState::Done(outcome) => Some(outcome.clone()),
            _ => None,
        };
        let ids = self.round_calls();
        let outcomes: Vec<ToolOutcome> = ids.iter().filter_map(outcome_of).collect();
        let has_unusable = self.proposals.len() > ids.len();
        if !has_unusable
            && outcomes
                .iter()
                .all(|outcome| *outcome == ToolOutcome::WasText)
        {
            self.finish_with_answer(false);
            return;
        }
        let proposals = std::mem::take(&mut self.proposals);
        let mut pairs = Vec::new();
        for proposal in &proposals {
            match self.call_and_result(proposal) {
                Some(pair) => pairs.push(pair),
                None => self.push_unusable_exchange(proposal, &mut pairs),
            }
        }
        self.push_call_exchange(pairs);
        self.start_round();
    }

    fn push_call_exchange(&mut self, pairs: Vec<(ToolCallMessage, ToolResultMessage)>) {
        if !pairs.is_empty() {
            // The reasoning belongs to the first group of calls.
            let reasoning_echo = self.round.reasoning_echo.take();
            self.exchanges.push(Exchange::Calls {
                pairs,
                reasoning_echo,
            });
        }
    }

    fn call_and_result(&self, proposal: &Proposal) -> Option<(ToolCallMessage, ToolResultMessage)> {
        let mut images = Vec::new();
        let (server, tool, native_name, arguments, content, is_error) = match &proposal.kind {
            ProposalKind::Call { id, tool } => {
                let call = self.calls.get(id)?;
                let ToolState::Done(outcome) = &call.state else {
                    return None;
                };
                if *outcome == ToolOutcome::WasText {
                    return None;
                }
                let content;
                (content, images) = self.result_content(call, outcome);
                (
                    call.server.clone(),
                    call.tool.clone(),
                    tool.native_name.clone(),
                    call.arguments.clone(),
                    content,
                    outcome.is_error(),
                )
            }
            ProposalKind::Unusable {
                native_name: Some(name),
                arguments,
                why,
            } => (
                ServerId::new(""),
                name.clone(),
                name.clone(),
                arguments.clone(),
                format!("Error: {why}"),
                true,
            ),
            ProposalKind::Unusable {
                native_name: None, ..
            } => return None,
        };
        let xml_name = match self.setup.toolset.resolve(None, &tool) {
            ToolLookup::Tool(offered) if offered.server == server => tool.clone(),
            ToolLookup::Unknown => tool.clone(),
            ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) => format!("{server}__{tool}"),
        };
        let wire_id = proposal.wire_id.clone();
        let result = ToolResultMessage {
            wire_id: wire_id.clone(),
            tool: tool.clone(),
            native_name: native_name.clone(),
            content,
            images,
            is_error,
        };
        Some((
            ToolCallMessage {
                wire_id,
                server,
                tool,
                native_name,
                xml_name,
                arguments,
            },
            result,
        ))
    }

    /// The text and the images of a result as sent to the model.
    pub(super) fn result_content(
        &self,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> (String, Vec<AttachedImage>) {
        let text = self.result_text(call, outcome);
        let source = match outcome {
            ToolOutcome::Reused { of } => *of,
            _ => call.id,
        };
        match self.result_images.get(&source) {
            Some(result) => {
                let note = result.omission_note();
                let text = note.map_or_else(|| text.clone(), |note| format!("{text}\n{note}"));
                (text, result.images.clone())
            }
            None => (text, Vec::new()),
        }
    }

    fn result_text(&self, call: &ToolCall, outcome: &ToolOutcome) -> String {
        let first_call = match outcome {
            ToolOutcome::Reused { of } => self.calls.get(of),
            _ => None,
        };
        let first_result = first_call.and_then(|call| match &call.state {
            ToolState::Done(ToolOutcome::Succeeded { text, .. }) => Some(text.as_str()),
            _ => None,
        });
        let must_stop = self.error_count >= self.errors_max;
        context::result_text(call, outcome, first_result, must_stop)
    }

    /// Adds an unusable call that was read from text, and its error. The call is sent back as the
    /// model wrote it.
    fn push_unusable_exchange(
        &mut self,
        proposal: &Proposal,
        pairs: &mut Vec<(ToolCallMessage, ToolResultMessage)>,
    ) {
        let ProposalKind::Unusable { why, .. } = &proposal.kind else {
            return;
        };
        self.push_call_exchange(std::mem::take(pairs));
        self.exchanges.push(Exchange::Unreadable {
            raw: proposal.raw.clone(),
            error: format!(
                "Your tool call could not be used: {why}. Correct it, or answer without it."
            ),
        });
    }
}

//! A turn that was offered to a note agent. The agent may answer it, add excerpts of notes to the
//! prompt, send the model another prompt, use the model's answer, or pass the prompt on.

use super::{
    AgentPlan, Dialect, ModelAnswer, Notice, PieceKind, RoundEnd, Turn, TurnEffect, TurnEnd,
    TurnEvent, TurnIdGenerators, TurnSetup, TurnState,
};
use crate::domain::{AgentResult, Severity};

impl Turn {
    /// Starts a turn that sends nothing before [`super::TurnInput::AgentPrepared`].
    pub fn begin_with_agent(setup: TurnSetup, ids: TurnIdGenerators) -> (Self, Vec<TurnEffect>) {
        let mut turn = Self::new(setup, ids);
        turn.state = TurnState::AgentPreparing;
        let effects = std::mem::take(&mut turn.effects);
        (turn, effects)
    }

    pub(super) fn handle_agent_prepared(&mut self, plan: AgentPlan) {
        if self.state != TurnState::AgentPreparing {
            return;
        }
        match plan {
            AgentPlan::PassOn(notice) => {
                self.note(as_warning(notice));
                self.start_round();
            }
            AgentPlan::RequestFailed(notice) => {
                self.emit(TurnEvent::AgentFailed(as_warning(notice)));
                self.start_round();
            }
            AgentPlan::AddToPrompt { excerpts, result } => {
                if !excerpts.is_empty() {
                    let prompt = self.setup.prompt_text();
                    self.agent.prompt = Some(format!("{excerpts}\n\n{prompt}"));
                    self.agent.adds_note_text = true;
                }
                self.agent.result = Some(result);
                self.start_round();
            }
            AgentPlan::AskModel(prompt) => {
                self.agent.prompt = Some(prompt);
                self.agent.takes_answer = true;
                self.agent.is_without_tools = true;
                self.setup.system_prompt = "".into();
                self.setup.history = Default::default();
                self.setup.toolset = Default::default();
                self.setup.offered = Default::default();
                self.setup.dialect = Dialect::Native;
                self.start_round();
            }
            AgentPlan::UseAnswer => {
                self.agent.takes_answer = true;
                self.start_round();
            }
            AgentPlan::Answer { text, result } => {
                self.emit_delta(PieceKind::Text, text.clone());
                self.emit(TurnEvent::RoundEnded {
                    end: RoundEnd::Answer,
                });
                self.emit(TurnEvent::AgentActed(result));
                self.end(TurnEnd::Answered {
                    text,
                    is_truncated: false,
                });
            }
        }
    }

    pub(super) fn handle_agent_progress(&mut self, text: String) {
        if self.state == TurnState::AgentPreparing {
            self.emit(TurnEvent::AgentWorking { text });
        }
    }

    /// Ends the turn with the model's answer, or lets the agent use it first.
    pub(super) fn end_with_answer(&mut self, answer: ModelAnswer) {
        if self.agent_takes_answer() {
            return self.finish_agent(answer);
        }
        if let Some(result) = self.agent.result.take() {
            self.emit(TurnEvent::AgentActed(result));
        }
        let ModelAnswer { text, is_truncated } = answer;
        self.end(TurnEnd::Answered { text, is_truncated });
    }

    pub(super) fn agent_takes_answer(&self) -> bool {
        self.agent.takes_answer
    }

    /// The turn ends when the agent has used the answer.
    fn finish_agent(&mut self, answer: ModelAnswer) {
        self.state = TurnState::AgentFinishing;
        self.agent.answer = Some(answer.clone());
        self.effects.push(TurnEffect::FinishAgent(answer));
    }

    pub(super) fn handle_agent_finished(&mut self, result: Result<AgentResult, Notice>) {
        let Some(ModelAnswer { text, is_truncated }) = self.agent.answer.take() else {
            return;
        };
        match result {
            Ok(result) => self.emit(TurnEvent::AgentActed(result)),
            // The user keeps the model's text as the answer.
            Err(notice) => self.emit(TurnEvent::AgentFailed(notice)),
        }
        self.end(TurnEnd::Answered { text, is_truncated });
    }
}

/// A failure becomes a warning, because the turn continues.
fn as_warning(mut notice: Notice) -> Notice {
    if notice.severity == Severity::Failure {
        notice.severity = Severity::Warning;
    }
    notice
}

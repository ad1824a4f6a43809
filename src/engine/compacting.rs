//! Runs `/compact`: a turn like any other, whose answer takes the place of the older
//! part of what is sent (S9.7).

use super::actor::Actor;
use super::turn::Setup;
use super::window::NUM_CTX_UNASKED_MAX;
use crate::domain::compact::{self, Covered};
use crate::domain::{COMPACT, Dialect, Notice, Offered, Prompt, TurnEvent, TurnId};
use crate::protocol::Event;
use std::sync::Arc;

/// Of the context, what the older part may take; the rest is for the instruction, the
/// summary and what the estimate is off by.
const SHARE_PERCENT: u64 = 60;
/// Characters of a token: few, as Korean has them.
const TOKEN_CHARS: u64 = 2;

impl Actor {
    pub(super) fn compact(&mut self, id: TurnId) {
        let prompt = Prompt::new(COMPACT);
        if let Some(busy) = self.busy() {
            return self.reject(id, prompt, busy);
        }
        let Some(model) = self.model.clone() else {
            return self.reject(id, prompt, self.no_model());
        };
        let tokens = self.context_max().unwrap_or(NUM_CTX_UNASKED_MAX);
        let chars = usize::try_from(tokens * SHARE_PERCENT / 100 * TOKEN_CHARS);
        let asked = compact::request(&self.session, chars.unwrap_or(usize::MAX));
        let Some((instruction, covered)) = asked else {
            let nothing = Notice::failure("There is nothing to summarise yet.")
                .because("The last prompt and its answer stay as they are.");
            return self.reject(id, prompt, nothing);
        };
        let setup = Setup {
            prompt,
            instruction: Some(instruction),
            model: model.name.clone(),
            // No tools, and nothing taught about them.
            dialect: Dialect::Native,
            system_prompt: "".into(),
            history: Arc::default(),
            offered: Arc::new(Offered::default()),
            approval: self.approval.clone(),
            limits: self.settings.limits.clone(),
            quotes: self.quotes.clone(),
        };
        self.begin_turn(id, setup, model, Some(covered));
    }

    /// All is sent again as it stands in the file.
    pub(super) fn drop_summary(&mut self) {
        if self.turn.is_none() && compact::forget(&mut self.session) {
            self.write();
            self.weigh_session();
        }
    }

    /// The summary is there: from now on it is sent in place of what it stands for.
    pub(super) fn compacted(&mut self, covered: &Covered, summary: &str) {
        let Some(turn) = &self.turn else { return };
        let (id, model) = (turn.id, turn.model.name.clone());
        compact::keep(&mut self.session, covered, summary.trim(), &model);
        let said = Notice::info("The model is sent this summary instead of what came before it.")
            .because("The file keeps all.");
        self.outbox.push(Event::Turn(id, TurnEvent::Noted(said)));
        self.write();
        self.weigh_session();
    }
}

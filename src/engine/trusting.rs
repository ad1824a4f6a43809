//! What is decided for longer than a call: remembered, taken back, listed.

use super::actor::Actor;
use super::turn::Input;
use crate::domain::trust::Rule;
use crate::domain::{Notice, ServerId, Trusted};

impl Actor {
    /// A decision of the turn, which knows it already.
    pub(super) fn store_rule(&mut self, rule: Rule) {
        let trust = std::sync::Arc::make_mut(&mut self.approval.trust);
        trust.add(rule);
    }

    pub(super) fn revoke(&mut self, trusted: Trusted) {
        let trust = std::sync::Arc::make_mut(&mut self.approval.trust);
        match trusted {
            Trusted::Rule(rule) => trust.rules.retain(|old| !old.is_same(&rule)),
            Trusted::Session(grant) => self.approval.revoke(&grant),
            Trusted::Instructions(agreed) | Trusted::InstructionsOnce(agreed) => {
                trust.instructions.retain(|old| !old.is_same(&agreed));
            }
            Trusted::Waiting(_) => {}
        }
        let approval = Box::new(self.approval.clone());
        self.feed(Input::TrustChanged(approval));
    }

    pub(super) fn ask_instructions(&mut self, server: &ServerId) {
        let said = format!("The instructions of `{server}` are not sent.");
        self.notice(Notice::info(said));
    }

    pub(super) fn review_tool(&mut self, server: &ServerId, tool: &str) {
        self.notice(Notice::info(format!(
            "`{tool}` of `{server}` is not withheld."
        )));
    }
}

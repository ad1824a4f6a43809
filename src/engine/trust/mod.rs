//! What the user decided for longer than one call: remembered, taken back, listed. A decision
//! is in force at once, also for a turn under way; the file follows. `pins` withholds tools
//! that changed, `instructions` is about the texts of servers.

mod instructions;
mod pins;

pub(super) use pins::PinDecision;

use super::approval::Approval;
use super::cx::EngineCx;
use crate::config::{TrustEdit, TrustQueue};
use crate::domain::trust::{InstructionsConsent, TrustRule};
use crate::domain::{
    AskId, Notice, Pin, Server, ServerId, ToolIdentity, ToolMode, Trust, TrustEntry,
};
use crate::protocol::Event;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct TrustState {
    /// What is in force.
    approval: Approval,
    queue: Arc<TrustQueue>,
    /// Instructions that are sent until the program ends.
    instructions_until_exit: Vec<InstructionsConsent>,
    /// The question about a changed tool, and whether the next one follows it.
    open_question: Option<AskId>,
    asks_next: bool,
    /// Definitions that were left undecided: they are not asked about by themselves.
    postponed: Vec<(ServerId, String, Pin)>,
    /// Servers whose instructions are not those that were agreed to, as it was told.
    reported_instructions: BTreeSet<(ServerId, String)>,
    listed: Arc<Vec<TrustEntry>>,
}

impl TrustState {
    pub(super) fn new(trust: Arc<Trust>) -> Self {
        Self {
            approval: Approval::trusting(trust),
            ..Self::default()
        }
    }

    /// The tools that the command line allows.
    pub(super) fn allow(&mut self, tools: Vec<(ServerId, String)>) {
        self.approval.allowed = tools.into();
    }

    pub(super) fn mode(&self) -> ToolMode {
        self.approval.mode
    }

    pub(super) fn set_mode(&mut self, mode: ToolMode) {
        self.approval.mode = mode;
    }

    pub(super) fn approval(&self) -> &Approval {
        &self.approval
    }

    /// What is in force for a turn that begins now.
    pub(super) fn approval_for_turn(&mut self) -> Approval {
        self.approval.decided_at = Timestamp::now();
        self.approval.clone()
    }

    /// What is remembered beyond this run.
    pub(super) fn stored_trust(&self) -> &Arc<Trust> {
        &self.approval.trust
    }

    /// The file holds something else.
    pub(super) fn replace_stored(&mut self, trust: Arc<Trust>) {
        self.approval.trust = trust;
    }

    fn trust_mut(&mut self) -> &mut Trust {
        Arc::make_mut(&mut self.approval.trust)
    }

    /// Writes changes that are in force already, in their order.
    pub(super) fn write_trust(
        &mut self,
        edits: impl IntoIterator<Item = TrustEdit>,
        cx: &mut EngineCx,
    ) {
        // What cannot be read is not written either; the user was told.
        if self.stored_trust().unreadable.is_file_unreadable {
            return;
        }
        for edit in edits {
            self.queue.push(edit);
        }
        let (queue, home) = (Arc::clone(&self.queue), cx.home.clone());
        cx.save_config(move || queue.flush(&home));
    }

    /// A decision of the turn, which knows it already.
    pub(super) fn store_rule(&mut self, rule: TrustRule, servers: &[Server], cx: &mut EngineCx) {
        tracing::info!(server = %rule.server, tool = ?rule.tool(), "a decision is remembered");
        self.trust_mut().add_rule(rule.clone());
        if self.stored_trust().unreadable.is_file_unreadable {
            cx.notice(Notice::warning(
                "trust.json cannot be read, so this holds until humble ends only.",
            ));
        }
        self.write_trust([TrustEdit::AddRule(rule)], cx);
        self.publish_trust(servers, cx);
    }

    /// A grant of this session, which the turn knows already.
    pub(super) fn grant_session(
        &mut self,
        grant: ToolIdentity,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        self.approval.grant(grant);
        self.publish_trust(servers, cx);
    }

    /// Grants of a session end with it. False where there were none.
    pub(super) fn end_session(&mut self) -> bool {
        let had_grants = self.approval.session_grants().next().is_some();
        self.approval.clear_session_grants();
        had_grants
    }

    /// False where nothing changed.
    pub(super) fn revoke(&mut self, trusted: TrustEntry, cx: &mut EngineCx) -> bool {
        let what = match &trusted {
            TrustEntry::Rule(rule) => match rule.tool() {
                Some(tool) => format!("`{tool}` of `{}`", rule.server),
                None => format!("The tools of `{}`", rule.server),
            },
            TrustEntry::SessionGrant(grant) => format!("`{}` of `{}`", grant.tool, grant.server),
            other => format!("The instructions of `{}`", other.server()),
        };
        let said = match trusted {
            TrustEntry::Rule(rule) | TrustEntry::InactiveRule(rule, _) => {
                self.trust_mut().rules.retain(|old| !old.is_same(&rule));
                let said = match rule.is_blocking() {
                    true => format!("{what}: not ruled out any more, asks."),
                    false => format!("{what}: revoked, asks from now on."),
                };
                self.write_trust([TrustEdit::RemoveRule(rule)], cx);
                said
            }
            TrustEntry::SessionGrant(grant) => {
                self.approval.revoke(&grant);
                format!("{what}: revoked, asks from now on.")
            }
            TrustEntry::Instructions(agreed) | TrustEntry::InstructionsOnce(agreed) => {
                self.revoke_instructions(&agreed, cx);
                format!("{what} are not sent any more.")
            }
            // It has no power that could be taken from it.
            TrustEntry::PendingPinChange(_) => return false,
        };
        cx.notice(Notice::info(said));
        true
    }

    pub(super) fn revoke_instructions(&mut self, agreed: &InstructionsConsent, cx: &mut EngineCx) {
        let is_other = |old: &InstructionsConsent| !old.is_same(agreed);
        self.instructions_until_exit.retain(is_other);
        self.trust_mut().instruction_consents.retain(is_other);
        self.write_trust([TrustEdit::RevokeInstructions(agreed.clone())], cx);
    }

    /// Every rule with what keeps it from being followed, or from being kept.
    fn listed_rules(&self, servers: &[Server]) -> Vec<TrustEntry> {
        let trust = self.stored_trust();
        let rules = trust.rules.iter().cloned();
        let list = |rule: TrustRule| {
            let server = servers.iter().find(|server| server.id == rule.server);
            match trust.inactive_reason(&rule, server) {
                Some(lapse) => TrustEntry::InactiveRule(rule, lapse),
                None => TrustEntry::Rule(rule),
            }
        };
        rules.map(list).collect()
    }

    /// Tells the front end all that `/trust` lists, where that changed.
    pub(super) fn publish_trust(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let waiting = self
            .pin_changes(servers)
            .into_iter()
            .map(TrustEntry::PendingPinChange);
        let rules = self.listed_rules(servers).into_iter();
        let mut session: Vec<ToolIdentity> = self.approval.session_grants().cloned().collect();
        session.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        let session = session.into_iter().map(TrustEntry::SessionGrant);
        let agreed = self.stored_trust().instruction_consents.iter().cloned();
        let agreed = agreed.map(TrustEntry::Instructions);
        let once = self.instructions_until_exit.iter().cloned();
        let once = once.map(TrustEntry::InstructionsOnce);
        let listed: Vec<TrustEntry> = waiting
            .chain(rules)
            .chain(session)
            .chain(agreed)
            .chain(once)
            .collect();
        if listed != *self.listed {
            self.listed = Arc::new(listed);
            let listed = Arc::clone(&self.listed);
            cx.outbox.push(Event::TrustChanged(listed));
        }
    }
}

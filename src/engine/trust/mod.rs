//! Stores, revokes and lists decisions that outlast one call. A decision applies immediately, even
//! to a running turn, and is then written to `trust.json`. `pins` withholds changed tools;
//! `instructions` decides which server instructions are sent to the model.

mod instructions;
mod pins;

pub(super) use pins::PinDecision;

use super::approval::Approval;
use super::cx::EngineCx;
use crate::config::{Home, TrustEdit, TrustQueue};
use crate::domain::trust::{InstructionsConsent, TrustRule};
use crate::domain::{
    AskId, Notice, Pin, Server, ServerId, ToolIdentity, ToolMode, Trust, TrustEntry,
};
use crate::protocol::Event;
pub use instructions::INSTRUCTIONS_BYTES_MAX;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The effect of a revoked rule. In auto mode, calls run without one.
const ASKS_AGAIN: &str = "Calls ask again, except in auto mode.";

/// The time between attempts to write decisions.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct TrustState {
    approval: Approval,
    queue: Arc<TrustQueue>,
    /// When to write decisions again that could not be written.
    retry_at: Option<Instant>,
    /// Consents to send instructions, valid until humble exits.
    instructions_until_exit: Vec<InstructionsConsent>,
    pin_question: Option<AskId>,
    /// Whether to ask about the next changed tool once the open question is answered.
    asks_next: bool,
    /// Tool changes that the user chose to decide on later. Only a review asks about them again.
    postponed: Vec<(ServerId, String, Pin)>,
    /// The changed instructions that were already reported, by server and text hash.
    reported_instructions: BTreeSet<(ServerId, String)>,
    /// The entries last sent to the front end.
    published: Arc<Vec<TrustEntry>>,
}

impl TrustState {
    pub(super) fn new(trust: Arc<Trust>) -> Self {
        Self {
            approval: Approval::trusting(trust),
            ..Self::default()
        }
    }

    /// Sets the tools that the command line allows without asking.
    pub(super) fn set_allowed_tools(&mut self, tools: Vec<(ServerId, String)>) {
        self.approval.allowed_tools = tools.into();
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

    pub(super) fn approval_for_turn(&mut self) -> Approval {
        self.approval.decided_at = Timestamp::now();
        self.approval.clone()
    }

    pub(super) fn stored_trust(&self) -> &Arc<Trust> {
        &self.approval.trust
    }

    pub(super) fn replace_stored(&mut self, trust: Arc<Trust>) {
        self.approval.trust = trust;
    }

    fn trust_mut(&mut self) -> &mut Trust {
        Arc::make_mut(&mut self.approval.trust)
    }

    /// The edits already apply in memory.
    pub(super) fn write_trust(
        &mut self,
        edits: impl IntoIterator<Item = TrustEdit>,
        cx: &mut EngineCx,
    ) {
        // Never overwrite an unreadable file. The user has already been warned.
        if self.stored_trust().unreadable.is_file_unreadable {
            return;
        }
        for edit in edits {
            self.queue.push(edit);
        }
        self.flush(cx);
    }

    fn flush(&mut self, cx: &mut EngineCx) {
        self.retry_at = Some(Instant::now() + RETRY_INTERVAL);
        let (queue, home) = (Arc::clone(&self.queue), cx.home.clone());
        cx.save_config(move || queue.flush(&home));
    }

    /// Waits until decisions that could not be written must be written again; pending forever if there
    /// are none. Cancel-safe.
    pub(super) async fn retry_due(&self) {
        match self.retry_at {
            Some(retry_at) => tokio::time::sleep_until(retry_at).await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn retry(&mut self, cx: &mut EngineCx) {
        self.retry_at = None;
        if !self.queue.is_empty() {
            self.flush(cx);
        }
    }

    pub(super) fn has_unsaved_decisions(&self) -> bool {
        self.queue.unsaved_notice().is_some()
    }

    /// Writes what is still pending at exit. Returns a notice that names what could not be written.
    pub(super) async fn write_last(self, home: Home) -> Option<Notice> {
        let write = move || {
            if let Err(error) = self.queue.flush(&home) {
                tracing::warn!("trust.json was not written: {error}");
            }
            self.queue.unsaved_notice()
        };
        tokio::task::spawn_blocking(write).await.unwrap_or_default()
    }

    /// Stores a decision that the turn has already applied.
    pub(super) fn store_rule(&mut self, rule: TrustRule, servers: &[Server], cx: &mut EngineCx) {
        tracing::info!(server = %rule.server, tool = ?rule.tool(), "storing a decision");
        self.trust_mut().add_rule(rule.clone());
        if self.stored_trust().unreadable.is_file_unreadable {
            cx.notice(Notice::warning(
                "trust.json cannot be read, so this decision is lost when humble exits.",
            ));
        }
        self.write_trust([TrustEdit::AddRule(rule)], cx);
        self.publish_trust(servers, cx);
    }

    /// Adds a grant for this session that the turn has already applied.
    pub(super) fn grant_session(
        &mut self,
        grant: ToolIdentity,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        self.approval.grant(grant);
        self.publish_trust(servers, cx);
    }

    /// Returns false if there were none.
    pub(super) fn clear_session_grants(&mut self) -> bool {
        let had_grants = self.approval.session_grants().next().is_some();
        self.approval.clear_session_grants();
        had_grants
    }

    /// Returns false if nothing changed.
    pub(super) fn revoke(&mut self, entry: TrustEntry, cx: &mut EngineCx) -> bool {
        let subject = match &entry {
            TrustEntry::Rule(rule) | TrustEntry::RuleWithCaveat(rule, _) => match rule.tool() {
                Some(tool) => format!("`{tool}` of `{}`", rule.server),
                None => format!("The tools of `{}`", rule.server),
            },
            TrustEntry::SessionGrant(grant) => format!("`{}` of `{}`", grant.tool, grant.server),
            entry => format!("The instructions of `{}`", entry.server()),
        };
        let message = match entry {
            TrustEntry::Rule(rule) | TrustEntry::RuleWithCaveat(rule, _) => {
                self.trust_mut().rules.retain(|old| !old.is_same(&rule));
                let message = match rule.is_blocking() {
                    true => format!("{subject}: no longer blocked. {ASKS_AGAIN}"),
                    false => format!("{subject}: revoked. {ASKS_AGAIN}"),
                };
                self.write_trust([TrustEdit::RemoveRule(rule)], cx);
                message
            }
            TrustEntry::SessionGrant(grant) => {
                self.approval.revoke(&grant);
                format!("{subject}: revoked. {ASKS_AGAIN}")
            }
            TrustEntry::Instructions(consent) | TrustEntry::InstructionsUntilExit(consent) => {
                self.revoke_instructions(&consent, cx);
                format!("{subject} are no longer sent.")
            }
            // A pending change grants nothing, so there is nothing to revoke.
            TrustEntry::PendingPinChange(_) => return false,
        };
        cx.notice(Notice::info(message));
        true
    }

    pub(super) fn revoke_instructions(&mut self, consent: &InstructionsConsent, cx: &mut EngineCx) {
        let differs = |old: &InstructionsConsent| !old.is_same(consent);
        self.instructions_until_exit.retain(differs);
        self.trust_mut().instruction_consents.retain(differs);
        self.write_trust([TrustEdit::RevokeInstructions(consent.clone())], cx);
    }

    fn rule_entries(&self, servers: &[Server]) -> Vec<TrustEntry> {
        let trust = self.stored_trust();
        let rules = trust.rules.iter().cloned();
        let to_entry = |rule: TrustRule| {
            let server = servers.iter().find(|server| server.id == rule.server);
            match trust.rule_caveat(&rule, server) {
                Some(caveat) => TrustEntry::RuleWithCaveat(rule, caveat),
                None => TrustEntry::Rule(rule),
            }
        };
        rules.map(to_entry).collect()
    }

    /// Sends the list shown by `/trust` if it changed.
    pub(super) fn publish_trust(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let pending = self
            .pin_changes(servers)
            .into_iter()
            .map(TrustEntry::PendingPinChange);
        let rules = self.rule_entries(servers).into_iter();
        let mut grants: Vec<ToolIdentity> = self.approval.session_grants().cloned().collect();
        grants.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        let grants = grants.into_iter().map(TrustEntry::SessionGrant);
        let consents = self
            .stored_trust()
            .instruction_consents
            .iter()
            .cloned()
            .map(TrustEntry::Instructions);
        let until_exit = self
            .instructions_until_exit
            .iter()
            .cloned()
            .map(TrustEntry::InstructionsUntilExit);
        let entries: Vec<TrustEntry> = pending
            .chain(rules)
            .chain(grants)
            .chain(consents)
            .chain(until_exit)
            .collect();
        if entries != *self.published {
            self.published = Arc::new(entries);
            let entries = Arc::clone(&self.published);
            cx.outbox.push(Event::TrustChanged(entries));
        }
    }
}

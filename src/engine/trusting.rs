//! What is decided for longer than a call (S7.2): remembered, taken back, listed. It is
//! in force at once, also for a turn under way; the file follows.

use super::actor::Actor;
use super::turn::Input;
use crate::config::{TrustEdit, TrustQueue};
use crate::domain::trust::{Agreed, Rule};
use crate::domain::{AskId, Grant, Notice, Pin, ServerId, Trust, Trusted};
use crate::protocol::Event;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the actor knows of trust beside what is in force.
#[derive(Default)]
pub(super) struct Trusting {
    queue: Arc<TrustQueue>,
    /// Instructions that are sent until the program ends.
    pub(super) once: Vec<Agreed>,
    /// The question about a changed tool, and whether the next one follows it.
    pub(super) open: Option<AskId>,
    pub(super) goes_on: bool,
    /// Definitions that were left undecided: they are not asked about by themselves.
    pub(super) aside: Vec<(ServerId, String, Pin)>,
    /// Servers whose instructions are not those that were agreed to, as it was told.
    pub(super) told: BTreeSet<(ServerId, String)>,
    listed: Arc<Vec<Trusted>>,
}

impl Actor {
    pub(super) fn trust(&self) -> &Trust {
        &self.approval.trust
    }

    pub(super) fn trust_mut(&mut self) -> &mut Trust {
        Arc::make_mut(&mut self.approval.trust)
    }

    /// Writes changes that are in force already, in their order.
    pub(super) fn write_trust(&mut self, edits: impl IntoIterator<Item = TrustEdit>) {
        // What cannot be read is not written either; the person was told.
        if self.trust().doubt.unread {
            return;
        }
        for edit in edits {
            self.trusting.queue.push(edit);
        }
        let (queue, home) = (Arc::clone(&self.trusting.queue), self.cx.home.clone());
        self.cx.save_config(move || queue.write(&home));
    }

    /// A decision of the turn, which knows it already.
    pub(super) fn store_rule(&mut self, rule: Rule) {
        tracing::info!(server = %rule.server, tool = ?rule.tool(), "a decision is remembered");
        self.trust_mut().add(rule.clone());
        if self.trust().doubt.unread {
            self.cx.notice(Notice::warning(
                "trust.json cannot be read, so this holds until humble ends only.",
            ));
        }
        self.write_trust([TrustEdit::Add(rule)]);
        self.list_trust();
    }

    /// A grant of this session, which the turn knows already.
    pub(super) fn grant_session(&mut self, grant: Grant) {
        self.approval.grant(grant);
        self.list_trust();
    }

    /// Grants of a session end with it.
    pub(super) fn forget_session(&mut self) {
        if self.approval.session().next().is_some() {
            self.approval.forget_session();
            let approval = Box::new(self.approval.clone());
            self.feed(Input::TrustChanged(approval));
            self.list_trust();
        }
    }

    pub(super) fn revoke(&mut self, trusted: Trusted) {
        let what = match &trusted {
            Trusted::Rule(rule) => match rule.tool() {
                Some(tool) => format!("`{tool}` of `{}`", rule.server),
                None => format!("The tools of `{}`", rule.server),
            },
            Trusted::Session(grant) => format!("`{}` of `{}`", grant.tool, grant.server),
            other => format!("The instructions of `{}`", other.server()),
        };
        let said = match trusted {
            Trusted::Rule(rule) | Trusted::Lapsed(rule, _) => {
                self.trust_mut().rules.retain(|old| !old.is_same(&rule));
                let said = match rule.is_never() {
                    true => format!("{what}: not ruled out any more, asks."),
                    false => format!("{what}: revoked, asks from now on."),
                };
                self.write_trust([TrustEdit::Remove(rule)]);
                said
            }
            Trusted::Session(grant) => {
                self.approval.revoke(&grant);
                format!("{what}: revoked, asks from now on.")
            }
            Trusted::Instructions(agreed) | Trusted::InstructionsOnce(agreed) => {
                self.disagree(&agreed);
                format!("{what} are not sent any more.")
            }
            // It has no power that could be taken from it.
            Trusted::Waiting(_) => return,
        };
        self.cx.notice(Notice::info(said));
        self.trust_changed();
    }

    pub(super) fn disagree(&mut self, agreed: &Agreed) {
        let is_other = |old: &Agreed| !old.is_same(agreed);
        self.trusting.once.retain(is_other);
        self.trust_mut().instructions.retain(is_other);
        self.write_trust([TrustEdit::Disagree(agreed.clone())]);
    }

    /// What is in force changed: the turn under way, the tools on offer and the list
    /// follow.
    pub(super) fn trust_changed(&mut self) {
        let approval = Box::new(self.approval.clone());
        self.feed(Input::TrustChanged(approval));
        self.servers_changed();
        let servers = self.servers_now();
        self.cx.outbox.push(Event::ServersListed(servers));
    }

    /// Every rule with what keeps it from being followed, or from being kept.
    fn listed_rules(&self) -> Vec<Trusted> {
        let servers = self.hub.servers();
        let trust = self.trust();
        let rules = trust.rules.iter().cloned();
        let list = |rule: Rule| {
            let server = servers.iter().find(|server| server.id == rule.server);
            match trust.lapse(&rule, server) {
                Some(lapse) => Trusted::Lapsed(rule, lapse),
                None => Trusted::Rule(rule),
            }
        };
        rules.map(list).collect()
    }

    /// Tells the front end all that `/trust` lists, where that changed.
    pub(super) fn list_trust(&mut self) {
        let waiting = self.changes().into_iter().map(Trusted::Waiting);
        let rules = self.listed_rules().into_iter();
        let mut session: Vec<Grant> = self.approval.session().cloned().collect();
        session.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        let session = session.into_iter().map(Trusted::Session);
        let agreed = self.trust().instructions.iter().cloned();
        let agreed = agreed.map(Trusted::Instructions);
        let once = self.trusting.once.iter().cloned();
        let once = once.map(Trusted::InstructionsOnce);
        let listed: Vec<Trusted> = waiting
            .chain(rules)
            .chain(session)
            .chain(agreed)
            .chain(once)
            .collect();
        if listed != *self.trusting.listed {
            self.trusting.listed = Arc::new(listed);
            let listed = Arc::clone(&self.trusting.listed);
            self.cx.outbox.push(Event::TrustChanged(listed));
        }
    }
}

//! Pins: the definition that a tool had when it was first offered. One that its server changed
//! since is withheld until the user has seen the difference and accepted it, in both modes.
//! Nothing piles up: a banner says so at once, the question comes with the next prompt or when
//! the user asks for it, and the model is told.

use super::TrustState;
use crate::config::{PinnedTool, TrustEdit};
use crate::domain::trust::{AcceptedDefinition, PinChange, RuleScope, TrustRule};
use crate::domain::{
    Advice, Banner, BannerCause, LaunchConfig, Notice, Server, ServerConfig, ServerId,
};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, QuestionOwner, UserAnswer, UserChoice};
use crate::text::Clean;
use jiff::Timestamp;
use std::sync::Arc;

const WITHHELD: BannerCause = BannerCause::WithheldTools;
/// Tools that it names.
const NAMED_MAX: usize = 4;

/// What became of a question about a changed tool.
pub enum PinDecision {
    Postponed,
    /// What is in force changed; whether the next tool is to be asked about.
    Made {
        asks_next: bool,
    },
}

impl TrustState {
    /// Built-in tools are this program: they change with it alone.
    fn is_pinned(server: &Server) -> bool {
        server.launch != LaunchConfig::BuiltIn.identity()
    }

    pub fn with_withheld_tools(&self, mut server: Server) -> Server {
        if Self::is_pinned(&server) {
            let changed = server.tools.iter();
            let changed = changed.filter(|tool| self.stored_trust().has_changed(&server, tool));
            server.withheld_tools = changed.map(|tool| tool.name.clone()).collect();
        }
        server
    }

    /// Pins what is offered for the first time.
    pub fn pin_new(&mut self, servers: &[Server], configured: &[ServerConfig], cx: &mut EngineCx) {
        let mut new = Vec::new();
        for server in servers.iter().filter(|server| Self::is_pinned(server)) {
            for tool in server.offered_tools() {
                let known =
                    self.stored_trust()
                        .accepted_definition(&server.id, &server.launch, &tool.name);
                if known.is_none() {
                    new.push(PinnedTool {
                        server: server.id.clone(),
                        launch: server.launch.clone(),
                        tool: tool.name.clone(),
                        accepted: AcceptedDefinition::accept_now(tool),
                    });
                }
            }
        }
        if !new.is_empty() {
            self.accept_all(&new);
            let mut edits: Vec<_> = new.into_iter().map(TrustEdit::RecordFirstSeen).collect();
            edits.extend(self.evict_old_pins(servers, configured));
            self.write_trust(edits, cx);
        }
    }

    /// Keeps what is remembered within its bounds.
    fn evict_old_pins(
        &mut self,
        servers: &[Server],
        configured: &[ServerConfig],
    ) -> Vec<TrustEdit> {
        let trust = self.stored_trust();
        let of = |server: &Server| (server.id.clone(), trust.excess_pins(server));
        let mut gone: Vec<_> = servers.iter().map(of).collect();
        gone.retain(|(_, stale)| !stale.is_empty());
        let configured = configured.iter().map(|server| &server.id);
        let configured = configured.chain(servers.iter().map(|server| &server.id));
        gone.extend(trust.orphaned_pins(&configured.collect()));
        for (server, stale) in &gone {
            tracing::info!(%server, "definitions of tools are past their bound and forgotten");
            self.trust_mut().remove_pins(server, stale);
        }
        let edit = |(server, stale)| TrustEdit::EvictPins(server, stale);
        gone.into_iter().map(edit).collect()
    }

    fn accept_all(&mut self, pinned: &[PinnedTool]) {
        let trust = self.trust_mut();
        for one in pinned {
            let (server, launch, tool) = (&one.server, &one.launch, &one.tool);
            trust.accept(server, launch, tool, one.accepted.clone());
        }
    }

    /// Every tool that is not what was accepted.
    pub fn pin_changes(&self, servers: &[Server]) -> Vec<PinChange> {
        let of = |server: &Server| -> Vec<PinChange> {
            let tools = server.tools.iter().filter(|_| Self::is_pinned(server));
            let change = |tool: &crate::domain::Tool| {
                let accepted =
                    self.stored_trust()
                        .accepted_definition(&server.id, &server.launch, &tool.name);
                let accepted = accepted.filter(|accepted| accepted.pin != tool.pin)?;
                Some(PinChange {
                    server: server.id.clone(),
                    launch: server.launch.clone(),
                    tool: Arc::new(tool.clone()),
                    accepted: accepted.clone(),
                })
            };
            tools.filter_map(change).collect()
        };
        servers.iter().flat_map(of).collect()
    }

    /// Says what is withheld without a decision, as long as something is.
    pub fn update_withheld_banner(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let is_on = |change: &PinChange| {
            let mut on = servers.iter().filter(|server| server.enabled);
            on.any(|it| it.id == change.server && !it.disabled_tools.contains(&change.tool.name))
        };
        let mut open = self.pin_changes(servers);
        open.retain(|change| is_on(change) && !change.is_declined());
        let name = |it: &PinChange| {
            let (tool, server) = (Clean::name(&it.tool.name), Clean::name(it.server.as_str()));
            format!("`{tool}` of `{server}`")
        };
        let mut names: Vec<String> = open.iter().take(NAMED_MAX).map(name).collect();
        if open.len() > NAMED_MAX {
            names.push(format!("{} more", open.len() - NAMED_MAX));
        }
        let what = match open.len() {
            0 => return cx.clear_banner(&WITHHELD),
            1 => format!(
                "{} changed since you accepted it, and is withheld.",
                names[0]
            ),
            _ => {
                let names = names.join(", ");
                format!("Tools changed since you accepted them, and are withheld: {names}.")
            }
        };
        let banner = Banner::new(
            WITHHELD,
            Notice::warning(what).with_advice(Advice::ReviewTrust),
        );
        if cx.banners.get(&WITHHELD) != Some(&banner) {
            cx.set_banner(banner);
        }
    }

    /// The question that is open is about what the tool was before: it is put anew.
    pub fn refresh_pin_question(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let Some(open) = self.open_question else {
            return;
        };
        let Some(PendingQuestion::PinChanged(asked)) = cx.question(open) else {
            return;
        };
        let asked = asked.clone();
        let changes = self.pin_changes(servers);
        let is_it = |it: &&PinChange| it.server == asked.server && it.tool.name == asked.tool.name;
        let now = changes.iter().find(is_it).cloned();
        if now.as_ref() == Some(&*asked) {
            return;
        }
        cx.withdraw(open);
        self.open_question = None;
        if let Some(now) = now {
            self.ask_pin_change(now, cx);
        }
    }

    /// Asks about the next tool that nobody decided on yet, one at a time.
    pub fn ask_next_pin_change(&mut self, servers: &[Server], cx: &mut EngineCx) {
        // Whoever answers for a script accepts nothing.
        if self.open_question.is_some() || cx.options.is_one_shot {
            return;
        }
        let is_due = |it: &PinChange| {
            let (server, tool, pin) = (&it.server, &it.tool.name, &it.tool.pin);
            let mut aside = self.postponed.iter();
            let is_aside = aside.any(|(s, t, p)| s == server && t == tool && p == pin);
            // What would not be offered anyway can wait.
            let server = servers.iter().find(|one| one.id == *server);
            let is_offered =
                server.is_some_and(|one| one.offered_tools().any(|one| one.name == *tool));
            is_offered && !it.is_declined() && !is_aside
        };
        if let Some(change) = self.pin_changes(servers).into_iter().find(is_due) {
            self.asks_next = true;
            self.ask_pin_change(change, cx);
        }
    }

    /// The user wants to see the difference, whatever was decided about it.
    pub fn review_tool(
        &mut self,
        server: &ServerId,
        tool: &str,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        let is_it = |it: &PinChange| it.server == *server && it.tool.name == tool;
        let Some(change) = self.pin_changes(servers).into_iter().find(is_it) else {
            let (tool, server) = (Clean::name(tool), Clean::name(server.as_str()));
            let said = format!("`{tool}` of `{server}` is what you accepted.");
            return cx.notice(Notice::info(said));
        };
        if let Some(open) = self.open_question.take() {
            cx.withdraw(open);
        }
        self.asks_next = false;
        self.ask_pin_change(change, cx);
    }

    fn ask_pin_change(&mut self, change: PinChange, cx: &mut EngineCx) {
        let question = Ask::PinChanged(Arc::new(change.clone()));
        let pending = PendingQuestion::PinChanged(Box::new(change));
        self.open_question = Some(cx.ask(QuestionOwner::Program, question, pending));
    }

    pub fn pin_answered(
        &mut self,
        change: PinChange,
        answer: &UserAnswer,
        servers: &[Server],
        cx: &mut EngineCx,
    ) -> PinDecision {
        self.open_question = None;
        let goes_on = std::mem::take(&mut self.asks_next);
        let pinned = |accepted| PinnedTool {
            server: change.server.clone(),
            launch: change.launch.clone(),
            tool: change.tool.name.clone(),
            accepted,
        };
        let choice = match answer {
            UserAnswer::Choice(choice) => *choice,
            UserAnswer::Calls(_) | UserAnswer::Dismissed => {
                let (server, tool) = (change.server, change.tool.name.clone());
                let pin = change.tool.pin.clone();
                self.postponed.push((server, tool, pin));
                return PinDecision::Postponed;
            }
        };
        if choice == UserChoice::Accept {
            let accepted = pinned(AcceptedDefinition::accept_now(&change.tool));
            self.accept_all(std::slice::from_ref(&accepted));
            self.write_trust([TrustEdit::AcceptDefinition(accepted)], cx);
        } else {
            let pin = change.tool.pin.clone();
            let declined = pinned(AcceptedDefinition {
                declined_pin: Some(pin.clone()),
                ..change.accepted.clone()
            });
            self.accept_all(std::slice::from_ref(&declined));
            self.write_trust(
                [TrustEdit::DeclineDefinition {
                    pinned: declined,
                    pin,
                }],
                cx,
            );
        }
        if choice == UserChoice::Never {
            self.store_rule(never_rule(&change), servers, cx);
        }
        PinDecision::Made { asks_next: goes_on }
    }
}

fn never_rule(change: &PinChange) -> TrustRule {
    TrustRule {
        server: change.server.clone(),
        launch: change.launch.clone(),
        decided_at: Timestamp::now(),
        scope: RuleScope::Never {
            tool: change.tool.name.clone(),
            pin: change.tool.pin.clone(),
        },
    }
}

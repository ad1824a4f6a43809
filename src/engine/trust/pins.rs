//! Pins: the accepted definitions of tools, recorded when a tool is first offered. If a server
//! changes the definition of a tool, the tool is withheld, in both tool modes, until the user has
//! seen and accepted the difference. A banner reports the change at once. The question is asked
//! with the next prompt or at the user's request, one tool at a time.

use super::TrustState;
use crate::config::{PinnedTool, TrustEdit};
use crate::domain::trust::{AcceptedDefinition, PinChange, RuleScope, TrustRule};
use crate::domain::{
    Advice, Banner, BannerCause, LaunchConfig, Notice, Server, ServerConfig, ServerId, Tool,
};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{QuestionOwner, UserAnswer, UserChoice};
use crate::questions;
use crate::text::Clean;
use jiff::Timestamp;
use std::sync::Arc;

const WITHHELD: BannerCause = BannerCause::WithheldTools;
const BANNER_TOOLS_MAX: usize = 4;

/// The result of a question about a changed tool.
pub enum PinDecision {
    Postponed,
    /// The user decided, so the trust changed. `asks_next`: ask about the next changed tool.
    Made {
        asks_next: bool,
    },
}

impl TrustState {
    /// Built-in tools are not pinned: they change only with humble itself.
    fn is_pinned(server: &Server) -> bool {
        server.launch != LaunchConfig::BuiltIn.identity()
    }

    /// Marks the withheld tools of a server.
    pub fn with_withheld_tools(&self, mut server: Server) -> Server {
        if Self::is_pinned(&server) {
            let changed = server
                .tools
                .iter()
                .filter(|tool| self.stored_trust().has_changed(&server, tool));
            server.withheld_tools = changed.map(|tool| tool.name.clone()).collect();
        }
        server
    }

    /// Pins tools that are offered for the first time.
    pub fn pin_new_tools(
        &mut self,
        servers: &[Server],
        configured: &[ServerConfig],
        cx: &mut EngineCx,
    ) {
        let mut new = Vec::new();
        for server in servers.iter().filter(|server| Self::is_pinned(server)) {
            for tool in server.available_tools() {
                let accepted =
                    self.stored_trust()
                        .accepted_definition(&server.id, &server.launch, &tool.name);
                if accepted.is_none() {
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
            self.record_pins(&new);
            let mut edits: Vec<_> = new.into_iter().map(TrustEdit::RecordFirstSeen).collect();
            edits.extend(self.evict_old_pins(servers, configured));
            self.write_trust(edits, cx);
        }
    }

    fn evict_old_pins(
        &mut self,
        servers: &[Server],
        configured: &[ServerConfig],
    ) -> Vec<TrustEdit> {
        let trust = self.stored_trust();
        let excess_of = |server: &Server| (server.id.clone(), trust.excess_pins(server));
        let mut evicted: Vec<_> = servers.iter().map(excess_of).collect();
        evicted.retain(|(_, pins)| !pins.is_empty());
        let known_ids = configured
            .iter()
            .map(|server| &server.id)
            .chain(servers.iter().map(|server| &server.id));
        evicted.extend(trust.orphaned_pins(&known_ids.collect()));
        for (server, pins) in &evicted {
            tracing::info!(%server, "old tool definitions were evicted");
            self.trust_mut().remove_pins(server, pins);
        }
        let to_edit = |(server, pins)| TrustEdit::EvictPins(server, pins);
        evicted.into_iter().map(to_edit).collect()
    }

    fn record_pins(&mut self, pinned: &[PinnedTool]) {
        let trust = self.trust_mut();
        for pin in pinned {
            let (server, launch, tool) = (&pin.server, &pin.launch, &pin.tool);
            trust.record_pin(server, launch, tool, pin.accepted.clone());
        }
    }

    /// The changes to all tools that differ from their accepted definitions.
    pub fn pin_changes(&self, servers: &[Server]) -> Vec<PinChange> {
        let changes_of = |server: &Server| -> Vec<PinChange> {
            let tools = server.tools.iter().filter(|_| Self::is_pinned(server));
            let change = |tool: &Tool| {
                let accepted = self
                    .stored_trust()
                    .accepted_definition(&server.id, &server.launch, &tool.name)
                    .filter(|accepted| accepted.pin != tool.pin)?;
                Some(PinChange {
                    server: server.id.clone(),
                    launch: server.launch.clone(),
                    tool: Arc::new(tool.clone()),
                    accepted: accepted.clone(),
                })
            };
            tools.filter_map(change).collect()
        };
        servers.iter().flat_map(changes_of).collect()
    }

    /// Shows a banner while enabled tools are withheld and the user has not decided on them.
    pub fn update_withheld_banner(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let is_enabled = |change: &PinChange| {
            let mut enabled = servers.iter().filter(|server| server.enabled);
            enabled.any(|server| {
                server.id == change.server && !server.disabled_tools.contains(&change.tool.name)
            })
        };
        let mut undecided = self.pin_changes(servers);
        undecided.retain(|change| is_enabled(change) && !change.is_declined());
        let name = |change: &PinChange| {
            let (tool, server) = (
                Clean::name(&change.tool.name),
                Clean::name(change.server.as_str()),
            );
            format!("`{tool}` of `{server}`")
        };
        let mut names: Vec<String> = undecided.iter().take(BANNER_TOOLS_MAX).map(name).collect();
        if undecided.len() > BANNER_TOOLS_MAX {
            names.push(format!("{} more", undecided.len() - BANNER_TOOLS_MAX));
        }
        let message = match undecided.len() {
            0 => return cx.clear_banner(&WITHHELD),
            1 => format!(
                "{} changed since it was first seen or accepted, and is withheld.",
                names[0]
            ),
            _ => {
                let names = names.join(", ");
                format!(
                    "Tools changed since they were first seen or accepted, and are withheld: {names}."
                )
            }
        };
        let banner = Banner::new(
            WITHHELD,
            Notice::warning(message).with_advice(Advice::ReviewTrust),
        );
        if cx.banners.get(&WITHHELD) != Some(&banner) {
            cx.set_banner(banner);
        }
    }

    /// Replaces the open question if its tool changed again, and withdraws it if the tool matches
    /// its accepted definition again.
    pub fn refresh_pin_question(&mut self, servers: &[Server], cx: &mut EngineCx) {
        let Some(ask) = self.pin_question else {
            return;
        };
        let Some(PendingQuestion::PinChanged(shown)) = cx.question(ask) else {
            return;
        };
        let shown = shown.clone();
        let changes = self.pin_changes(servers);
        let is_same = |change: &&PinChange| {
            change.server == shown.server && change.tool.name == shown.tool.name
        };
        let current = changes.iter().find(is_same).cloned();
        if current.as_ref() == Some(&*shown) {
            return;
        }
        cx.withdraw(ask);
        self.pin_question = None;
        if let Some(current) = current {
            self.ask_pin_change(current, cx);
        }
    }

    /// Asks about the next undecided tool, one at a time.
    pub fn ask_next_pin_change(&mut self, servers: &[Server], cx: &mut EngineCx) {
        // A one-shot run cannot show the difference. Its warning refers to the chat screen.
        if self.pin_question.is_some() || cx.options.is_one_shot {
            return;
        }
        let is_due = |change: &PinChange| {
            let (server, tool, pin) = (&change.server, &change.tool.name, &change.tool.pin);
            let mut postponed = self.postponed.iter();
            let is_postponed =
                postponed.any(|entry| (&entry.0, &entry.1, &entry.2) == (server, tool, pin));
            // A tool that would not be offered anyway needs no decision yet.
            let server = servers.iter().find(|candidate| candidate.id == *server);
            let is_offered = server.is_some_and(|server| {
                server
                    .available_tools()
                    .any(|offered| offered.name == *tool)
            });
            is_offered && !change.is_declined() && !is_postponed
        };
        if let Some(change) = self.pin_changes(servers).into_iter().find(is_due) {
            self.asks_next = true;
            self.ask_pin_change(change, cx);
        }
    }

    /// Asks about a changed tool at the user's request, whatever was decided before.
    pub fn review_tool(
        &mut self,
        server: &ServerId,
        tool: &str,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        let is_same = |change: &PinChange| change.server == *server && change.tool.name == tool;
        let Some(change) = self.pin_changes(servers).into_iter().find(is_same) else {
            let (tool, server) = (Clean::name(tool), Clean::name(server.as_str()));
            let message =
                format!("`{tool}` of `{server}` is unchanged since it was first seen or accepted.");
            return cx.notice(Notice::info(message));
        };
        if let Some(ask) = self.pin_question.take() {
            cx.withdraw(ask);
        }
        self.asks_next = false;
        self.ask_pin_change(change, cx);
    }

    fn ask_pin_change(&mut self, change: PinChange, cx: &mut EngineCx) {
        let question = questions::pin_changed(&change);
        let pending = PendingQuestion::PinChanged(Box::new(change));
        self.pin_question = Some(cx.ask(QuestionOwner::Program, question, pending));
    }

    pub fn handle_pin_answer(
        &mut self,
        change: PinChange,
        answer: &UserAnswer,
        servers: &[Server],
        cx: &mut EngineCx,
    ) -> PinDecision {
        self.pin_question = None;
        let asks_next = std::mem::take(&mut self.asks_next);
        let pinned_tool = |accepted| PinnedTool {
            server: change.server.clone(),
            launch: change.launch.clone(),
            tool: change.tool.name.clone(),
            accepted,
        };
        let choice = match answer {
            UserAnswer::Choice(choice) => *choice,
            UserAnswer::Calls(_) | UserAnswer::Form(_) | UserAnswer::Dismissed => {
                let (server, tool) = (change.server, change.tool.name.clone());
                let pin = change.tool.pin.clone();
                self.postponed.push((server, tool, pin));
                return PinDecision::Postponed;
            }
        };
        if choice == UserChoice::Accept {
            let accepted = pinned_tool(AcceptedDefinition::accept_now(&change.tool));
            self.record_pins(std::slice::from_ref(&accepted));
            self.write_trust([TrustEdit::AcceptDefinition(accepted)], cx);
        } else {
            let pin = change.tool.pin.clone();
            let declined = pinned_tool(AcceptedDefinition {
                declined_pin: Some(pin.clone()),
                ..change.accepted.clone()
            });
            self.record_pins(std::slice::from_ref(&declined));
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
        PinDecision::Made { asks_next }
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

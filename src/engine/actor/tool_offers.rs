//! Connects the offer of tools to the running turn, the settings and the server list.

use super::Actor;
use crate::domain::{ModelConfig, ToolOutcome, Toolset};
use crate::engine::approval::ApprovedCall;
use crate::engine::result_images::ResultImages;
use crate::engine::tool_offer::{OfferRequest, ToolKey};
use crate::engine::turn::TurnInput;
use crate::engine::turn_driver::FinishedCall;
use crate::protocol::Event;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

impl Actor {
    /// The tools that a new turn can call, and those that its requests offer.
    pub(super) fn tools_for_turn(
        &mut self,
        prompt: &str,
        model: &ModelConfig,
    ) -> (Arc<Toolset>, Arc<Toolset>) {
        let toolset = self.current_toolset();
        let servers = self.settings.servers().iter();
        let always_offered: BTreeSet<ToolKey> = servers
            .flat_map(|server| {
                let tools = server.always_offered.iter();
                tools.map(|tool| (server.id.clone(), tool.clone()))
            })
            .collect();
        let context = self.models.context.tokens_max(model);
        let request = OfferRequest {
            prompt,
            tokens_max: self.cx.settings.tool_diet.tokens_max(context),
            always_offered: &always_offered,
        };
        let offered = self.tool_offer.for_turn(&toolset, request);
        self.list_held_back_tools();
        (self.tool_offer.callable(&toolset), offered)
    }

    /// Answers a call of `find_tools` from our own list of tools. Returns false for any other call.
    pub(super) fn answer_tool_search(&mut self, call: &ApprovedCall) -> bool {
        if !self.tool_offer.is_search(call.server(), call.tool()) {
            return false;
        }
        let toolset = self.turn_toolset();
        let (text, offered) = self.tool_offer.find_tools(&toolset, call.arguments());
        self.offer_to_turn(offered);
        let Some(turn) = &mut self.turn else {
            return true;
        };
        let id = call.id();
        turn.driver.run(id, |_| async move {
            FinishedCall {
                call: id,
                outcome: ToolOutcome::Succeeded {
                    text,
                    elapsed: Duration::ZERO,
                },
                images: ResultImages::default(),
            }
        });
        true
    }

    /// A held-back tool that is called is offered from now on.
    pub(super) fn record_tool_use(&mut self, call: &ApprovedCall) {
        let toolset = self.turn_toolset();
        let (server, tool) = (call.server(), call.tool());
        if let Some(offered) = self.tool_offer.record_use(&toolset, server, tool) {
            self.offer_to_turn(offered);
        }
    }

    fn offer_to_turn(&mut self, offered: Arc<Toolset>) {
        self.feed(TurnInput::ToolsOffered(offered));
        self.list_held_back_tools();
    }

    pub(super) fn list_held_back_tools(&mut self) {
        if self.tool_offer.take_diet_change() {
            let servers = self.current_servers();
            self.cx.outbox.push(Event::ServersListed(servers));
        }
    }
}

//! Lets a turn wait for servers that are starting, so that its first request offers their tools.

use super::Actor;
use crate::domain::starting_servers::missing_tools_notice;
use crate::domain::{Prompt, Server, ToolCall};
use crate::engine::active_turn::AwaitedServers;
use crate::engine::turn::{ReadyServers, TurnInput};
use std::time::Duration;
use tokio::time::Instant;

/// A turn waits this long for servers. Then it runs with the tools there are.
const WAIT_TIME_MAX: Duration = Duration::from_secs(10);

impl Actor {
    /// `None` if the turn of `prompt` need not wait. `humble ask` has waited before it sent the prompt,
    /// and a turn that resumes calls has its tools already.
    pub(super) fn awaited_servers(
        &self,
        prompt: &Prompt,
        resumed_calls: &[ToolCall],
    ) -> Option<AwaitedServers> {
        let waits = !self.cx.options.is_one_shot
            && resumed_calls.is_empty()
            && self.hub.servers().iter().any(Server::is_first_starting);
        waits.then(|| AwaitedServers {
            prompt: prompt.clone(),
            deadline: Instant::now() + WAIT_TIME_MAX,
        })
    }

    /// Lets the waiting turn go on once no server is starting for the first time. A server that fails is
    /// not started again unless the user asks for it.
    pub(super) fn check_awaited_servers(&mut self, servers: &[Server]) {
        if !servers.iter().any(Server::is_first_starting) {
            self.stop_awaiting_servers();
        }
    }

    /// Lets the waiting turn go on with the tools there are, if a turn is waiting.
    pub(super) fn stop_awaiting_servers(&mut self) {
        let awaited = self
            .turn
            .as_mut()
            .and_then(|turn| Some((turn.awaited_servers.take()?, turn.model.clone())));
        let Some((AwaitedServers { prompt, .. }, Some(model))) = awaited else {
            return;
        };
        let preparation = self.offer_to_agents(&prompt, Some(&model));
        let is_offered_to_agent = preparation.is_some();
        let agent = preparation.map(|preparation| self.acting_agent(preparation));
        let (toolset, offered) = self.tools_for_turn(&prompt.text, &model);
        let missing = missing_tools_notice(&self.hub.servers());
        if let Some(turn) = &mut self.turn {
            turn.agent = agent.unwrap_or_default();
        }
        self.feed(TurnInput::ServersReady(ReadyServers {
            toolset,
            offered,
            is_offered_to_agent,
            missing,
        }));
    }
}

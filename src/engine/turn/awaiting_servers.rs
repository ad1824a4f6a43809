//! A turn that waits for servers before it does anything else, so that the model sees their tools.

use super::{
    ReadyServers, Turn, TurnEffect, TurnEvent, TurnIdGenerators, TurnSetup, TurnState, WaitReason,
};

impl Turn {
    /// Starts a turn that sends nothing before [`super::TurnInput::ServersReady`].
    pub fn begin_awaiting_servers(
        setup: TurnSetup,
        ids: TurnIdGenerators,
    ) -> (Self, Vec<TurnEffect>) {
        let mut turn = Self::new(setup, ids);
        turn.state = TurnState::AwaitingServers;
        turn.emit(TurnEvent::Waiting {
            wait: WaitReason::StartingServers,
        });
        let effects = std::mem::take(&mut turn.effects);
        (turn, effects)
    }

    pub(super) fn handle_servers_ready(&mut self, ready: ReadyServers) {
        if self.state != TurnState::AwaitingServers {
            return;
        }
        self.setup.toolset = ready.toolset;
        self.setup.offered = ready.offered;
        if let Some(notice) = ready.missing {
            self.note(notice);
        }
        if !ready.is_offered_to_agent {
            return self.start_round();
        }
        self.state = TurnState::AgentPreparing;
        self.emit(TurnEvent::Waiting {
            wait: WaitReason::Response,
        });
    }
}

//! Asks the user which server a call means if several of the user's servers have a tool of its name
//! and the call names none of them. The answer holds for the rest of the turn. It only completes the
//! call, which then needs approval like any other.

use super::round::RequestedCall;
use super::{ProposedCall, Turn, TurnEnd, TurnState, UserAnswer};
use crate::domain::{ServerId, ToolLookup};
use crate::protocol::UserChoice;
use crate::questions::{self, SERVER_CHOICES_MAX};

impl Turn {
    /// The server that a call names, or the user chose for it.
    pub(super) fn server_of<'a>(&'a self, call: &'a ProposedCall) -> Option<&'a str> {
        let chosen = self.server_choice.chosen.get(&call.name);
        let chosen = chosen.and_then(Option::as_ref).map(ServerId::as_str);
        let named = call.server.as_deref().filter(|server| !server.is_empty());
        named.or(chosen)
    }

    /// Asks about the first requested call of which it is not known which server it means. Returns
    /// false if there is none.
    pub(super) fn ask_for_server(&mut self) -> bool {
        let is_unclear = |call: &&ProposedCall| {
            let lookup = self.setup.toolset.resolve(self.server_of(call), &call.name);
            let is_ambiguous = matches!(lookup, ToolLookup::Ambiguous(_));
            is_ambiguous
                && !call.is_truncated
                && !self.server_choice.chosen.contains_key(&call.name)
        };
        let mut calls = self
            .round
            .requested_calls
            .iter()
            .filter_map(|requested| match requested {
                RequestedCall::Call { call, .. } => Some(call),
                RequestedCall::Unusable { .. } => None,
            });
        let Some((name, raw)) = calls
            .find(is_unclear)
            .map(|call| (call.name.clone(), call.raw.clone()))
        else {
            return false;
        };
        let servers = self.setup.toolset.servers_of(&name);
        if !(2..=SERVER_CHOICES_MAX).contains(&servers.len()) {
            self.server_choice.chosen.insert(name, None);
            return self.ask_for_server();
        }
        self.server_choice.asked = Some((name.clone(), servers.clone()));
        let question = questions::choose_server(&name, &servers, &raw);
        self.open_ask(TurnState::ChoosingServer, question);
        true
    }

    pub(super) fn handle_server_choice(&mut self, answer: &UserAnswer) {
        self.close_ask();
        let Some((name, servers)) = self.server_choice.asked.take() else {
            return;
        };
        let index = match answer {
            UserAnswer::Choice(UserChoice::FirstServer) => 0,
            UserAnswer::Choice(UserChoice::SecondServer) => 1,
            UserAnswer::Choice(UserChoice::ThirdServer) => 2,
            UserAnswer::Choice(UserChoice::FourthServer) => 3,
            UserAnswer::Choice(UserChoice::TellModel) => servers.len(),
            _ => return self.end(TurnEnd::Stopped),
        };
        let chosen = servers.into_iter().nth(index);
        self.server_choice.chosen.insert(name, chosen);
        self.propose_calls();
    }
}

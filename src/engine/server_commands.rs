//! The tool mode, and which servers and tools are switched on.

use super::actor::Actor;
use super::turn::Input;
use crate::config;
use crate::domain::{ServerId, ToolMode};
use crate::protocol::Event;

impl Actor {
    pub(super) fn set_tool_mode(&mut self, mode: ToolMode) {
        self.approval.mode = mode;
        self.settings.tool_mode = mode;
        self.feed(Input::ModeChanged(mode));
        self.cx.outbox.push(Event::ToolModeChanged(mode));
        let home = self.cx.home.clone();
        self.cx
            .save_config(move || config::set_tool_mode(&home, mode));
    }

    pub(super) fn toggle_server(&mut self, id: &ServerId) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        server.enabled = !server.enabled;
        let (home, id, enabled) = (self.cx.home.clone(), id.clone(), server.enabled);
        self.cx
            .save_config(move || config::set_server_enabled(&home, &id, enabled));
        self.configure_servers();
    }

    pub(super) fn toggle_tool(&mut self, id: &ServerId, tool: String) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        let on = server.tools_off.remove(&tool);
        if !on {
            server.tools_off.insert(tool.clone());
        }
        let (home, id) = (self.cx.home.clone(), id.clone());
        self.cx
            .save_config(move || config::set_tool_enabled(&home, &id, &tool, on));
        self.configure_servers();
    }

    pub(super) fn configure_servers(&mut self) {
        if self.cx.options.no_tools {
            return;
        }
        self.hub.configure(self.servers.clone());
        self.servers_changed();
        self.cx
            .outbox
            .push(Event::ServersListed(self.servers_now()));
    }
}

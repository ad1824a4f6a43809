//! A server that was added in the chat, and a server that got values of its variables.

use super::Actor;
use crate::domain::{Notice, ServerConfig};
use crate::engine::imports;
use crate::engine::new_servers::{self, NewServerResult};
use crate::protocol::NewServerCommand;
use crate::text::Clean;

impl Actor {
    pub(super) fn route_new_server_command(&mut self, command: NewServerCommand) {
        let cx = &mut self.cx;
        match command {
            NewServerCommand::Import(servers) => imports::add(servers, cx),
            NewServerCommand::Add(server) => new_servers::add(*server, cx),
            NewServerCommand::SetVariables(server, values) => {
                new_servers::set_variables(server, values, cx);
            }
        }
    }

    pub(super) fn handle_new_server(&mut self, result: NewServerResult) {
        match result {
            NewServerResult::Added(Ok(server)) => self.handle_server_added(*server),
            NewServerResult::Added(Err(notice)) => self.cx.notice(notice),
            NewServerResult::VariablesSet(Ok(server)) => self.handle_variables_set(server),
            NewServerResult::VariablesSet(Err(error)) => {
                self.cx.notice(error.notice_while_running());
            }
        }
    }

    /// The user has seen the launch of the new server, so it is used without another question.
    fn handle_server_added(&mut self, server: ServerConfig) {
        let id = server.id.clone();
        let name = Clean::name(id.as_str());
        let lacks_variables = !server.missing_variables.is_empty();
        self.redact_server_secrets(&server);
        self.settings.add_server(server);
        if lacks_variables {
            self.cx.notice(Notice::info(format!(
                "Added server `{name}`, switched off: it asks for its variables when you switch it on."
            )));
            return self.configure_servers();
        }
        self.cx.notice(
            Notice::info(format!("Added server `{name}`."))
                .with_reason("Saved to mcp-servers.json."),
        );
        self.toggle_server(&id);
    }

    /// Switches the server on. If it is on already, its launch has never been shown, so that the
    /// reload asks before it is used.
    fn handle_variables_set(&mut self, stored: Option<Box<ServerConfig>>) {
        let Some(stored) = stored else {
            return self.settings.read_files(false, &mut self.cx);
        };
        self.redact_server_secrets(&stored);
        let Some(server) = self.settings.server_mut(&stored.id) else {
            return;
        };
        if server.enabled {
            return self.settings.read_files(false, &mut self.cx);
        }
        let id = stored.id.clone();
        server.launch = stored.launch;
        server.oauth = stored.oauth;
        server.secrets = stored.secrets;
        server.missing_variables = stored.missing_variables;
        let notice = Notice::info(format!("Starting server `{}`.", Clean::name(id.as_str())));
        self.cx
            .notice(notice.with_reason("What you entered is stored in mcp-servers.json."));
        self.toggle_server(&id);
    }

    fn redact_server_secrets(&self, server: &ServerConfig) {
        self.cx.secrets.add(server.config_secrets());
    }
}

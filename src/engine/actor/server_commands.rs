//! Commands about the tool mode, the theme, servers and tools, and the updates that follow when servers
//! or trust change.

use super::Actor;
use crate::config::{self, ConfigError};
use crate::domain::theme::ThemeChoice;
use crate::domain::trust::PinChange;
use crate::domain::{Advice, Notice, Server, ServerId, ToolMode, Toolset};
use crate::engine::imports;
use crate::engine::jobs::JobResult;
use crate::engine::trust::PinDecision;
use crate::engine::turn::TurnInput;
use crate::protocol::{Command, Event, SignInCommand, UserAnswer};
use std::sync::Arc;

impl Actor {
    pub(super) fn route_server_command(&mut self, command: Command) {
        match command {
            Command::ToggleServer(id) => self.toggle_server(&id),
            Command::FindImportSources(query) => imports::find(query, &mut self.cx),
            Command::NewServer(command) => self.route_new_server_command(command),
            Command::ReconnectServer(id) => self.hub.reconnect(&id),
            Command::SignIn(command) => self.route_sign_in_command(command),
            Command::ReadServerLog { server, lines_seen } => {
                if let Some(log) = self.hub.log(&server, lines_seen) {
                    self.cx.outbox.push(Event::ServerLogRead(Arc::new(log)));
                }
            }
            Command::ToggleAlwaysOffered { server, tool } => {
                self.toggle_always_offered(&server, tool)
            }
            Command::ToggleTool { server, tool } => self.toggle_tool(&server, tool),
            Command::ReviewInstructions(server) => {
                let servers = self.hub.servers();
                self.trust.ask_instructions(&server, &servers, &mut self.cx);
            }
            Command::ReviewTool { server, tool } => {
                let servers = self.hub.servers();
                self.trust
                    .review_tool(&server, &tool, &servers, &mut self.cx);
            }
            Command::Revoke(entry) => {
                let was_revoked = self.trust.revoke(*entry, &mut self.cx);
                if was_revoked {
                    self.handle_trust_changed();
                }
            }
            _ => {}
        }
    }

    fn route_sign_in_command(&mut self, command: SignInCommand) {
        match command {
            SignInCommand::Start(server) => self.sign_in.start(server, &self.hub),
            SignInCommand::UseAddress(address) => self.sign_in.use_address(address),
            SignInCommand::Cancel => self.sign_in.cancel(),
            SignInCommand::SignOut(server) => self.sign_in.sign_out(server, &self.hub),
        }
    }

    pub(super) fn route_setting_command(&mut self, command: Command) {
        match command {
            Command::SetToolMode(mode) => self.set_tool_mode(mode),
            Command::SetTheme(theme) => self.set_theme(theme),
            _ => {}
        }
    }

    fn set_tool_mode(&mut self, mode: ToolMode) {
        self.trust.set_mode(mode);
        self.cx.settings.tool_mode = mode;
        self.feed(TurnInput::ModeChanged(mode));
        self.cx.outbox.push(Event::ToolModeChanged(mode));
        self.cx.notice(match mode {
            // The command line decides at the next start, as in the demo.
            ToolMode::Auto if self.cx.options.tool_mode.is_some() => {
                Notice::info("Tools now run without asking, until humble exits.")
                    .with_advice(Advice::AskBeforeCalls)
            }
            ToolMode::Auto => Notice::info("Tools now run without asking, also after a restart.")
                .with_advice(Advice::AskBeforeCalls),
            ToolMode::Manual => Notice::info("From now on, each tool call asks first.")
                .with_reason("Saved to config.json."),
        });
        let home = self.cx.home.clone();
        self.cx
            .save_config(move || config::set_tool_mode(&home, mode));
    }

    fn set_theme(&mut self, theme: ThemeChoice) {
        // Applied directly, so that the change does not count as an external edit.
        Arc::make_mut(&mut self.cx.settings.theme).choice = theme.clone();
        let themes = Arc::clone(&self.cx.settings.theme);
        self.cx.outbox.push(Event::ThemesChanged(themes));
        let home = self.cx.home.clone();
        self.cx
            .save_config(move || config::set_theme(&home, &theme));
    }

    pub(super) fn toggle_server(&mut self, id: &ServerId) {
        let Some(server) = self.settings.server_mut(id) else {
            return;
        };
        server.enabled = !server.enabled;
        let (home, id, enabled) = (self.cx.home.clone(), id.clone(), server.enabled);
        self.save_switch(format!("Server `{id}`"), enabled, move || {
            config::set_server_enabled(&home, &id, enabled)
        });
        self.configure_servers();
    }

    pub(super) fn toggle_tool(&mut self, id: &ServerId, tool: String) {
        let Some(server) = self.settings.server_mut(id) else {
            return;
        };
        let enabled = server.disabled_tools.remove(&tool);
        if !enabled {
            server.disabled_tools.insert(tool.clone());
        }
        let (home, id) = (self.cx.home.clone(), id.clone());
        self.save_switch(format!("Tool `{tool}`"), enabled, move || {
            config::set_tool_enabled(&home, &id, &tool, enabled)
        });
        self.configure_servers();
    }

    /// Saves that a server or a tool, such as "Server `x`", is on or off. It is already.
    fn save_switch(
        &mut self,
        name: String,
        is_on: bool,
        write: impl FnOnce() -> Result<(), ConfigError> + Send + 'static,
    ) {
        let state = if is_on { "on" } else { "off" };
        self.cx.write_config(move || match write() {
            Ok(()) => JobResult::ConfigWritten(Ok(())),
            Err(error) => JobResult::SwitchNotSaved(format!("{name} is {state}"), error),
        });
    }

    /// Changes whether requests always offer the tool. The pin of its definition is unaffected.
    fn toggle_always_offered(&mut self, id: &ServerId, tool: String) {
        let Some(server) = self.settings.server_mut(id) else {
            return;
        };
        let is_always_offered = !server.always_offered.remove(&tool);
        if is_always_offered {
            server.always_offered.insert(tool.clone());
        }
        let (home, id) = (self.cx.home.clone(), id.clone());
        self.cx
            .save_config(move || config::set_always_offered(&home, &id, &tool, is_always_offered));
        self.configure_servers();
    }

    pub(super) fn configure_servers(&mut self) {
        if self.cx.options.no_tools {
            return;
        }
        self.hub.configure(self.settings.servers().to_vec());
        self.handle_servers_changed();
        self.cx
            .outbox
            .push(Event::ServersListed(self.current_servers()));
    }

    pub(super) fn current_servers(&self) -> Vec<Server> {
        let servers = self.hub.servers().into_iter();
        servers
            .map(|server| self.with_marked_tools(server))
            .collect()
    }

    /// Marks the withheld and the held-back tools of a server.
    pub(super) fn with_marked_tools(&self, server: Server) -> Server {
        let mut server = self.trust.with_withheld_tools(server);
        let held_back = server
            .available_tools()
            .filter(|tool| self.tool_offer.holds_back(&server.id, &tool.name));
        server.held_back_tools = held_back.map(|tool| tool.name.clone()).collect();
        server
    }

    /// Recomputes everything derived from the servers: the offered tools, banners and the
    /// trust list.
    pub(super) fn handle_servers_changed(&mut self) {
        let servers = self.hub.servers();
        self.trust
            .pin_new_tools(&servers, self.settings.servers(), &mut self.cx);
        let offered = Toolset::from_servers(&self.current_servers());
        if offered != *self.toolset {
            self.toolset = Arc::new(offered);
            self.feed_toolset();
        }
        self.check_persona_tools();
        let (trust, cx) = (&mut self.trust, &mut self.cx);
        trust.update_withheld_banner(&servers, cx);
        trust.report_changed_instructions(&servers, cx);
        trust.refresh_pin_question(&servers, cx);
        trust.publish_trust(&servers, cx);
        self.check_awaited_servers(&servers);
    }

    pub(super) fn check_persona_tools(&mut self) {
        let servers = self.hub.servers();
        let (personas, cx) = (self.settings.personas_mut(), &mut self.cx);
        personas.check_tools_once_connected(&servers, &self.toolset, cx);
    }

    pub(super) fn handle_trust_changed(&mut self) {
        self.feed_approval();
        self.handle_servers_changed();
        let servers = self.current_servers();
        self.cx.outbox.push(Event::ServersListed(servers));
    }

    pub(super) fn feed_approval(&mut self) {
        let approval = Box::new(self.trust.approval().clone());
        self.feed(TurnInput::TrustChanged(approval));
    }

    pub(super) fn handle_pin_answer(&mut self, change: PinChange, answer: &UserAnswer) {
        let servers = self.hub.servers();
        let decision = self
            .trust
            .handle_pin_answer(change, answer, &servers, &mut self.cx);
        if let PinDecision::Made { asks_next } = decision {
            self.handle_trust_changed();
            if asks_next {
                self.trust.ask_next_pin_change(&servers, &mut self.cx);
            }
        }
    }
}

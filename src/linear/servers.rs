//! `/mcp`, `/toggle-mcp` and `/tools`, and signing in.

use super::choice::numbered;
use super::pending::PendingReply;
use super::state::Linear;
use crate::commands::servers::ADD_SERVER;
use crate::domain::{Server, ServerId, ServerStatus, SignInRequest, Tool};
use crate::front_end::server_text::{failure_headline, status_label};
use crate::protocol::{Command, SignInCommand};
use crate::text::Clean;

const MCP_USAGE: &str = "/mcp NAME shows one server; /mcp NAME on, off, retry, log, login, logout or instructions acts on it.";

impl Linear {
    fn server(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    fn server_row(server: &Server) -> (String, String) {
        let count = server.available_tools().count();
        let mut note = status_label(server).to_owned();
        if server.status == ServerStatus::Connected && server.enabled {
            note += &format!(", {count} tool{}", if count == 1 { "" } else { "s" });
        }
        if let Some(reason) = failure_headline(server) {
            note += &format!(": {reason}");
        }
        (Clean::name(server.id.as_str()).as_str().to_owned(), note)
    }

    pub fn list_servers(&mut self) {
        if self.servers.is_empty() {
            return self.say(&format!("No server is configured. {ADD_SERVER}"));
        }
        self.say("Servers:");
        for (index, server) in self.servers.clone().iter().enumerate() {
            let (name, status) = Self::server_row(server);
            let row = Clean::single_line(&numbered(index + 1, &name, &status));
            self.output.clean_line(&row);
            self.list_tools(server);
        }
        self.say(MCP_USAGE);
    }

    fn list_tools(&mut self, server: &Server) {
        for tool in server.tools.iter() {
            self.say(&format!("  {}", tool_line(server, tool)));
        }
        let omissions = server.omissions.iter();
        omissions.for_each(|omission| self.say(&format!("  {omission}")));
    }

    pub fn show_server(&mut self, id: &ServerId) {
        let Some(server) = self.server(id).cloned() else {
            return;
        };
        let (name, status) = Self::server_row(&server);
        self.say(&format!("Server {name}: {status}"));
        if let Some(description) = &server.description {
            self.say(&format!("  {}", Clean::single_line(description)));
        }
        self.list_tools(&server);
        self.say(MCP_USAGE);
    }

    /// Asks for the values that a server lacks.
    pub fn ask_for_missing_variables(&mut self, id: ServerId) {
        let Some(server) = self.server(&id) else {
            return;
        };
        let names = server.missing_variables.clone();
        let name = Clean::name(id.as_str());
        self.say(&format!(
            "Server `{name}` needs values that are not set. They are stored in mcp-servers.json, \
             which only you can read."
        ));
        self.ask_for_variables(id, names, Vec::new());
    }

    pub fn print_log_of(&mut self, server: ServerId) {
        self.pending = PendingReply::ServerLog;
        self.send(Command::ReadServerLog {
            server,
            lines_seen: None,
        });
    }

    /// `/tools [WORDS]`: lists tools, and switches the chosen one on or off.
    pub fn tools(&mut self, words: &str) {
        let words = words.to_lowercase();
        let mut rows = Vec::new();
        let mut tools: Vec<(ServerId, String)> = Vec::new();
        for server in self.servers.iter().filter(|server| server.enabled) {
            for tool in server.tools.iter() {
                let line = format!("{} on {}", tool_line(server, tool), server.id);
                if words
                    .split_whitespace()
                    .all(|word| line.to_lowercase().contains(word))
                {
                    rows.push((line, String::new()));
                    tools.push((server.id.clone(), tool.name.clone()));
                }
            }
        }
        if tools.is_empty() {
            return self.say("No tool was found.");
        }
        self.pick(
            "Tools; a number switches one on or off",
            "Change nothing",
            &rows,
            move |linear, index| {
                let (server, tool) = tools[index].clone();
                let was_off = linear
                    .server(&server)
                    .is_some_and(|server| server.disabled_tools.contains(&tool));
                let state = if was_off {
                    "on"
                } else {
                    "off. The model no longer sees it"
                };
                linear.say(&format!("Tool `{}` is {state}.", Clean::name(&tool)));
                linear.send(Command::ToggleTool { server, tool });
            },
        );
    }

    /// Shows where to sign in, and asks for the address to which the browser returned. The browser is
    /// not opened unasked.
    pub fn ask_for_sign_in(&mut self, request: &SignInRequest) {
        let server = Clean::name(request.server.as_str());
        let host = Clean::unambiguous_line(&request.host);
        self.say(&format!(
            "Sign in to {server} at {host}. Open this address in a browser:"
        ));
        self.output
            .clean_line(&Clean::unambiguous_line(&request.url));
        if request.is_listening {
            self.say("The sign-in ends by itself if that browser runs on this machine.");
        }
        self.ask_text(
            "Address that the browser ended at, if it shows an error (empty: cancel): ",
            |linear, address| match address.trim() {
                "" => linear.send(Command::SignIn(SignInCommand::Cancel)),
                address => {
                    linear.send(Command::SignIn(SignInCommand::UseAddress(
                        address.to_owned(),
                    )));
                }
            },
        );
    }
}

/// The name of a tool, its state and its description in one line.
fn tool_line(server: &Server, tool: &Tool) -> String {
    let name = Clean::quoted_if_needed(&tool.name);
    let state = match () {
        () if server.withheld_tools.contains(&tool.name) => " (withheld, it changed: see /trust)",
        () if server.disabled_tools.contains(&tool.name) => " (off)",
        () => "",
    };
    let description = tool.description.as_deref().unwrap_or_default();
    let first_line = description.lines().find(|line| !line.trim().is_empty());
    let gap = if first_line.is_some() { ": " } else { "" };
    let first_line = Clean::single_line(first_line.unwrap_or_default().trim());
    format!("{name}{state}{gap}{first_line}")
}

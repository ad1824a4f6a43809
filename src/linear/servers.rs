//! `/mcp`, `/toggle-mcp` and `/tools`, and signing in.

use super::choice::numbered;
use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::{Notice, Server, ServerId, ServerStatus, SignInRequest, Tool};
use crate::front_end::server_text::{failure_headline, status_label};
use crate::protocol::{Command, SignInCommand};
use crate::text::Clean;
use crate::text::suggest::nearest;

const MCP_USAGE: &str = "/mcp NAME shows one server; /mcp NAME on, off, retry, log, login, logout or instructions acts on it.";

impl Linear {
    /// `/mcp [NAME [ACTION]]`. Without a name, lists all servers.
    pub fn mcp(&mut self, argument: &str) {
        if argument.is_empty() {
            return self.list_servers();
        }
        if let Ok(id) = self.find_server(argument) {
            return self.show_server(&id);
        }
        if argument.split_whitespace().next() == Some("add") {
            return self.add_server(argument["add".len()..].trim());
        }
        let (name, verb) = argument
            .rsplit_once(char::is_whitespace)
            .unwrap_or((argument, ""));
        let id = match self.find_server(name.trim()) {
            Ok(id) => id,
            Err(notice) => return self.notify(notice),
        };
        let is_on = self.server(&id).is_some_and(|server| server.enabled);
        match verb {
            "tools" => self.show_server(&id),
            "on" | "off" if is_on == (verb == "on") => {
                self.say(&format!(
                    "Server `{}` is already {verb}.",
                    Clean::name(name)
                ));
            }
            "on" | "off" => self.toggle(&id),
            "retry" => {
                self.awaited_servers.insert(id.clone());
                self.say(&format!(
                    "Reconnecting to server `{}`.",
                    Clean::name(id.as_str())
                ));
                self.send(Command::ReconnectServer(id));
            }
            "log" => {
                self.pending = PendingReply::ServerLog;
                self.send(Command::ReadServerLog {
                    server: id,
                    lines_seen: None,
                });
            }
            "login" => self.send(Command::SignIn(SignInCommand::Start(id))),
            "logout" => self.send(Command::SignIn(SignInCommand::SignOut(id))),
            "instructions" => self.send(Command::ReviewInstructions(id)),
            _ => self.say(&format!(
                "`{}` is not an action for a server. {MCP_USAGE}",
                Clean::name(verb)
            )),
        }
    }

    fn server(&self, id: &ServerId) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == *id)
    }

    /// Finds a server by name, or else by its number.
    fn find_server(&self, name: &str) -> Result<ServerId, Notice> {
        let lowercase = name.to_lowercase();
        let servers = self.servers.iter();
        let exact = servers.clone().find(|server| server.id.as_str() == name);
        let other_case = || {
            servers
                .clone()
                .find(|server| server.id.as_str().to_lowercase() == lowercase)
        };
        let by_number = || super::lists::picked(&self.servers, name);
        if let Some(server) = exact.or_else(other_case).or_else(by_number) {
            return Ok(server.id.clone());
        }
        let notice = Notice::warning(format!("There is no server `{}`.", Clean::name(name)));
        let names = servers.map(|server| server.id.as_str());
        Err(match nearest(name, names) {
            Some(similar) => {
                notice.with_advice(format!("Did you mean `{}`?", Clean::name(similar)))
            }
            None => notice.with_advice("/mcp lists all servers with their numbers."),
        })
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

    fn list_servers(&mut self) {
        if self.servers.is_empty() {
            return self.say("No server is configured. /mcp add NAME COMMAND adds one.");
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

    fn show_server(&mut self, id: &ServerId) {
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

    /// `/toggle-mcp [NUMBER|NAME]`.
    pub fn toggle_server(&mut self, argument: &str) {
        if argument == "0" {
            return self.say("Nothing was changed.");
        }
        if !argument.is_empty() {
            return match self.find_server(argument) {
                Ok(id) => self.toggle(&id),
                Err(notice) => self.notify(notice),
            };
        }
        let rows: Vec<(String, String)> = self.servers.iter().map(Self::server_row).collect();
        let servers = self.servers.iter();
        let ids: Vec<ServerId> = servers.map(|server| server.id.clone()).collect();
        self.pick("Servers", "Change nothing", &rows, move |linear, index| {
            linear.toggle(&ids[index]);
        });
    }

    fn toggle(&mut self, id: &ServerId) {
        let Some(server) = self.server(id) else {
            return;
        };
        let name = Clean::name(id.as_str());
        if server.enabled {
            self.say(&format!(
                "Server `{name}` is off. The model no longer sees its tools."
            ));
        } else if !server.missing_variables.is_empty() {
            let names = server.missing_variables.clone();
            self.say(&format!(
                "Server `{name}` needs values that are not set. They are stored in mcp-servers.json, \
                 which only you can read."
            ));
            return self.ask_for_variables(id.clone(), names, Vec::new());
        } else {
            self.awaited_servers.insert(id.clone());
            self.say(&format!("Starting server `{name}`."));
        }
        self.send(Command::ToggleServer(id.clone()));
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

//! `/mcp add`, and the values of variables that a server lacks.

use super::state::Linear;
use crate::domain::model::Secret;
use crate::domain::{Notice, ServerId, parse_add_command};
use crate::headless::mcp::candidates::render_candidate;
use crate::protocol::{Command, NewServerCommand};
use crate::text::Clean;

const ADD_USAGE: &str = "/mcp add NAME COMMAND or /mcp add NAME ADDRESS adds a server. --env NAME and \
                         --header NAME ask for a value; NAME=VALUE gives it.";

impl Linear {
    /// Shows the server, and adds it after a question.
    pub fn add_server(&mut self, argument: &str) {
        if argument.split_whitespace().nth(1).is_none() {
            return self.say(ADD_USAGE);
        }
        let candidate = match parse_add_command(argument) {
            Ok(candidate) => candidate,
            Err(why) => {
                let notice = Notice::warning(Clean::single_line(&why).as_str());
                return self.notify(notice.with_advice("/mcp add shows how."));
            }
        };
        let server = candidate.server.clone();
        if self
            .servers
            .iter()
            .any(|known| known.id.as_str() == server.name)
        {
            let name = Clean::name(&server.name);
            return self.say(&format!("There is a server `{name}` already."));
        }
        for line in render_candidate(&candidate, Some(self.tty.columns())).lines() {
            self.say(line);
        }
        let question = match server.needed_variables().is_empty() {
            true => "Add this server and start it?",
            false => "Add this server, switched off until its variables have values?",
        };
        self.confirm(question, move |linear| {
            linear.awaited_servers.insert(ServerId::new(&server.name));
            let command = NewServerCommand::Add(Box::new(server));
            linear.send(Command::NewServer(command));
        });
    }

    /// Asks for one value after the other, without showing them, and then switches the server on.
    pub fn ask_for_variables(
        &mut self,
        server: ServerId,
        names: Vec<String>,
        mut values: Vec<(String, Secret)>,
    ) {
        let Some(name) = names.get(values.len()).cloned() else {
            self.awaited_servers.insert(server.clone());
            let command = NewServerCommand::SetVariables(server, values);
            return self.send(Command::NewServer(command));
        };
        let question = format!("{} (hidden; empty: cancel): ", Clean::name(&name));
        self.ask_hidden(&question, move |linear, value| match value.trim() {
            "" => linear.say("Nothing was changed."),
            value => {
                values.push((name, Secret::new(value)));
                linear.ask_for_variables(server, names, values);
            }
        });
    }
}

//! The fields of a server that another client or a registry offers, for the user to read.

use super::{NewServerLaunch, ServerCandidate};
use crate::domain::server::RemoteTransport;
use crate::text::Clean;

impl ServerCandidate {
    /// Everything that decides what runs or where data goes, as labels and values. Each value is
    /// on one line, in quotes if it would be ambiguous without them.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let server = &self.server;
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        if let Some(description) = &server.description {
            fields.push(("about", Clean::unambiguous_line(description).into()));
        }
        match &server.launch {
            NewServerLaunch::Command {
                command,
                args,
                env,
                cwd,
            } => {
                let words = std::iter::once(command).chain(args);
                let words: Vec<String> = words.map(|word| quoted(word)).collect();
                fields.push(("command", words.join(" ")));
                for (name, value) in env {
                    fields.push(("env", format!("{}={}", quoted(name), quoted(value))));
                }
                if let Some(cwd) = cwd {
                    fields.push(("folder", quoted(&cwd.to_string_lossy())));
                }
            }
            NewServerLaunch::Url {
                url,
                transport,
                headers,
            } => {
                let transport = match transport_name(*transport) {
                    Some(name) => format!(" ({name})"),
                    None => String::new(),
                };
                fields.push(("url", format!("{}{transport}", quoted(url))));
                for (name, value) in headers {
                    fields.push(("header", format!("{}: {}", quoted(name), quoted(value))));
                }
            }
        }
        let variables = server.needed_variables();
        if !variables.is_empty() {
            fields.push(("needs", variables.join(", ")));
        }
        if !server.values.is_empty() {
            let names: Vec<&str> = server
                .values
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            fields.push(("stores", names.join(", ")));
        }
        for remark in &self.remarks {
            fields.push(("note", Clean::unambiguous_line(remark).into()));
        }
        fields
    }
}

/// The value, in quotes if it would be ambiguous without them.
fn quoted(text: &str) -> String {
    Clean::quoted_if_needed(text).into()
}

/// The name of a transport; `None` if it is detected.
pub fn transport_name(transport: RemoteTransport) -> Option<&'static str> {
    match transport {
        RemoteTransport::Auto => None,
        RemoteTransport::Sse => Some("sse"),
        RemoteTransport::Http => Some("http"),
    }
}

//! The servers that have not answered since they were started, and the words about prompts that wait
//! for them or run without their tools.

use super::server::BUILT_IN_SERVER;
use super::{Notice, Server, ServerStatus};
use crate::text::Clean;

/// The servers that are still starting and whose tools are unknown. A server that restarts keeps its
/// tools, and the built-in one is ready before anyone could read that it is starting.
pub fn starting_servers(servers: &[Server]) -> impl Iterator<Item = &Server> {
    let starting = servers.iter().filter(|server| server.is_first_starting());
    starting.filter(|server| server.id.as_str() != BUILT_IN_SERVER)
}

impl Server {
    /// Whether the server is enabled and starting, and its tools are unknown.
    pub fn is_first_starting(&self) -> bool {
        self.enabled && self.status == ServerStatus::Starting && self.tools.is_empty()
    }
}

/// `shop is starting`, or the number of servers if there are more than two. `None` if there are none.
pub fn starting_text(servers: &[Server]) -> Option<String> {
    let names: Vec<Clean> = starting_servers(servers)
        .map(|server| Clean::name(server.id.as_str()))
        .collect();
    Some(match &names[..] {
        [] => return None,
        [name] => format!("{name} is starting"),
        [first, second] => format!("{first} and {second} are starting"),
        more => format!("{} servers are starting", more.len()),
    })
}

/// Says that a prompt runs without the tools of servers that are still starting; `None` if there are
/// no such servers.
pub fn missing_tools_notice(servers: &[Server]) -> Option<Notice> {
    let mut starting = starting_servers(servers);
    let first = starting.next()?;
    let text = match starting.count() {
        0 => {
            let name = Clean::name(first.id.as_str());
            format!("Server `{name}` is still starting; this prompt runs without its tools.")
        }
        others => {
            let count = others + 1;
            format!("{count} servers are still starting; this prompt runs without their tools.")
        }
    };
    Some(Notice::info(text))
}

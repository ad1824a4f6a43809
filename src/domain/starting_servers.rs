//! The servers that have not answered since they were started, and the notice about a prompt that is
//! sent meanwhile.

use crate::domain::server::BUILT_IN_SERVER;
use crate::domain::{Notice, Server, ServerStatus};
use crate::text::Clean;

/// The servers that are still starting and whose tools are unknown. A server that restarts keeps its
/// tools, and the built-in one is ready before anyone could read that it is starting.
pub fn starting_servers(servers: &[Server]) -> impl Iterator<Item = &Server> {
    servers.iter().filter(|server| {
        let is_starting = server.enabled && server.status == ServerStatus::Starting;
        is_starting && server.tools.is_empty() && server.id.as_str() != BUILT_IN_SERVER
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

//! Logs each change of a server's state. A server that cannot be used is an error.

use crate::domain::{Server, ServerStatus};
use crate::text::Clean;

pub fn tell_log(server: &Server) {
    let id = Clean::name(server.id.as_str());
    match &server.status {
        ServerStatus::Starting => tracing::info!("MCP server `{id}` is starting"),
        ServerStatus::Connected => {
            let tools = tools_words(server.tools.len());
            tracing::info!("MCP server `{id}` is connected, with {tools}");
            for line in &server.left_out {
                tracing::warn!("MCP server `{id}`, left out: {line}");
            }
        }
        ServerStatus::NeedsSignIn(notice) => {
            tracing::error!("MCP server `{id}` needs sign-in: {}", notice.summary());
        }
        ServerStatus::Failed(notice) => {
            tracing::error!("MCP server `{id}` failed: {}", notice.summary());
        }
        ServerStatus::Misconfigured(why) if server.enabled => {
            tracing::error!("MCP server `{id}`: {why}");
        }
        ServerStatus::Misconfigured(why) => tracing::warn!("MCP server `{id}`: {why}"),
        ServerStatus::Off => {}
    }
}

fn tools_words(count: usize) -> String {
    match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(tools_words), ["0 tools", "1 tool", "2 tools"]);
    }
}

//! What the log is told of a server: each change of its state, in a line.

use crate::domain::{Server, ServerStatus};

pub fn tell_log(server: &Server) {
    let id = &server.id;
    match &server.status {
        ServerStatus::Starting => tracing::info!("MCP server `{id}` is starting"),
        ServerStatus::Connected => {
            tracing::info!(
                "MCP server `{id}` is connected, with {} tools",
                server.tools.len()
            );
            for line in &server.left_out {
                tracing::warn!("MCP server `{id}`, left out: {line}");
            }
        }
        ServerStatus::NeedsSignIn(notice) => {
            tracing::info!("MCP server `{id}` needs sign-in: {}", notice.sentence());
        }
        ServerStatus::Failed(notice) => {
            tracing::warn!("MCP server `{id}` failed: {}", notice.sentence());
        }
        ServerStatus::Misconfigured(why) => tracing::warn!("MCP server `{id}`: {why}"),
        ServerStatus::Off => {}
    }
}

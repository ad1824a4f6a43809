//! `humble mcp …`: the servers without the screen and without a model (S13.2), over
//! the connection code of the chat.

mod add;
mod call;
mod configured;
mod list;
mod output;
mod server_pool;

use crate::app::watchdog::Background;
use crate::cli::Shared;
use crate::cli::mcp::{Mcp, McpAct};
use crate::config::Home;
use crate::headless::EXIT_USAGE;
use anyhow::Result;
use output::say;

/// Does what was asked for; the result is the exit status.
///
/// # Errors
/// What keeps the result from being written.
pub async fn run(home: &Home, shared: &Shared, asked: Mcp, background: &Background) -> Result<u8> {
    if shared.no_tools {
        say("--no-tools starts no server: leave it out.");
        return Ok(EXIT_USAGE);
    }
    match asked.act {
        McpAct::List(asked) => list::list(home, asked, background).await,
        McpAct::Tools(asked) => list::tools(home, asked, background).await,
        McpAct::Call(asked) => call::run(home, asked, background).await,
        McpAct::Add(asked) => add::run(home, asked, background).await,
    }
}

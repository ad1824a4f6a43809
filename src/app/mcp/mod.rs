//! `humble mcp …`: MCP servers without the screen or a model, over the same connection
//! code as the chat.

mod add;
mod call;
mod configured;
mod list;
mod output;
mod server_pool;

use crate::app::watchdog::BackgroundRuntime;
use crate::cli::GlobalArgs;
use crate::cli::mcp::{McpArgs, McpCommand};
use crate::config::Home;
use crate::headless::EXIT_USAGE;
use anyhow::Result;
use output::print_error_line;

/// Runs the command and returns the exit status.
///
/// # Errors
/// The result could not be written.
pub async fn run(
    home: &Home,
    shared: &GlobalArgs,
    asked: McpArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    if shared.no_tools {
        print_error_line("`humble mcp` needs MCP servers: remove --no-tools.");
        return Ok(EXIT_USAGE);
    }
    match asked.act {
        McpCommand::List(asked) => list::list(home, asked, background).await,
        McpCommand::Tools(asked) => list::tools(home, asked, background).await,
        McpCommand::Call(asked) => call::run_mcp_call(home, asked, background).await,
        McpCommand::Add(asked) => add::run_add(home, asked, background).await,
    }
}

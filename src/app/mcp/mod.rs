//! `humble mcp …`: uses MCP servers without the chat screen or a model, through the same code as
//! the chat.

mod add;
mod call;
pub(super) mod configured;
mod import;
mod list;
mod login;
pub(super) mod output;
mod registry;
pub(super) mod server_pool;

use crate::app::watchdog::BackgroundRuntime;
use crate::cli::GlobalArgs;
use crate::cli::mcp::{McpArgs, McpCommand};
use crate::config::Home;
use crate::headless::EXIT_USAGE;
use anyhow::Result;
use output::print_to_stderr;

/// Runs the command and returns the exit status.
///
/// # Errors
/// The signal handlers could not be installed, the user's answer could not be read, or the result
/// could not be written.
pub async fn run(
    home: &Home,
    global: &GlobalArgs,
    args: McpArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    if global.no_tools {
        print_to_stderr("`humble mcp` needs MCP servers: remove --no-tools.");
        return Ok(EXIT_USAGE);
    }
    if let Some(flag) = global.model_flag() {
        print_to_stderr(&format!("`humble mcp` uses no model: remove {flag}."));
        return Ok(EXIT_USAGE);
    }
    match args.command {
        McpCommand::List(args) => list::list(home, args, background).await,
        McpCommand::Tools(args) => list::tools(home, args, background).await,
        McpCommand::Call(args) => call::run_mcp_call(home, args, background).await,
        McpCommand::Login(args) => login::run_login(home, args, background).await,
        McpCommand::Logout(args) => login::run_logout(home, args, background).await,
        McpCommand::Add(args) if registry::refers_to_registry(&args) => {
            registry::run_registry_add(home, args).await
        }
        McpCommand::Add(args) => add::run_add(home, args, background).await,
        McpCommand::Import(args) => import::run_import(home, args),
        McpCommand::Search(args) => registry::run_search(home, args).await,
    }
}

//! `humble mcp list` and `humble mcp tools`.

use super::configured::{configured_servers, find_server, init_log};
use super::output::{print, print_error_line, stdout_columns};
use super::server_pool::{ConnectedServers, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::mcp::{ListArgs, ToolsArgs};
use crate::cli::tool_arguments;
use crate::config::Home;
use crate::headless::mcp::{self as cli_output, ServerReport, tools::ServerTools};
use crate::headless::{EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE};
use anyhow::Result;

pub async fn list(home: &Home, asked: ListArgs, background: &BackgroundRuntime) -> Result<u8> {
    let servers = configured_servers(home);
    init_log(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.wait_until_connected().await;
    let found = pool.reports();
    let printed = print(&match asked.json {
        true => cli_output::render_json(&found),
        false => cli_output::render_table(&found, stdout_columns()),
    });
    pool.close().await;
    printed.map(|()| exit_status(stopped, &found))
}

pub async fn tools(home: &Home, asked: ToolsArgs, background: &BackgroundRuntime) -> Result<u8> {
    let mut servers = configured_servers(home);
    if let Some(name) = &asked.server {
        let mut server = match find_server(&servers, name) {
            Ok(server) => server.clone(),
            Err(why) => {
                print_error_line(&why);
                return Ok(EXIT_USAGE);
            }
        };
        // A server named explicitly is started even if it is off.
        server.enabled = true;
        servers = vec![server];
    }
    init_log(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.wait_until_connected().await;
    let found = pool.reports();
    let printed = print(&match asked.json {
        true => cli_output::tools::render_json(&found),
        false => {
            let shown: Vec<ServerTools<'_>> = found.iter().map(with_usages).collect();
            cli_output::tools::render_text(&shown, asked.schema, stdout_columns())
        }
    });
    pool.close().await;
    printed.map(|()| exit_status(stopped, &found))
}

fn with_usages(found: &ServerReport) -> ServerTools<'_> {
    ServerTools {
        found,
        usages: found
            .server
            .tools
            .iter()
            .map(tool_arguments::usage_text)
            .collect(),
    }
}

fn exit_status(stopped: Result<(), StopReason>, found: &[ServerReport]) -> u8 {
    match stopped {
        Err(StopReason::Signal(code)) => code,
        _ if found.iter().all(ServerReport::is_ok) => EXIT_ANSWERED,
        _ => EXIT_FAILED,
    }
}

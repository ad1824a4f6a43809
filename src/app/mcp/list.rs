//! `humble mcp list` and `humble mcp tools`.

use super::configured::{configured_servers, find_server, init_log};
use super::output::{print, print_to_stderr, stdout_columns};
use super::server_pool::{ServerPool, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::mcp::{ListArgs, ToolsArgs};
use crate::cli::tool_arguments;
use crate::config::Home;
use crate::headless::mcp::{self as cli_output, ServerReport, tools::ServerTools};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use anyhow::Result;

pub async fn list(home: &Home, args: ListArgs, background: &BackgroundRuntime) -> Result<u8> {
    let servers = configured_servers(home);
    init_log(home, &servers);
    let mut pool = ServerPool::open(home, servers, args.timeout.limit, background)?;
    let wait_result = pool.wait_while_starting().await;
    let reports = pool.reports();
    let print_result = match args.json {
        true => print(cli_output::render_json(&reports)),
        false => print(cli_output::render_table(&reports, stdout_columns())),
    };
    pool.close().await;
    print_result.map(|()| exit_status(wait_result, &reports))
}

pub async fn tools(home: &Home, args: ToolsArgs, background: &BackgroundRuntime) -> Result<u8> {
    let mut servers = configured_servers(home);
    if let Some(name) = &args.server {
        let mut server = match find_server(&servers, name) {
            Ok(server) => server.clone(),
            Err(why) => {
                print_to_stderr(&why);
                return Ok(EXIT_USAGE);
            }
        };
        // A server named explicitly is started even if it is off.
        server.enabled = true;
        servers = vec![server];
    }
    init_log(home, &servers);
    let mut pool = ServerPool::open(home, servers, args.timeout.limit, background)?;
    let wait_result = pool.wait_while_starting().await;
    let reports = pool.reports();
    let print_result = match args.json {
        true => print(cli_output::tools::render_json(&reports)),
        false => {
            let servers: Vec<ServerTools<'_>> = reports.iter().map(with_usages).collect();
            print(cli_output::tools::render_text(
                &servers,
                args.schema,
                stdout_columns(),
            ))
        }
    };
    pool.close().await;
    print_result.map(|()| exit_status(wait_result, &reports))
}

fn with_usages(report: &ServerReport) -> ServerTools<'_> {
    ServerTools {
        report,
        usages: report
            .server
            .tools
            .iter()
            .map(tool_arguments::usage_text)
            .collect(),
    }
}

fn exit_status(wait_result: Result<(), StopReason>, reports: &[ServerReport]) -> u8 {
    match wait_result {
        Err(StopReason::Signal(code)) => code,
        _ if reports.iter().all(ServerReport::is_ok) => EXIT_SUCCESS,
        _ => EXIT_FAILED,
    }
}

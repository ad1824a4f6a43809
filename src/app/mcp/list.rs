//! `humble mcp list` and `humble mcp tools`.

use super::configured::{configured, find, log_to};
use super::output::{columns, print, say};
use super::server_pool::{ConnectedServers, Stop};
use crate::app::watchdog::Background;
use crate::cli::mcp::{List, Tools};
use crate::cli::tool_arguments;
use crate::config::Home;
use crate::headless::mcp::{self as words, Found, tools::Shown};
use crate::headless::{EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE};
use anyhow::Result;

pub async fn list(home: &Home, asked: List, background: &Background) -> Result<u8> {
    let servers = configured(home);
    log_to(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.settle().await;
    let found = pool.found();
    let printed = print(&match asked.json {
        true => words::json(&found),
        false => words::table(&found, columns()),
    });
    pool.close().await;
    printed.map(|()| exit(stopped, &found))
}

pub async fn tools(home: &Home, asked: Tools, background: &Background) -> Result<u8> {
    let mut servers = configured(home);
    if let Some(name) = &asked.server {
        let mut server = match find(&servers, name) {
            Ok(server) => server.clone(),
            Err(why) => {
                say(&why);
                return Ok(EXIT_USAGE);
            }
        };
        // Whoever names it wants to see it.
        server.enabled = true;
        servers = vec![server];
    }
    log_to(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.settle().await;
    let found = pool.found();
    let printed = print(&match asked.json {
        true => words::tools::json(&found),
        false => {
            let shown: Vec<Shown<'_>> = found.iter().map(shown).collect();
            words::tools::text(&shown, asked.schema, columns())
        }
    });
    pool.close().await;
    printed.map(|()| exit(stopped, &found))
}

fn shown(found: &Found) -> Shown<'_> {
    Shown {
        found,
        usages: found
            .server
            .tools
            .iter()
            .map(tool_arguments::usage)
            .collect(),
    }
}

fn exit(stopped: Result<(), Stop>, found: &[Found]) -> u8 {
    match stopped {
        Err(Stop::Signal(code)) => code,
        _ if found.iter().all(Found::is_well) => EXIT_ANSWERED,
        _ => EXIT_FAILED,
    }
}

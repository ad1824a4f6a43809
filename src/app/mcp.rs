//! `humble mcp …`: the servers without the screen and without a model (S13.2), over
//! the connection code of the chat.

mod add;
mod call;
mod desk;
mod list;

use crate::app::watchdog::Background;
use crate::cli::Shared;
use crate::cli::mcp::{Mcp, McpAct};
use crate::config::{self, Home};
use crate::domain::ServerConfig;
use crate::headless::{EXIT_USAGE, mcp as words};
use crate::log;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, ErrorKind, IsTerminal, Write};

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

/// The servers that are configured; what is wrong with the file is said.
fn configured(home: &Home) -> Vec<ServerConfig> {
    let read = config::read_servers(home);
    for banner in &read.banners {
        say(&words::sentence(&banner.notice));
    }
    read.value
}

/// Writes the log of what servers are and do, where there is a home to write it in:
/// looking at what is there makes none.
fn log_to(home: &Home, servers: &[ServerConfig]) {
    if !home.root().is_dir() {
        return;
    }
    for banner in home.prepare() {
        say(&words::sentence(&banner.notice));
    }
    let settings = config::read_settings(home).value;
    let log = log::init(&home.logs(), settings.log_level, |_| {});
    let mut secrets = settings.secrets();
    secrets.extend(config::server_secrets(servers));
    log.hide(secrets);
}

/// The server that is meant, or what to say where there is none of that name.
fn find<'a>(servers: &'a [ServerConfig], name: &str) -> Result<&'a ServerConfig, String> {
    let found = servers.iter().find(|server| server.id.as_str() == name);
    found.ok_or_else(|| {
        let names = servers.iter().map(|server| server.id.as_str());
        let meant = match crate::text::suggest::nearest(name, names.clone()) {
            Some(near) => format!(" Did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = names.collect();
                format!(" There is: {}.", names.join(", "))
            }
        };
        words::line(&format!("There is no MCP server `{name}`.{meant}"))
    })
}

/// A clean line for standard error. Where nobody reads it there is nobody to tell.
fn say(line: &str) {
    let err = io::stderr();
    let columns = err.is_terminal().then(|| tcgetwinsize(&err).ok()).flatten();
    let columns = columns
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    let _ = (&err).write_all(words::folded(line, 0, columns).as_bytes());
}

/// Writes to standard output; whoever reads it may have read enough.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the result could not be written"),
    }
}

/// How wide the terminal is that standard output is, if it is one.
fn columns() -> Option<u16> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&out).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

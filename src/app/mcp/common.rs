//! What all commands of `humble mcp` use: the configured servers, the log, and output.

use crate::config::{self, Home};
use crate::domain::ServerConfig;
use crate::headless::mcp as words;
use crate::log;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// The servers that are configured; what is wrong with the file is said.
pub(super) fn configured(home: &Home) -> Vec<ServerConfig> {
    let read = config::read_servers(home);
    for banner in &read.banners {
        say(&words::sentence(&banner.notice));
    }
    read.value
}

/// Writes the log of what servers are and do, where there is a home to write it in:
/// looking at what is there makes none.
pub(super) fn log_to(home: &Home, servers: &[ServerConfig]) {
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
pub(super) fn find<'a>(
    servers: &'a [ServerConfig],
    name: &str,
) -> Result<&'a ServerConfig, String> {
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
pub(super) fn say(line: &str) {
    let err = io::stderr();
    let columns = err.is_terminal().then(|| tcgetwinsize(&err).ok()).flatten();
    let columns = columns
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    let _ = (&err).write_all(words::folded(line, 0, columns).as_bytes());
}

/// Writes to standard output; whoever reads it may have read enough.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the result could not be written"),
    }
}

/// How wide the terminal is that standard output is, if it is one.
pub(super) fn columns() -> Option<u16> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&out).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

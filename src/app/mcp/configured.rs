//! The servers of `mcp-servers.json`, and where their log goes.

use super::output::print_error_line;
use crate::config::{self, Home};
use crate::domain::ServerConfig;
use crate::headless::mcp as words;
use crate::log;

/// The servers that are configured; what is wrong with the file is said.
pub(super) fn configured_servers(home: &Home) -> Vec<ServerConfig> {
    let read = config::read_servers(home);
    for banner in &read.banners {
        print_error_line(&words::notice_line(&banner.notice));
    }
    read.value
}

/// Writes the log of what servers are and do, where there is a home to write it in:
/// looking at what is there makes none.
pub(super) fn init_log(home: &Home, servers: &[ServerConfig]) {
    if !home.root().is_dir() {
        return;
    }
    for banner in home.prepare() {
        print_error_line(&words::notice_line(&banner.notice));
    }
    let settings = config::read_settings(home).value;
    let log = log::init(&home.logs(), settings.log_level, |_| {});
    let mut secrets = settings.secrets();
    secrets.extend(config::server_secrets(servers));
    log.add_secrets(secrets);
}

/// The server that is meant, or what to say where there is none of that name.
pub(super) fn find_server<'a>(
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
        words::clean_line(&format!("There is no MCP server `{name}`.{meant}"))
    })
}

//! Loads the servers of `mcp-servers.json` and sets up logging for `humble mcp`.

use super::output::print_to_stderr;
use crate::app::process_secrets::secrets;
use crate::config::{self, Home};
use crate::domain::ServerConfig;
use crate::headless::mcp as cli_output;
use crate::log;

/// Prints any problems in the file.
pub(super) fn configured_servers(home: &Home) -> Vec<ServerConfig> {
    let loaded = config::read_servers(home);
    for banner in &loaded.banners {
        print_to_stderr(&cli_output::notice_line(&banner.notice));
    }
    loaded.value
}

/// Starts logging if the home folder exists. A command that only reads must not create it.
pub(in crate::app) fn init_log(home: &Home, servers: &[ServerConfig]) {
    if !home.root().is_dir() {
        return;
    }
    for banner in home.prepare() {
        print_to_stderr(&cli_output::notice_line(&banner.notice));
    }
    let settings = config::read_settings(home).value;
    log::init(&home.logs(), settings.log_level, secrets(), |_| {});
    secrets().add(settings.config_secrets());
    for server in servers {
        secrets().add(server.config_secrets());
    }
}

pub(super) fn find_server<'a>(
    servers: &'a [ServerConfig],
    name: &str,
) -> Result<&'a ServerConfig, String> {
    let server = servers.iter().find(|server| server.id.as_str() == name);
    server.ok_or_else(|| {
        let names = servers.iter().map(|server| server.id.as_str());
        let hint = match crate::text::suggest::nearest(name, names.clone()) {
            Some(near) => format!(" Did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = names.collect();
                format!(" Configured: {}.", names.join(", "))
            }
        };
        cli_output::clean_line(&format!("There is no MCP server `{name}`.{hint}"))
    })
}

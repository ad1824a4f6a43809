//! `humble mcp add`: writes the entry first, then checks that the server answers.

use super::configured::init_log;
use super::output::{print, print_error_line, stdout_columns};
use super::server_pool::{ConnectedServers, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::mcp::{AddArgs, TransportArg};
use crate::config::{self, Home, NewServer, NewServerLaunch};
use crate::domain::ServerConfig;
use crate::domain::server::RemoteTransport;
use crate::headless::{EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE, mcp as cli_output};
use anyhow::Result;
use serde_json::json;
use std::path::{self, Path};

pub async fn run_add(home: &Home, asked: AddArgs, background: &BackgroundRuntime) -> Result<u8> {
    let parsed = new_server(&asked).and_then(|new| {
        let server = config::preview_server(&new)?;
        Ok((new, server))
    });
    let (new, server) = match parsed {
        Ok(parsed) => parsed,
        Err(why) => {
            print_error_line(&cli_output::clean_line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    if let Err(fault) = config::add_server(home, &new) {
        print_error_line(&cli_output::notice_line(&fault.notice()));
        let is_taken = matches!(fault, config::ConfigError::DuplicateServer { .. });
        return Ok(if is_taken { EXIT_USAGE } else { EXIT_FAILED });
    }
    let file = home.servers();
    print_error_line(&cli_output::clean_line(&format!(
        "Added `{}` to {}.",
        new.name,
        file.display()
    )));
    for name in config::plaintext_secret_names(&new) {
        let variable = name.to_uppercase().replace('-', "_");
        print_error_line(&cli_output::clean_line(&format!(
            "`{name}` is in the file in plain text. To keep it out, write `${{{variable}}}`: it is \
             replaced by that variable each time the server starts."
        )));
    }
    if asked.no_check || asked.disabled {
        if asked.json {
            print(&format!("{}\n", json!({ "name": new.name, "added": true })))?;
        }
        return Ok(EXIT_ANSWERED);
    }
    check_connection(home, server, &asked, background).await
}

/// Connects once and prints the result.
async fn check_connection(
    home: &Home,
    server: ServerConfig,
    asked: &AddArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let servers = vec![server];
    init_log(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.wait_until_connected().await;
    let found = pool.reports();
    let is_well = found.iter().all(cli_output::ServerReport::is_ok);
    let printed = if asked.json {
        let mut value = found
            .first()
            .map(cli_output::ServerReport::to_json)
            .unwrap_or_default();
        value["added"] = json!(true);
        print(&format!("{value}\n"))
    } else {
        let mut text = cli_output::render_table(&found, stdout_columns());
        let names = found.iter().flat_map(|report| report.server.tools.iter());
        let names: Vec<&str> = names.map(|tool| tool.name.as_str()).collect();
        if !names.is_empty() {
            text += &cli_output::pack_names(&names, stdout_columns());
        }
        print(&text)
    };
    if !is_well {
        print_error_line("The server stays in the file. Check it again with `humble mcp list`.");
    }
    pool.close().await;
    printed.map(|()| match stopped {
        Err(StopReason::Signal(code)) => code,
        _ if is_well => EXIT_ANSWERED,
        _ => EXIT_FAILED,
    })
}

fn new_server(asked: &AddArgs) -> Result<NewServer, String> {
    let reach = match (&asked.url, asked.command.split_first()) {
        (Some(url), _) => NewServerLaunch::Url {
            url: url.clone(),
            transport: match asked.transport {
                None => RemoteTransport::Auto,
                Some(TransportArg::Sse) => RemoteTransport::Sse,
                Some(TransportArg::Http) => RemoteTransport::Http,
            },
            headers: parse_pairs(&asked.headers, "--header", &['=', ':'])?,
        },
        (None, Some(_)) if asked.transport.is_some() || !asked.headers.is_empty() => {
            return Err("--transport and --header need --url.".to_owned());
        }
        (None, Some((command, args))) => NewServerLaunch::Command {
            command: absolute_command(command),
            args: args.to_vec(),
            env: parse_pairs(&asked.env, "--env", &['='])?,
            cwd: match &asked.cwd {
                // humble may later be started from another folder.
                Some(cwd) => Some(path::absolute(cwd).map_err(|fault| format!("--cwd: {fault}."))?),
                None => None,
            },
        },
        (None, None) => return Err("Give --url, or `-- COMMAND`.".to_owned()),
    };
    Ok(NewServer {
        name: asked.name.clone(),
        description: asked.description.clone(),
        enabled: !asked.disabled,
        launch: reach,
    })
}

/// Makes a relative path to a program absolute: humble may later start in another folder.
fn absolute_command(command: &str) -> String {
    let path = Path::new(command);
    let is_local = command.contains('/') && path.is_relative() && path.exists();
    let absolute = is_local.then(|| path::absolute(path).ok()).flatten();
    absolute.map_or_else(
        || command.to_owned(),
        |absolute| absolute.to_string_lossy().into_owned(),
    )
}

fn parse_pairs(
    written: &[String],
    flag: &str,
    separators: &[char],
) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| match text.split_once(separators) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim_start().to_owned()))
        }
        // The text may hold a secret, so it is not repeated.
        _ => Err(format!("{flag} takes NAME=VALUE.")),
    };
    let pairs: Vec<(String, String)> = written.iter().map(pair).collect::<Result<_, _>>()?;
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(format!("{flag} gives `{}` twice.", twice[0])),
        None => Ok(pairs),
    }
}

//! `humble mcp add`: writes the entry first, then checks that the server answers.

use super::configured::init_log;
use super::output::{print, print_to_stderr, stdout_columns};
use super::server_pool::{ServerPool, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::mcp::{AddArgs, TransportArg};
use crate::config::{self, Home};
use crate::domain::server::RemoteTransport;
use crate::domain::{NewServer, NewServerLaunch, ServerConfig};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE, mcp as cli_output};
use crate::text::Clean;
use anyhow::Result;
use serde_json::json;
use std::path::{self, Path};

pub async fn run_add(home: &Home, args: AddArgs, background: &BackgroundRuntime) -> Result<u8> {
    let parsed = parse_new_server(&args).and_then(|new| {
        let server = config::preview_server(&new)?;
        Ok((new, server))
    });
    let (new, server) = match parsed {
        Ok(parsed) => parsed,
        Err(why) => {
            print_to_stderr(&cli_output::clean_line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    if let Err(error) = config::add_servers(home, std::slice::from_ref(&new)) {
        print_to_stderr(&cli_output::notice_line(&error.notice()));
        let is_taken = matches!(error, config::ConfigError::DuplicateServer { .. });
        return Ok(if is_taken { EXIT_USAGE } else { EXIT_FAILED });
    }
    let file = home.servers();
    print_to_stderr(&cli_output::clean_line(&format!(
        "Added `{}` to {}.",
        new.name,
        file.display()
    )));
    for name in config::plaintext_secret_names(&new) {
        let variable = name.to_uppercase().replace('-', "_");
        print_to_stderr(&cli_output::clean_line(&format!(
            "`{name}` is in the file in plain text. To keep it out, write `${{{variable}}}`: it is \
             replaced by that variable each time the file is read."
        )));
    }
    if args.no_check || args.disabled {
        if args.json {
            print(json!({ "name": new.name, "added": true }))?;
        }
        return Ok(EXIT_SUCCESS);
    }
    check_connection(home, server, &args, background).await
}

async fn check_connection(
    home: &Home,
    server: ServerConfig,
    args: &AddArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let servers = vec![server];
    init_log(home, &servers);
    let mut pool = ServerPool::open(home, servers, args.timeout.limit, background)?;
    let wait_result = pool.wait_while_starting().await;
    let reports = pool.reports();
    let is_ok = reports.iter().all(cli_output::ServerReport::is_ok);
    let print_result = if args.json {
        let mut value = reports
            .first()
            .map(cli_output::ServerReport::to_json)
            .unwrap_or_default();
        value["added"] = json!(true);
        print(value)
    } else {
        let mut text = cli_output::render_table(&reports, stdout_columns());
        let tools = reports.iter().flat_map(|report| report.server.tools.iter());
        let names: Vec<Clean> = tools.map(|tool| Clean::name(&tool.name)).collect();
        if !names.is_empty() {
            text += &cli_output::pack_names(&names, stdout_columns());
        }
        print(text)
    };
    if !is_ok {
        print_to_stderr("The server stays in the file. Check it again with `humble mcp list`.");
    }
    pool.close().await;
    print_result.map(|()| match wait_result {
        Err(StopReason::Signal(code)) => code,
        _ if is_ok => EXIT_SUCCESS,
        _ => EXIT_FAILED,
    })
}

fn parse_new_server(args: &AddArgs) -> Result<NewServer, String> {
    let launch = match (&args.url, args.command.split_first()) {
        (Some(url), _) => NewServerLaunch::Url {
            url: url.clone(),
            transport: match args.transport {
                None => RemoteTransport::Auto,
                Some(TransportArg::Sse) => RemoteTransport::Sse,
                Some(TransportArg::Http) => RemoteTransport::Http,
            },
            headers: parse_pairs(&args.headers, "--header", &['=', ':'])?,
        },
        (None, Some(_)) if args.transport.is_some() || !args.headers.is_empty() => {
            return Err("--transport and --header need --url.".to_owned());
        }
        (None, Some((command, command_args))) => NewServerLaunch::Command {
            command: absolute_command(command),
            args: command_args.to_vec(),
            env: parse_pairs(&args.env, "--env", &['='])?,
            cwd: match &args.cwd {
                // humble may be started from a different folder later.
                Some(cwd) => Some(path::absolute(cwd).map_err(|error| format!("--cwd: {error}."))?),
                None => None,
            },
        },
        (None, None) => return Err("Give --url, or `-- COMMAND`.".to_owned()),
    };
    Ok(NewServer {
        name: args.name.clone(),
        description: args.description.clone(),
        enabled: !args.disabled,
        launch,
        values: Vec::new(),
    })
}

/// Makes a relative path to an existing program absolute, because humble may be started from a
/// different folder later.
fn absolute_command(command: &str) -> String {
    let path = Path::new(command);
    let is_local = command.contains('/') && path.is_relative() && path.exists();
    let absolute = is_local.then(|| path::absolute(path).ok()).flatten();
    absolute.map_or_else(
        || command.to_owned(),
        |absolute| absolute.to_string_lossy().into_owned(),
    )
}

/// Splits the arguments of a flag, each at its first separator. Each name may occur only once.
fn parse_pairs(
    texts: &[String],
    flag: &str,
    separators: &[char],
) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| match text.split_once(separators) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim_start().to_owned()))
        }
        // The text may contain a secret, so the message does not repeat it.
        _ => Err(format!("{flag} takes NAME=VALUE.")),
    };
    let pairs: Vec<(String, String)> = texts.iter().map(pair).collect::<Result<_, _>>()?;
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(duplicates) => Err(format!("{flag} gives `{}` twice.", duplicates[0])),
        None => Ok(pairs),
    }
}

//! `humble mcp add`: into the file first, then a look whether the server answers.

use super::configured::log_to;
use super::output::{columns, print, say};
use super::server_pool::{ConnectedServers, Stop};
use crate::app::watchdog::Background;
use crate::cli::mcp::{Add, Transport};
use crate::config::{self, Home, NewServer, Reach};
use crate::domain::ServerConfig;
use crate::domain::server::RemoteTransport;
use crate::headless::{EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE, mcp as words};
use anyhow::Result;
use serde_json::json;
use std::path::{self, Path};

pub async fn run(home: &Home, asked: Add, background: &Background) -> Result<u8> {
    let understood = new_server(&asked).and_then(|new| {
        let server = config::understand_server(&new)?;
        Ok((new, server))
    });
    let (new, server) = match understood {
        Ok(understood) => understood,
        Err(why) => {
            say(&words::line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    if let Err(fault) = config::add_server(home, &new) {
        say(&words::sentence(&fault.notice()));
        let is_taken = matches!(fault, config::ConfigError::KnownServer { .. });
        return Ok(if is_taken { EXIT_USAGE } else { EXIT_FAILED });
    }
    let file = home.servers();
    say(&words::line(&format!(
        "Added `{}` to {}.",
        new.name,
        file.display()
    )));
    for name in config::secrets_in_the_open(&new) {
        let variable = name.to_uppercase().replace('-', "_");
        say(&words::line(&format!(
            "`{name}` stands in the file as you typed it: `${{{variable}}}` in its place is \
             replaced by that variable each time the server starts."
        )));
    }
    if asked.no_check || asked.disabled {
        if asked.json {
            print(&format!("{}\n", json!({ "name": new.name, "added": true })))?;
        }
        return Ok(EXIT_ANSWERED);
    }
    look(home, server, &asked, background).await
}

/// Connects once, and tells what was found.
async fn look(
    home: &Home,
    server: ServerConfig,
    asked: &Add,
    background: &Background,
) -> Result<u8> {
    let servers = vec![server];
    log_to(home, &servers);
    let mut pool = ConnectedServers::open(home, servers, asked.patience.timeout, background)?;
    let stopped = pool.settle().await;
    let found = pool.found();
    let is_well = found.iter().all(words::Found::is_well);
    let printed = if asked.json {
        let mut value = found.first().map(words::Found::json).unwrap_or_default();
        value["added"] = json!(true);
        print(&format!("{value}\n"))
    } else {
        let mut text = words::table(&found, columns());
        let names = found.iter().flat_map(|one| one.server.tools.iter());
        let names: Vec<&str> = names.map(|tool| tool.name.as_str()).collect();
        if !names.is_empty() {
            text += &words::packed(&names, columns());
        }
        print(&text)
    };
    if !is_well {
        say("It stays in the file: `humble mcp list` asks it again.");
    }
    pool.close().await;
    printed.map(|()| match stopped {
        Err(Stop::Signal(code)) => code,
        _ if is_well => EXIT_ANSWERED,
        _ => EXIT_FAILED,
    })
}

fn new_server(asked: &Add) -> Result<NewServer, String> {
    let reach = match (&asked.url, asked.command.split_first()) {
        (Some(url), _) => Reach::Url {
            url: url.clone(),
            transport: match asked.transport {
                None => RemoteTransport::Guess,
                Some(Transport::Sse) => RemoteTransport::Sse,
                Some(Transport::Http) => RemoteTransport::Http,
            },
            headers: pairs(&asked.headers, "--header", &['=', ':'])?,
        },
        (None, Some(_)) if asked.transport.is_some() || !asked.headers.is_empty() => {
            return Err("--transport and --header are for a server with a --url.".to_owned());
        }
        (None, Some((command, args))) => Reach::Command {
            command: command_of(command),
            args: args.to_vec(),
            env: pairs(&asked.env, "--env", &['='])?,
            cwd: match &asked.cwd {
                // The program may be started anywhere.
                Some(cwd) => Some(path::absolute(cwd).map_err(|fault| format!("--cwd: {fault}."))?),
                None => None,
            },
        },
        (None, None) => return Err("Give a --url, or `-- COMMAND`.".to_owned()),
    };
    Ok(NewServer {
        name: asked.name.clone(),
        description: asked.description.clone(),
        enabled: !asked.disabled,
        reach,
    })
}

/// A program that is named by its place here would not be found from elsewhere.
fn command_of(command: &str) -> String {
    let here = Path::new(command);
    let is_place = command.contains('/') && here.is_relative() && here.exists();
    let whole = is_place.then(|| path::absolute(here).ok()).flatten();
    whole.map_or_else(
        || command.to_owned(),
        |whole| whole.to_string_lossy().into_owned(),
    )
}

fn pairs(written: &[String], flag: &str, signs: &[char]) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| match text.split_once(signs) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim_start().to_owned()))
        }
        // What follows may be a secret: it is not repeated.
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

//! `humble models`: lists the configured models and the models on their servers, and pulls or
//! removes models on a server. Reads the settings; writes no file.

use crate::app::output::{confirm, print};
use crate::app::process_secrets;
use crate::cli::{GlobalArgs, ModelsArgs, ModelsCommand};
use crate::config::{self, Home, KnownServer};
use crate::domain::model_catalog::{format_size, invalid_name_notice};
use crate::domain::{CatalogState, ModelConfig, ServerCatalog};
use crate::engine::{list_timeout, pull_failed, remove_failed};
use crate::headless::lines::{clean_line, notice_line};
use crate::headless::output::PrintedOutput;
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE, models as cli_output};
use crate::provider::Provider;
use anyhow::{Context, Result};
use futures::StreamExt;
use futures::future::join_all;
use std::io::{self, IsTerminal};
use std::sync::Arc;

/// Runs the command and returns the exit status.
///
/// # Errors
/// The result could not be written, or the user's answer could not be read.
pub async fn run(home: &Home, global: &GlobalArgs, args: ModelsArgs) -> Result<u8> {
    if let Some(flag) = global.model_flag() {
        eprintln!("`humble models` uses no model itself: remove {flag}.");
        return Ok(EXIT_USAGE);
    }
    let settings = config::read_settings(home);
    for banner in &settings.banners {
        eprintln!("{}", notice_line(&banner.notice));
    }
    let configured = settings.value.models;
    let active = configured.iter().filter(|model| model.active);
    let pull_server = || config::server_for_pulls(home, active.chain(&configured));
    let provider = process_secrets::network_provider();
    match args.command {
        None => list(home, &configured, &provider, args.json).await,
        Some(ModelsCommand::Pull { name }) => pull(&pull_server(), &provider, &name).await,
        Some(ModelsCommand::Rm { name, yes }) => {
            remove(&pull_server(), &provider, &name, yes).await
        }
    }
}

async fn list(
    home: &Home,
    configured: &[ModelConfig],
    provider: &Provider,
    json: bool,
) -> Result<u8> {
    let mut servers = config::model_servers(configured);
    // Without any configured model, list the models of a local Ollama.
    if servers.is_empty() {
        servers.push(KnownServer::local_ollama(home));
    }
    let listings = servers.into_iter().map(|server| async move {
        let KnownServer { config, catalog } = server;
        let listed = provider.list_models(&config, list_timeout(&catalog)).await;
        let state = match listed {
            Ok(listed) => CatalogState::Listed(Arc::new(listed)),
            Err(error) => CatalogState::Failed(error.notice()),
        };
        ServerCatalog { state, ..catalog }
    });
    let servers = join_all(listings).await;
    let file = home.config().display().to_string();
    let output: PrintedOutput = match json {
        true => cli_output::render_json(configured, &servers).into(),
        false => cli_output::render_text(&file, configured, &servers).into(),
    };
    print(output).context("could not write the list")?;
    let has_failed = |server: &ServerCatalog| {
        !server.configured.is_empty() && matches!(server.state, CatalogState::Failed(_))
    };
    let any_failed = servers.iter().any(has_failed);
    Ok(if any_failed {
        EXIT_FAILED
    } else {
        EXIT_SUCCESS
    })
}

async fn pull(ollama: &ModelConfig, provider: &Provider, name: &str) -> Result<u8> {
    if let Some(notice) = invalid_name_notice(name) {
        eprintln!("{}", notice_line(&notice));
        return Ok(EXIT_USAGE);
    }
    let mut stream = provider.pull(ollama, name);
    let is_terminal = io::stderr().is_terminal();
    let mut last_step = String::new();
    while let Some(progress) = stream.next().await {
        let progress = match progress {
            Ok(progress) => progress,
            Err(error) => {
                if is_terminal {
                    eprintln!();
                }
                eprintln!("{}", notice_line(&pull_failed(name, &error)));
                return Ok(EXIT_FAILED);
            }
        };
        let step = if progress.total > 0 {
            let fraction = progress.done as f64 / progress.total as f64;
            let percent = (fraction * 100.0).floor();
            // Outside a terminal, each step is a line of its own, so print only every ten percent.
            let percent = if is_terminal {
                percent
            } else {
                (percent / 10.0).floor() * 10.0
            };
            let size = format_size(progress.total);
            format!("{} {percent:3.0} % of {size}", progress.status)
        } else {
            progress.status
        };
        if step != last_step {
            let line = clean_line(&step);
            if is_terminal {
                eprint!("\r{line}\x1b[K");
            } else {
                eprintln!("{line}");
            }
            last_step = step;
        }
    }
    if is_terminal {
        eprintln!();
    }
    println!("{}", clean_line(&format!("Pulled {name}.")));
    Ok(EXIT_SUCCESS)
}

async fn remove(ollama: &ModelConfig, provider: &Provider, name: &str, yes: bool) -> Result<u8> {
    let url = ollama.server().url;
    if !yes {
        if !io::stdin().is_terminal() {
            eprintln!("There is no terminal to ask on. Use --yes to remove without asking.");
            return Ok(EXIT_USAGE);
        }
        if !confirm(&format!("Remove {name} from {url}?"))? {
            eprintln!("Nothing was removed.");
            return Ok(EXIT_SUCCESS);
        }
    }
    match provider.remove(ollama, name).await {
        Ok(()) => {
            println!("{}", clean_line(&format!("Removed {name}.")));
            Ok(EXIT_SUCCESS)
        }
        Err(error) => {
            eprintln!("{}", notice_line(&remove_failed(name, &error)));
            Ok(EXIT_FAILED)
        }
    }
}

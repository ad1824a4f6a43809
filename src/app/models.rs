//! `humble models`: what is configured, what the servers have, and changes of the
//! latter. It reads the settings and writes no file.

use crate::cli::{ModelsArgs, ModelsCommand};
use crate::config::{self, Home, Served};
use crate::domain::model_catalog::{no_name, size_words};
use crate::domain::{ModelConfig, Stock, StockState};
use crate::engine::{pull_failed, remove_failed};
use crate::headless::advice;
use crate::headless::{EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE, models as words};
use crate::provider::Provider;
use anyhow::{Context, Result};
use futures::StreamExt;
use futures::future::join_all;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

/// How long each server may take; all are asked at once.
const LIST_DEADLINE: Duration = Duration::from_secs(5);
/// How long an Ollama is looked for that no file names.
const DISCOVERY_DEADLINE: Duration = Duration::from_secs(2);

/// Does what was asked for; the result is the exit status.
///
/// # Errors
/// What keeps the result from being written.
pub async fn run(home: &Home, models: ModelsArgs) -> Result<u8> {
    let settings = config::read_settings(home);
    for banner in &settings.banners {
        eprintln!(
            "{}",
            words::clean_line(&advice::notice_line(&banner.notice))
        );
    }
    let configured = settings.value.models;
    let active = configured.iter().filter(|model| model.active);
    let manager = || config::model_manager(home, active.chain(&configured));
    let provider = Provider::new();
    match models.change {
        None => list(home, &configured, &provider, models.json).await,
        Some(ModelsCommand::Pull { name }) => pull(&manager(), &provider, &name).await,
        Some(ModelsCommand::Rm { name, yes }) => remove(&manager(), &provider, &name, yes).await,
    }
}

async fn list(
    home: &Home,
    configured: &[ModelConfig],
    provider: &Provider,
    json: bool,
) -> Result<u8> {
    let mut servers = config::model_servers(configured);
    // Whoever has configured nothing wants to know what there is all the same.
    if servers.is_empty() {
        let local = config::local_ollama(home);
        servers.push(Served {
            server: config::server_of(&local),
            config: local,
            configured: Vec::new(),
        });
    }
    let asked = servers.into_iter().map(|served| async move {
        let time = if served.configured.is_empty() {
            DISCOVERY_DEADLINE
        } else {
            LIST_DEADLINE
        };
        let state = match provider.catalogue(&served.config, time).await {
            Ok(catalogue) => StockState::Has(Arc::new(catalogue)),
            Err(fault) => StockState::Failed(fault.notice()),
        };
        Stock {
            server: served.server,
            configured: served.configured,
            state,
        }
    });
    let stocks = join_all(asked).await;
    let shown: Vec<words::ConfiguredModel> = configured
        .iter()
        .map(|model| words::ConfiguredModel {
            model: model.reference(),
            url: config::server_of(model).url,
            is_active: model.active,
            key: model.api_key.clone(),
        })
        .collect();
    let text = if json {
        words::render_json(&shown, &stocks)
    } else {
        words::render_text(&home.config().display().to_string(), &shown, &stocks)
    };
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever read our output has read enough.
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.context("the list could not be written")?,
    }
    let failed = |stock: &Stock| {
        !stock.configured.is_empty() && matches!(stock.state, StockState::Failed(_))
    };
    let is_well = !stocks.iter().any(failed);
    Ok(if is_well { EXIT_ANSWERED } else { EXIT_FAILED })
}

async fn pull(ollama: &ModelConfig, provider: &Provider, name: &str) -> Result<u8> {
    if let Some(notice) = no_name(name) {
        eprintln!("{}", words::clean_line(&advice::notice_line(&notice)));
        return Ok(EXIT_FAILED);
    }
    let mut stream = provider.pull(ollama, name);
    let is_terminal = io::stderr().is_terminal();
    let mut told = String::new();
    while let Some(progress) = stream.next().await {
        let progress = match progress {
            Ok(progress) => progress,
            Err(fault) => {
                if is_terminal {
                    eprintln!();
                }
                eprintln!(
                    "{}",
                    words::clean_line(&advice::notice_line(&pull_failed(name, &fault)))
                );
                return Ok(EXIT_FAILED);
            }
        };
        let line = if progress.total > 0 {
            let share = progress.done as f64 / progress.total as f64;
            let percent = (share * 100.0).floor();
            // In a file each tenth is enough.
            let percent = if is_terminal {
                percent
            } else {
                (percent / 10.0).floor() * 10.0
            };
            let size = size_words(progress.total);
            format!("{} {percent:3.0} % of {size}", progress.status)
        } else {
            progress.status
        };
        if line != told {
            let shown = words::clean_line(&line);
            if is_terminal {
                eprint!("\r{shown}\x1b[K");
            } else {
                eprintln!("{shown}");
            }
            told = line;
        }
    }
    if is_terminal {
        eprintln!();
    }
    println!("{}", words::clean_line(&format!("Pulled {name}.")));
    Ok(EXIT_ANSWERED)
}

async fn remove(ollama: &ModelConfig, provider: &Provider, name: &str, yes: bool) -> Result<u8> {
    let url = config::server_of(ollama).url;
    if !yes {
        if !io::stdin().is_terminal() {
            eprintln!("There is no terminal to ask on: --yes removes without asking.");
            return Ok(EXIT_USAGE);
        }
        eprint!(
            "{} ",
            words::clean_line(&format!("Remove {name} from {url}? (y/N)"))
        );
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        read.context("the answer could not be read")?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "ㅛ") {
            eprintln!("Nothing was removed.");
            return Ok(EXIT_ANSWERED);
        }
    }
    match provider.remove(ollama, name).await {
        Ok(()) => {
            println!("{}", words::clean_line(&format!("Removed {name}.")));
            Ok(EXIT_ANSWERED)
        }
        Err(fault) => {
            eprintln!(
                "{}",
                words::clean_line(&advice::notice_line(&remove_failed(name, &fault)))
            );
            Ok(EXIT_FAILED)
        }
    }
}

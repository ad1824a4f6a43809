//! `humble serve`: offers the built-in tools to other MCP clients over stdio or HTTP. Has a runtime
//! of its own, because it needs neither an engine nor a screen.

mod options;
mod startup_text;
mod stderr_log;

use super::built_in_tools;
use super::process_secrets::{network_provider, secrets};
use crate::cli::GlobalArgs;
use crate::cli::serve::ServeArgs;
use crate::config::{self, Home};
use crate::domain::built_in::FETCH_TOOL;
use crate::domain::{LaunchConfig, ServerConfig};
use crate::headless::lines::{clean_line, notice_line};
use crate::headless::signals::ExitSignals;
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use crate::log;
use crate::notes::Vault;
use crate::serve::http::{self, HttpHandlers, Listener};
use crate::serve::{BuiltInHandler, CallLimits, CallLog, CallRunner, stdio};
use anyhow::{Context, Result};
use options::HttpSetup;
use startup_text::NamedFolders;
use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use stderr_log::StderrPrinter;
use tokio_util::sync::CancellationToken;

/// More threads than this do not make an MCP server faster.
const THREADS_MAX: usize = 4;

/// Runs the server and returns the exit status.
///
/// # Errors
/// The server could not run at all.
pub fn run(home: &Home, global: &GlobalArgs, args: &ServeArgs) -> Result<u8> {
    if global.no_tools || global.model.is_some() || global.persona.is_some() {
        eprintln!(
            "humble serve offers tools, not a model: remove --model, --persona or --no-tools."
        );
        return Ok(EXIT_USAGE);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.min(THREADS_MAX))
        .enable_all()
        .build()
        .context("could not start the async runtime")?;
    let stderr = StderrPrinter::start();
    let code = runtime.block_on(serve(home, global, args, &stderr));
    // A thread may still be reading standard input.
    runtime.shutdown_background();
    stderr.finish();
    code
}

async fn serve(
    home: &Home,
    global: &GlobalArgs,
    args: &ServeArgs,
    stderr: &StderrPrinter,
) -> Result<u8> {
    let mut banners = home.prepare();
    let printer = stderr.clone();
    let log = log::init(&home.logs(), tracing::Level::INFO, secrets(), move |line| {
        printer.log(line.level, &line.text);
    });
    let settings = config::read_settings(home);
    log.set_level(settings.value.log_level);
    secrets().add(settings.value.config_secrets());
    banners.extend(settings.banners);
    let servers = config::read_servers(home);
    banners.extend(servers.banners);
    for banner in &banners {
        stderr.print(&notice_line(&banner.notice));
    }
    let mut tool_settings = settings.value.built_in_tools();
    let folders = args
        .vault
        .iter()
        .filter_map(|path| std::path::absolute(path).ok());
    let configured = std::mem::take(&mut tool_settings.notes.vaults);
    tool_settings.notes.vaults = distinct_folders(folders.chain(configured));
    for vault in &args.vault {
        if let Err(error) = Vault::open(vault) {
            stderr.print(&clean_line(&error.to_string()));
        }
    }
    let tools = built_in_tools(home, tool_settings, network_provider());
    let offers_fetch = is_fetch_tool_on(&servers.value);
    let tools = tools.without(|name| name == FETCH_TOOL && !offers_fetch);
    let calls = CallRunner::new(tools, CallLimits::default(), CallLog::Info);
    let folders = NamedFolders {
        home: global.home.as_deref(),
        vaults: &args.vault,
    };
    if args.http {
        serve_http(folders, args, calls, stderr).await
    } else {
        serve_stdio(folders, calls, stderr).await
    }
}

/// Removes duplicate folders, including those reached through a symbolic link. Blocks.
fn distinct_folders(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let is_new = |folder: &PathBuf| {
        seen.insert(std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone()))
    };
    folders.filter(is_new).collect()
}

/// Clients get all built-in tools except [`FETCH_TOOL`], which is off unless the entry of the
/// built-in server can be read and switches it on.
fn is_fetch_tool_on(servers: &[ServerConfig]) -> bool {
    let built_in = servers
        .iter()
        .find(|server| server.launch == LaunchConfig::BuiltIn);
    built_in.is_some_and(|server| !server.disabled_tools.contains(FETCH_TOOL))
}

async fn serve_stdio(
    folders: NamedFolders<'_>,
    calls: CallRunner,
    stderr: &StderrPrinter,
) -> Result<u8> {
    stderr.print(&startup_text::stdio(folders));
    let handler = BuiltInHandler::new(calls.clone(), "stdio");
    let serving = |stop| async move { stdio::serve(handler, &calls, stop).await };
    let result = until_signal(stderr, serving).await?;
    match result {
        Some(Ok(())) | None => Ok(EXIT_SUCCESS),
        Some(Err(error)) => {
            stderr.print(&clean_line(&format!("The session failed: {error}")));
            Ok(EXIT_FAILED)
        }
    }
}

async fn serve_http(
    folders: NamedFolders<'_>,
    args: &ServeArgs,
    calls: CallRunner,
    stderr: &StderrPrinter,
) -> Result<u8> {
    let setup = match HttpSetup::read(args).await {
        Ok(setup) => setup,
        Err(why) => {
            stderr.print(&clean_line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    secrets().add_credentials(setup.secrets());
    for warning in setup.warnings() {
        stderr.print(&clean_line(warning));
    }
    let listener = match Listener::bind(setup.addresses()).await {
        Ok(listener) => listener,
        Err(error) => {
            stderr.print(&clean_line(&options::explain(&error)));
            return Ok(EXIT_FAILED);
        }
    };
    stderr.print(&startup_text::http(
        folders,
        listener.addresses(),
        setup.has_token(),
    ));
    let options = setup.into_options(listener.addresses());
    let handlers = HttpHandlers {
        streamable: BuiltInHandler::new(calls.clone(), "HTTP"),
        sse: BuiltInHandler::new(calls.clone(), "HTTP+SSE"),
    };
    until_signal(stderr, |stop| {
        http::serve(listener, handlers, calls, options, stop)
    })
    .await?;
    Ok(EXIT_SUCCESS)
}

/// Runs a server. The first signal stops it gracefully, a second one immediately (`None`).
async fn until_signal<T, F: Future<Output = T>>(
    stderr: &StderrPrinter,
    server: impl FnOnce(CancellationToken) -> F,
) -> Result<Option<T>> {
    let mut signals = ExitSignals::install().context("could not install signal handlers")?;
    let stop = CancellationToken::new();
    let mut running = std::pin::pin!(server(stop.clone()));
    tokio::select! {
        result = running.as_mut() => return Ok(Some(result)),
        _ = signals.next() => {}
    }
    stop.cancel();
    stderr.print("Stopping; running calls have a few seconds to finish.");
    tokio::select! {
        result = running => Ok(Some(result)),
        _ = signals.next() => Ok(None),
    }
}

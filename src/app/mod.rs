//! The composition root: the only module that depends on every layer.

mod built_in;
mod completions;
mod demo_farewell;
mod demo_process;
mod doctor;
mod linear;
mod man;
mod mcp;
mod misplaced_flags;
mod models;
mod output;
mod piped_input;
mod probe;
mod process_secrets;
mod resume_line;
mod serve;
mod sessions;
mod watchdog;

use crate::cli::{AskArgs, Cli, CliCommand, GlobalArgs};
use crate::config::{self, Home};
use crate::demo;
use crate::domain::{ServerId, ToolMode};
use crate::engine::{self, EngineDeps, EngineHandle, EngineOptions, InitialSession};
use crate::headless::advice;
use crate::headless::{self, EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use crate::log;
use crate::mcp::ProcessGroups;
use crate::notes::NoteIntent;
use crate::provider::Provider;
use crate::tui;
use anyhow::{Context, Result};
use process_secrets::{network_provider, secrets};
use std::io::IsTerminal;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use watchdog::BackgroundRuntime;

pub use built_in::{built_in_server, built_in_tools, chat_server, notebook};

/// Capacity of the channel to the log pane.
const LOG_LINES_MAX: usize = 256;
/// How long the engine task may take to end after its last event.
const ENGINE_END_TIMEOUT: Duration = Duration::from_millis(300);

/// Runs the command and returns the exit status.
///
/// # Errors
/// The command could not run, or its result could not be written.
pub fn run(cli: Cli) -> Result<u8> {
    if misplaced_flags::report(&cli) {
        return Ok(EXIT_USAGE);
    }
    let home = resolve_home(&cli)?;
    let used_home = home.clone();
    // The engine has one worker thread, so that reading, decoding and forwarding a token
    // never wakes a second one.
    let engine = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("could not start the async runtime")?;
    // The front end runs on the main thread with its own timers and signals, so a busy
    // engine cannot delay keys or signals.
    let front_end = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("could not start the async runtime")?;
    let background = &BackgroundRuntime {
        runtime: engine.handle().clone(),
        process_groups: ProcessGroups::default(),
    };
    let code = match cli.command {
        None => {
            let latest = cli.continue_latest.then_some(InitialSession::Latest);
            let Some(named) = sessions::find_initial(&home, cli.session.as_deref()) else {
                return Ok(EXIT_USAGE);
            };
            front_end.block_on(run_chat(
                home,
                cli.global,
                cli.linear,
                named.or(latest),
                background,
            ))
        }
        Some(CliCommand::Demo(demo)) => {
            let is_linear = cli.linear || demo.linear;
            front_end.block_on(run_demo(home, cli.global, is_linear, background))
        }
        Some(CliCommand::Models(args)) => front_end.block_on(models::run(&home, &cli.global, args)),
        Some(CliCommand::Sessions(args)) => sessions::run(&home, &cli.global, args),
        Some(CliCommand::Completions { shell }) => completions::run(shell),
        Some(CliCommand::Mcp(args)) => {
            front_end.block_on(mcp::run(&home, &cli.global, args, background))
        }
        Some(CliCommand::Man) => man::run(),
        Some(CliCommand::Doctor(args)) => {
            front_end.block_on(doctor::run(&home, &cli.global, &args, background))
        }
        Some(CliCommand::Probe(args)) => {
            front_end.block_on(probe::run(&home, cli.global, args, background))
        }
        Some(CliCommand::Serve(args)) => serve::run(&home, &cli.global, &args),
        Some(CliCommand::Ask(args)) => {
            front_end.block_on(run_ask(home, cli.global, args, background))
        }
    };
    // Neither a thread still reading the terminal nor an unresponsive engine may delay
    // the exit.
    front_end.shutdown_background();
    engine.shutdown_background();
    for notice in config::tightened_permissions_notices(&used_home) {
        eprintln!("humble: {}", advice::notice_line(&notice));
    }
    code
}

/// The home folder of the command. The demo has one of its own unless the user named one.
fn resolve_home(cli: &Cli) -> Result<Home> {
    let home = Home::resolve(cli.global.home.clone())?;
    let is_demo = matches!(cli.command, Some(CliCommand::Demo(_)));
    Ok(match is_demo && cli.global.home.is_none() {
        true => Home::at(home.root().join("demo")),
        false => home,
    })
}

async fn run_chat(
    home: Home,
    global: GlobalArgs,
    is_linear: bool,
    initial_session: Option<InitialSession>,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let options = EngineOptions {
        model: global.model,
        persona: global.persona,
        watch: true,
        no_tools: global.no_tools,
        offers_models: true,
        initial_session,
        ..EngineOptions::default()
    };
    let resume_command = resume_line::resume_command(global.home.as_deref());
    if is_linear || config::read_settings(&home).value.ui.is_linear {
        let provider = network_provider();
        return linear::run(home, provider, options, &resume_command, background).await;
    }
    let demo_home = global.home.as_ref().map(|_| home.root().join("demo"));
    let screen = run_screen(
        home,
        network_provider(),
        options,
        None,
        &resume_command,
        background,
    );
    match screen.await? {
        ScreenOutcome::Exited(tui::ScreenExit::Demo) => demo_process::exec_demo(demo_home),
        outcome => Ok(outcome.code()),
    }
}

async fn run_demo(
    home: Home,
    global: GlobalArgs,
    is_linear: bool,
    background: &BackgroundRuntime,
) -> Result<u8> {
    if let Some(flag) = global.model_flag() {
        eprintln!("The demo uses a script instead of a model: remove {flag}.");
        return Ok(EXIT_USAGE);
    }
    let (default_home, sessions) = (Home::resolve(None)?, home.sessions());
    let provider = Provider::scripted(demo::script());
    let options = demo_options(global.no_tools);
    let code = if is_linear {
        linear::run_demo(home, provider, options, background).await?
    } else {
        let prompts = Some(DEMO_PROMPTS);
        let outcome = run_screen(home, provider, options, prompts, "", background).await?;
        outcome.code()
    };
    if code == EXIT_SUCCESS {
        // If the home folder cannot be read, do not treat the user as new.
        let is_new_user = default_home
            .config()
            .try_exists()
            .is_ok_and(|exists| !exists);
        print!("{}", demo_farewell::farewell(&sessions, is_new_user));
    }
    Ok(code)
}

/// Prompts that the demo tour can type.
pub const DEMO_PROMPTS: tui::TourPrompts = tui::TourPrompts {
    question: demo::QUESTION,
    story: demo::STORY,
    setup: demo::CONNECT,
};

/// Engine options of the demo. Tools start in manual mode, whatever an earlier run stored, because
/// the tour explains approvals.
pub fn demo_options(no_tools: bool) -> EngineOptions {
    EngineOptions {
        tool_mode: Some(ToolMode::Manual),
        no_tools,
        model_override: Some(demo::model()),
        ..EngineOptions::default()
    }
}

enum ScreenOutcome {
    NoTerminal,
    Exited(tui::ScreenExit),
}

impl ScreenOutcome {
    fn code(&self) -> u8 {
        match self {
            Self::NoTerminal => EXIT_USAGE,
            Self::Exited(exit) => exit.code(),
        }
    }
}

async fn run_screen(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    tour_prompts: Option<tui::TourPrompts>,
    resume_command: &str,
    background: &BackgroundRuntime,
) -> Result<ScreenOutcome> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        eprintln!("humble is a full-screen program and needs a terminal.");
        eprintln!("For one answer in a script or a pipe: humble ask \"your question\"");
        return Ok(ScreenOutcome::NoTerminal);
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let settings = config::read_settings(&home).value;
    let ui = settings.ui;
    let is_demo = tour_prompts.is_some();
    let tui_options = tui::TuiOptions {
        ascii: ui.is_ascii,
        plain_keys: !ui.uses_keyboard_protocol,
        keys: settings.keys,
        is_sidebar_closed: !ui.is_sidebar_open,
        no_color: is_set("NO_COLOR"),
        has_true_color: std::env::var("COLORTERM")
            .is_ok_and(|value| ["truecolor", "24bit"].contains(&value.as_str())),
        themes: settings.theme,
        home: home.root().display().to_string(),
        panic_report: Some(home.logs().join("panic.txt")),
        redact: tui::RedactFn(|text| secrets().redact_at_once(text)),
        needs_no_model: tui::NeedsNoModelFn(NoteIntent::is_search),
        tour_prompts,
        opens_session: options.initial_session.is_some(),
    };
    let EngineHandle {
        commands,
        events,
        task,
    } = start_engine(home, provider, options, background);
    let end = tui::run(commands, events, tui_options).await;
    stop_engine(task, background).await;
    let end = end?;
    if let (tui::ScreenExit::Quit, false, Some(title)) = (end.exit, is_demo, &end.saved_title) {
        println!(
            "{}",
            resume_line::resume_line(resume_command, title, end.columns)
        );
    }
    Ok(ScreenOutcome::Exited(end.exit))
}

async fn run_ask(
    home: Home,
    global: GlobalArgs,
    args: AskArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let prompt = match piped_input::read_prompt(&args.prompt)? {
        Some(prompt) => prompt,
        None => {
            eprintln!("No prompt was given. For example: humble ask \"your question\"");
            return Ok(EXIT_USAGE);
        }
    };
    let checked = headless::FilesToAttach::new(args.attach)
        .and_then(|files| Ok((files, resolve_allowed_tools(&home, &args.allow)?)));
    let (files, allowed_tools) = match checked {
        Ok(checked) => checked,
        Err(why) => {
            eprintln!("{why}");
            return Ok(EXIT_USAGE);
        }
    };
    let options = EngineOptions {
        allowed_tools: allowed_tools.clone(),
        model: global.model,
        persona: global.persona,
        tool_mode: args.yes.then_some(ToolMode::Auto),
        no_tools: global.no_tools,
        no_save: !args.save && !args.continue_latest,
        is_one_shot: true,
        initial_session: args.continue_latest.then_some(InitialSession::Latest),
        ..EngineOptions::default()
    };
    let EngineHandle {
        commands,
        events,
        task,
    } = start_engine(home, network_provider(), options, background);
    let request = headless::AskRequest {
        prompt,
        files,
        is_json: args.json,
        waits_for_servers: !global.no_tools,
        allowed_tools,
        continues_session: args.continue_latest,
    };
    let result = headless::ask(commands, events, request).await;
    stop_engine(task, background).await;
    let code = match result {
        Ok(code) => code,
        // The reader has closed our output, so there is no one to report to.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => EXIT_FAILED,
        Err(error) => return Err(error).context("could not write the answer"),
    };
    Ok(code)
}

/// The tools named by `--allow` as `SERVER/TOOL`. Either name may contain slashes, so the configured
/// servers decide where a server's name ends.
fn resolve_allowed_tools(home: &Home, names: &[String]) -> Result<Vec<(ServerId, String)>, String> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let servers = config::read_servers(home).value;
    let ids: Vec<ServerId> = servers.into_iter().map(|server| server.id).collect();
    names
        .iter()
        .map(|name| headless::allow_list::parse_tool_name(name, &ids))
        .collect()
}

fn start_engine(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    background: &BackgroundRuntime,
) -> EngineHandle {
    // Creates the log folder, so it must run before `log::init`.
    let banners = home.prepare();
    let (pane_sender, pane_lines) = mpsc::channel(LOG_LINES_MAX);
    // A full channel drops lines from the log pane, never from the log file.
    let log_handle = log::init(&home.logs(), tracing::Level::INFO, secrets(), move |line| {
        let _ = pane_sender.try_send(line);
    });
    let unused = config::unused_keys(&home);
    if !unused.is_empty() {
        let keys = unused.join(", ");
        tracing::info!("config.json: humble does not read these keys: {keys}");
    }
    background.watch_front_end();
    let _in_background = background.runtime.enter();
    let notes = notebook(&home, provider.clone());
    // The engine configures the built-in server once it has read the settings.
    let built_in_server = chat_server(provider.clone(), notes.clone());
    engine::spawn(EngineDeps {
        home,
        banners,
        provider,
        built_in_server,
        notes: std::sync::Arc::new(notes),
        process_groups: background.process_groups.clone(),
        secrets: secrets(),
        log: Some((log_handle, pane_lines)),
        options,
    })
}

/// Ends the engine once the front end is done. The front end has already waited for the engine to
/// save and to close the servers; server processes that remain are killed.
async fn stop_engine(engine: JoinHandle<()>, background: &BackgroundRuntime) {
    let _ = timeout(ENGINE_END_TIMEOUT, engine).await;
    background.process_groups.kill_all();
}

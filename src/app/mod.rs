//! The composition root: the only file that names every floor.

mod mcp;
mod models;
mod output;
mod piped_input;
mod probe;
mod watchdog;

use crate::cli::{AskArgs, Cli, CliCommand, GlobalArgs};
use crate::config::{self, Home};
use crate::demo;
use crate::domain::{ServerId, ToolMode};
use crate::engine::{self, EngineDeps, EngineHandle, EngineOptions, InitialSession};
use crate::headless::advice;
use crate::headless::{self, EXIT_ANSWERED, EXIT_FAILED, EXIT_USAGE};
use crate::log;
use crate::mcp::ProcessGroups;
use crate::provider::Provider;
use crate::serve::BuiltInServer;
use crate::tui;
use anyhow::{Context, Result};
use std::fs::DirEntry;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use watchdog::BackgroundRuntime;

/// Log lines on their way to the log pane.
const LOG_LINES_MAX: usize = 256;
/// How long the engine's task may take to end once it said that nothing follows.
const ENGINE_END_DEADLINE: Duration = Duration::from_millis(300);

/// Does what the command line asks for; the result is the exit status.
///
/// # Errors
/// What keeps the program from running at all.
pub fn run(cli: Cli) -> Result<u8> {
    let mut home = Home::resolve(cli.shared.home.clone())?;
    if matches!(cli.command, Some(CliCommand::Demo)) && cli.shared.home.is_none() {
        home = Home::at(home.root().join("demo"));
    }
    let written = home.clone();
    // One worker for the engine: a token that comes in is read, decoded and passed on
    // without a second thread being woken.
    let engine = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    // The front end has the main thread, with timers and signals of its own: whatever
    // keeps the engine busy, keys and signals are answered.
    let front_end = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    let background = &BackgroundRuntime {
        runtime: engine.handle().clone(),
        process_groups: ProcessGroups::default(),
    };
    let code = match cli.command {
        None => {
            let named = cli.session.map(InitialSession::Named);
            let open = named.or(cli.go_on.then_some(InitialSession::Latest));
            front_end.block_on(run_chat(home, cli.shared, open, background))
        }
        Some(_) if cli.go_on || cli.session.is_some() => {
            eprintln!("--continue and --session are for the screen: `humble --continue`.");
            eprintln!("One question in the latest conversation: humble ask --continue \"…\"");
            Ok(EXIT_USAGE)
        }
        Some(CliCommand::Demo) => front_end.block_on(run_demo(home, cli.shared, background)),
        Some(CliCommand::Models(models)) => front_end.block_on(models::run(&home, models)),
        Some(CliCommand::Mcp(asked)) => {
            front_end.block_on(mcp::run(&home, &cli.shared, asked, background))
        }
        Some(CliCommand::Probe(asked)) => {
            front_end.block_on(probe::run(&home, cli.shared, asked, background))
        }
        Some(CliCommand::Ask(ask)) => {
            front_end.block_on(run_ask(home, cli.shared, ask, background))
        }
    };
    // Neither a thread that still reads the terminal nor an engine that does not respond
    // may hold up the exit.
    front_end.shutdown_background();
    engine.shutdown_background();
    for notice in config::tightened_permissions_notices(&written) {
        eprintln!("humble: {}", advice::notice_line(&notice));
    }
    code
}

async fn run_chat(
    home: Home,
    shared: GlobalArgs,
    open: Option<InitialSession>,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let options = EngineOptions {
        model: shared.model,
        persona: shared.persona,
        watch: true,
        no_tools: shared.no_tools,
        offers_models: true,
        initial_session: open,
        ..EngineOptions::default()
    };
    let demo_home = shared.home.as_ref().map(|_| home.root().join("demo"));
    match run_screen(home, Provider::new(), options, None, background).await? {
        ScreenOutcome::Screen(tui::ScreenExit::Demo) => exec_demo(demo_home),
        left => Ok(left.code()),
    }
}

/// The demo is another run of this program: nothing of this one stays in it.
fn exec_demo(home: Option<PathBuf>) -> Result<u8> {
    let program = std::env::current_exe().context("this program is not found any more")?;
    let mut command = std::process::Command::new(program);
    if let Some(home) = home {
        command.arg("--home").arg(home);
    }
    command.arg("demo");
    let advice = "the demo could not be started: try `humble demo`";
    // In this process's place: its thread that reads the terminal must not take keys
    // from the demo.
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut command)).context(advice);
    #[cfg(not(unix))]
    {
        let status = command.status().context(advice)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.unwrap_or(EXIT_FAILED))
    }
}

/// The whole program on the script of [`demo`].
async fn run_demo(home: Home, shared: GlobalArgs, background: &BackgroundRuntime) -> Result<u8> {
    if shared.model.is_some() {
        eprintln!("The demo has one model, its own: leave --model out.");
        return Ok(EXIT_USAGE);
    }
    if shared.persona.is_some() {
        eprintln!("The demo's model follows a script: leave --persona out.");
        return Ok(EXIT_USAGE);
    }
    let (usual, sessions) = (Home::resolve(None)?, home.sessions());
    let provider = Provider::scripted(demo::script());
    let options = demo_options(shared.no_tools);
    let left = run_screen(home, provider, options, Some(DEMO_PROMPTS), background).await?;
    let code = left.code();
    if code == EXIT_ANSWERED {
        // Where it cannot be told whether there are settings, nothing is said of them.
        let is_new = usual.config().try_exists().is_ok_and(|exists| !exists);
        print!("{}", farewell(&sessions, is_new));
    }
    Ok(code)
}

/// What the guide of the demo types ahead.
pub const DEMO_PROMPTS: tui::TourPrompts = tui::TourPrompts {
    question: demo::QUESTION,
    story: demo::STORY,
    setup: demo::CONNECT,
};

/// How the engine runs in the demo. A tool always asks at first, whatever mode an
/// earlier run left in its settings: the guide is about being asked.
pub fn demo_options(no_tools: bool) -> EngineOptions {
    EngineOptions {
        tool_mode: Some(ToolMode::Manual),
        no_tools,
        model_override: Some(demo::model()),
        ..EngineOptions::default()
    }
}

/// The last lines of the demo: where its conversations are, if it has any, and how to
/// go on for whoever has no settings yet. These are not read, they are the person's.
fn farewell(sessions: &Path, is_new: bool) -> String {
    let is_kept = |entry: DirEntry| entry.path().extension() == Some("json".as_ref());
    let has_some = sessions
        .read_dir()
        .is_ok_and(|entries| entries.flatten().any(is_kept));
    let mut lines = String::new();
    if has_some {
        // A path alone on its line is cut by no terminal's idea of a word.
        lines = format!("The demo's conversations are in\n{}\n", sessions.display());
    }
    if is_new {
        lines += "To connect a model, start `humble`: its first answer says what to write.\n";
    }
    lines
}

/// How the screen ended, or why there was none.
enum ScreenOutcome {
    NoTerminal,
    Screen(tui::ScreenExit),
}

impl ScreenOutcome {
    fn code(&self) -> u8 {
        match self {
            Self::NoTerminal => EXIT_USAGE,
            Self::Screen(exit) => exit.code(),
        }
    }
}

async fn run_screen(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    guide: Option<tui::TourPrompts>,
    background: &BackgroundRuntime,
) -> Result<ScreenOutcome> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        eprintln!("humble is a full-screen program and needs a terminal.");
        eprintln!("For one answer in a script or a pipe: humble ask \"your question\"");
        return Ok(ScreenOutcome::NoTerminal);
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let screen = tui::TuiOptions {
        no_color: set("NO_COLOR"),
        panic_report: Some(home.logs().join("panic.txt")),
        redact: tui::RedactFn(log::redact),
        tour_prompts: guide,
        ..tui::TuiOptions::default()
    };
    let EngineHandle {
        commands,
        events,
        task,
    } = start_engine(home, provider, options, background);
    let exit = tui::run(commands, events, screen).await;
    stop_engine(task, background).await;
    Ok(ScreenOutcome::Screen(exit?))
}

async fn run_ask(
    home: Home,
    shared: GlobalArgs,
    ask: AskArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let prompt = match piped_input::read_prompt(&ask.prompt)? {
        Some(prompt) => prompt,
        None => {
            eprintln!("There is no prompt. For example: humble ask \"your question\"");
            return Ok(EXIT_USAGE);
        }
    };
    let allow = match allowed_tools(&home, &ask.allow) {
        Ok(allow) => allow,
        Err(why) => {
            eprintln!("{why}");
            return Ok(EXIT_USAGE);
        }
    };
    let options = EngineOptions {
        allowed_tools: allow.clone(),
        model: shared.model,
        persona: shared.persona,
        tool_mode: ask.yes.then_some(ToolMode::Auto),
        no_tools: shared.no_tools,
        no_save: !ask.save && !ask.go_on,
        is_one_shot: true,
        initial_session: ask.go_on.then_some(InitialSession::Latest),
        ..EngineOptions::default()
    };
    let EngineHandle {
        commands,
        events,
        task,
    } = start_engine(home, Provider::new(), options, background);
    let request = headless::AskRequest {
        prompt,
        json: ask.json,
        tools: !shared.no_tools,
        allow,
        continues_session: ask.go_on,
    };
    let answered = headless::ask(commands, events, request).await;
    stop_engine(task, background).await;
    let code = match answered {
        Ok(code) => code,
        // Whoever read our output went away: nobody is left to tell.
        Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => EXIT_FAILED,
        Err(fault) => return Err(fault).context("the answer could not be written"),
    };
    Ok(code)
}

/// The tools that `--allow` names. A name may hold a slash: the servers that there are
/// tell where that of the server ends.
fn allowed_tools(home: &Home, names: &[String]) -> Result<Vec<(ServerId, String)>, String> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let servers = config::read_servers(home).value;
    let ids: Vec<ServerId> = servers.into_iter().map(|server| server.id).collect();
    let named = names
        .iter()
        .map(|name| headless::allow_list::parse_tool_name(name, &ids));
    named.collect()
}

/// Starts the engine in the background.
fn start_engine(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    background: &BackgroundRuntime,
) -> EngineHandle {
    // Before the log, whose folder tells a first run from a later one.
    let banners = home.prepare();
    let (lines, pane) = mpsc::channel(LOG_LINES_MAX);
    // A full channel loses a line of the pane, never one of the file.
    let log = log::init(&home.logs(), tracing::Level::INFO, move |line| {
        let _ = lines.try_send(line);
    });
    background.watch_front_end();
    let _in_background = background.runtime.enter();
    engine::spawn(EngineDeps {
        home,
        banners,
        provider,
        built_in: Arc::new(BuiltInServer),
        process_groups: background.process_groups.clone(),
        log: Some((log, pane)),
        options,
    })
}

/// The front end is done: it waited for an engine that responds to save and to close its
/// servers. Whatever is left of the servers is killed, whether the engine responds or not.
async fn stop_engine(engine: JoinHandle<()>, background: &BackgroundRuntime) {
    let _ = timeout(ENGINE_END_DEADLINE, engine).await;
    background.process_groups.kill_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn farewell_names_the_folder_only_if_it_holds_a_conversation() {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = folder.path().join("sessions");
        assert_eq!(farewell(&sessions, false), "");
        std::fs::create_dir(&sessions).expect("made");
        std::fs::write(sessions.join("a.lock"), "").expect("written");
        assert_eq!(farewell(&sessions, false), "");
        std::fs::write(sessions.join("a.json"), "{}").expect("written");
        let path = sessions.display().to_string();
        let lines = farewell(&sessions, true);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines[..2], ["The demo's conversations are in", &path]);
        assert!(lines[2].contains("`humble`") && lines[2].len() <= 80);
        assert_eq!(farewell(&sessions, false).lines().count(), 2);
    }
}

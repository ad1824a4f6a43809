//! `humble mcp call`: runs one tool. Typing the command is the approval.

use super::configured::{configured_servers, find_server, init_log};
use super::output::{print, print_error_line};
use super::server_pool::{ConnectedServers, StopReason};
use crate::app::piped_input::read_pipe;
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::mcp;
use crate::cli::tool_arguments;
use crate::config::Home;
use crate::domain::schema::UNCHECKED_LABEL;
use crate::domain::{
    ArgumentCheck, Arguments, CallId, LaunchConfig, SchemaCheck, ServerId, ServerStatus, Tool,
    ToolOutcome,
};
use crate::engine::{ArgumentChecker, failures};
use crate::headless::mcp::{self as cli_output, call};
use crate::headless::{EXIT_FAILED, EXIT_USAGE};
use crate::mcp::{CallResult, HubEvent, McpCall};
use crate::text::Clean;
use crate::text::suggest::nearest;
use anyhow::Result;
use serde_json::Value;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The only call of this process.
const CALL: CallId = CallId(1);
/// Minimum interval between progress lines when standard error is not a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The arguments as typed.
enum ArgumentInput {
    Json(Arguments),
    Pairs(Vec<String>),
}

pub async fn run_mcp_call(
    home: &Home,
    asked: mcp::CallArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let servers = configured_servers(home);
    let written = match find_server(&servers, &asked.server) {
        Ok(_) => parse_input(&asked.arguments),
        Err(why) => Err(why),
    };
    let written = match written {
        Ok(written) => written,
        Err(why) => {
            print_error_line(&cli_output::clean_line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    let chosen = servers
        .iter()
        .find(|server| server.id.as_str() == asked.server);
    let Some(mut server) = chosen.cloned() else {
        return Ok(EXIT_USAGE);
    };
    if !server.enabled && !matches!(server.launch, LaunchConfig::Misconfigured { .. }) {
        print_error_line(&cli_output::clean_line(&format!(
            "Server `{}` is off. It is started for this call only.",
            Clean::name(server.id.as_str())
        )));
        server.enabled = true;
    }
    init_log(home, &servers);
    let mut pool = ConnectedServers::open(home, vec![server], asked.patience.timeout, background)?;
    let code = call_on(&mut pool, &asked, written).await;
    pool.close().await;
    code
}

async fn call_on(
    pool: &mut ConnectedServers,
    asked: &mcp::CallArgs,
    written: ArgumentInput,
) -> Result<u8> {
    let stopped = pool.wait_until_connected().await;
    let Some(found) = pool.reports().pop() else {
        return Ok(EXIT_FAILED);
    };
    if let Err(StopReason::Signal(code)) = stopped {
        return Ok(code);
    }
    if found.server.status != ServerStatus::Connected {
        let why = found.problem().unwrap_or_default();
        print_error_line(&cli_output::clean_line(&why));
        if asked.json {
            print(&format!("{}\n", serde_json::json!({ "error": why })))?;
        }
        return Ok(EXIT_FAILED);
    }
    let (id, tools) = (&found.server.id, &found.server.tools);
    let Some(tool) = tools.iter().find(|tool| tool.name == asked.tool) else {
        let near = nearest(&asked.tool, tools.iter().map(|tool| tool.name.as_str()));
        print_error_line(&call::unknown_tool_line(id, &asked.tool, near, tools));
        return Ok(EXIT_USAGE);
    };
    let arguments = match checked_arguments(tool, written).await {
        Ok(arguments) => arguments,
        Err(why) => {
            print_error_line(&cli_output::clean_line(&why));
            let usage = tool_arguments::usage_text(tool);
            print_error_line(&cli_output::clean_line(&format!(
                "Usage: humble mcp call {id} {} {usage}",
                tool.name
            )));
            return Ok(EXIT_USAGE);
        }
    };
    if let Some(change) = pool.pin_change(&found.server, tool) {
        eprint(&call::render_definition_diff(&change));
        if !asked.accept_changed {
            print_error_line("Use --accept-changed to call it as it is now.");
            return Ok(EXIT_FAILED);
        }
    }
    if pool.is_blocked(&found.server, tool) {
        let name = &tool.name;
        print_error_line(&cli_output::clean_line(&format!(
            "`{name}` is blocked for models. It runs because you called it yourself."
        )));
    }
    let call = McpCall {
        id: CALL,
        server: id.clone(),
        tool: tool.name.clone(),
        arguments,
        pin: Some(tool.pin.clone()),
    };
    let (ran, stopped) = run_call(pool, call).await;
    let outcome = &ran.outcome;
    log_outcome(id, &tool.name, outcome);
    let exit_code = print_result(&tool.name, &ran, asked.json)?;
    Ok(match stopped {
        Some(StopReason::Signal(code)) => code,
        Some(StopReason::TimeOut) => EXIT_FAILED,
        None => exit_code,
    })
}

/// Prints the result of a call, and returns the exit code that stands for it.
fn print_result(tool: &str, ran: &CallResult, is_json: bool) -> Result<u8> {
    let ended = call::render_call(tool, &ran.outcome, ran.result.as_ref(), is_json);
    eprint(&ended.err);
    match io::stdout().is_terminal() {
        true => print(Clean::new(&ended.out).as_str())?,
        false => print(&ended.out)?,
    }
    Ok(ended.code)
}

fn log_outcome(id: &ServerId, tool: &str, outcome: &ToolOutcome) {
    tracing::debug!(server = %id, tool, ?outcome, "tool result");
    failures::log_outcome(id, tool, outcome, false);
}

fn eprint(text: &str) {
    use std::io::Write;
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Runs the call; a signal or the deadline cancels it at its server.
async fn run_call(pool: &mut ConnectedServers, call: McpCall) -> (CallResult, Option<StopReason>) {
    let cancel = CancellationToken::new();
    let (tool, began) = (call.tool.clone(), Instant::now());
    let mut running = pool.hub.call_with_result(call, cancel.clone());
    let deadline = pool.deadline();
    let (mut stopped, mut last_line) = (None, None);
    pool.status
        .set(cli_output::clean_line(&format!("Waiting for {tool}")));
    let mut latest = None;
    let mut is_stuck = pin!(pool.wait_until_stuck());
    let mut ran = loop {
        tokio::select! {
            biased;
            ran = &mut running => break ran,
            () = &mut is_stuck, if stopped.is_some() => break ToolOutcome::Interrupted.into(),
            code = pool.signals.next(), if stopped.is_none() => {
                stopped = Some(StopReason::Signal(code));
                cancel.cancel();
            }
            () = sleep_until_deadline(deadline), if stopped.is_none() => {
                stopped = Some(StopReason::TimeOut);
                cancel.cancel();
            }
            event = pool.events.recv() => match event {
                Some(HubEvent::Progress { progress, .. }) => {
                    // As on the screen, progress never goes backward.
                    let progress = progress.following(latest.as_ref());
                    let line = call::progress_line(&tool, &progress);
                    latest = Some(progress);
                    let is_due = last_line.is_none_or(|last: Instant| last.elapsed() >= PROGRESS_INTERVAL);
                    if !pool.status.is_terminal() && is_due {
                        print_error_line(&line);
                        last_line = Some(Instant::now());
                    }
                    pool.status.set(line);
                }
                Some(HubEvent::Noticed(notice)) => {
                    pool.status.clear();
                    print_error_line(&cli_output::notice_line(&notice));
                }
                Some(HubEvent::Changed(_)) | None => {}
            },
            () = pool.status.tick() => {}
        }
    };
    pool.status.clear();
    if stopped == Some(StopReason::TimeOut) && ran.outcome == ToolOutcome::Interrupted {
        ran = ToolOutcome::TimedOut {
            elapsed: began.elapsed(),
        }
        .into();
    }
    // A result that arrived before the cancellation counts.
    let is_cut = matches!(
        ran.outcome,
        ToolOutcome::Interrupted | ToolOutcome::TimedOut { .. }
    );
    (ran, stopped.filter(|_| is_cut))
}

async fn sleep_until_deadline(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// Parses the arguments as far as possible without the tool's schema.
fn parse_input(arguments: &[String]) -> Result<ArgumentInput, String> {
    let parse_object = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(ArgumentInput::Json(arguments)),
        Ok(_) => Err("The arguments must be a JSON object: { … }.".to_owned()),
        Err(fault) => Err(format!("The arguments are not valid JSON: {fault}.")),
    };
    match arguments {
        [] => Ok(ArgumentInput::Json(Arguments::new())),
        [one] if one == "-" => {
            let piped = read_pipe().map_err(|fault| format!("{fault:#}."))?;
            parse_object(&piped)
        }
        [one] if one.trim_start().starts_with(['{', '[']) => parse_object(one),
        pairs => tool_arguments::check_pairs(pairs).map(|()| ArgumentInput::Pairs(pairs.to_vec())),
    }
}

/// The arguments, if they satisfy the tool's schema or cannot be checked against it.
async fn checked_arguments(tool: &Tool, written: ArgumentInput) -> Result<Arguments, String> {
    let arguments = match written {
        ArgumentInput::Json(arguments) => arguments,
        ArgumentInput::Pairs(written) => tool_arguments::parse_arguments(tool, &written)?,
    };
    let check = ArgumentCheck {
        tool: Arc::new(tool.clone()),
        arguments: arguments.clone(),
    };
    match ArgumentChecker::default().run(vec![check]).await.pop() {
        Some(SchemaCheck::Valid) => Ok(arguments),
        Some(SchemaCheck::Invalid(why)) => {
            let name = &tool.name;
            Err(format!("The arguments do not fit `{name}`: {why}."))
        }
        Some(SchemaCheck::Unchecked) | None => {
            let name = &tool.name;
            print_error_line(&cli_output::clean_line(&format!(
                "The arguments were {UNCHECKED_LABEL} of `{name}`: its server decides."
            )));
            Ok(arguments)
        }
    }
}

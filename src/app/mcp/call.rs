//! `humble mcp call`: runs one tool. Typing the command is the approval.

use super::configured::{configured_servers, find_server, init_log};
use super::output::{print, print_to_stderr};
use super::server_pool::{ServerPool, StopReason};
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
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The only call of this process.
const CALL_ID: CallId = CallId(1);
/// Minimum interval between progress lines when standard error is not a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The arguments before the tool's schema is known.
enum ArgumentInput {
    Json(Arguments),
    Pairs(Vec<String>),
}

pub async fn run_mcp_call(
    home: &Home,
    args: mcp::CallArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let servers = configured_servers(home);
    let input = match find_server(&servers, &args.server) {
        Ok(_) => parse_input(&args.arguments),
        Err(why) => Err(why),
    };
    let input = match input {
        Ok(input) => input,
        Err(why) => {
            print_to_stderr(&cli_output::clean_line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    let server = servers
        .iter()
        .find(|server| server.id.as_str() == args.server);
    let Some(mut server) = server.cloned() else {
        return Ok(EXIT_USAGE);
    };
    if !server.enabled && !matches!(server.launch, LaunchConfig::Misconfigured { .. }) {
        print_to_stderr(&cli_output::clean_line(&format!(
            "Server `{}` is off. It is started for this call only.",
            Clean::name(server.id.as_str())
        )));
        server.enabled = true;
    }
    init_log(home, &servers);
    let mut pool = ServerPool::open(home, vec![server], args.timeout.limit, background)?;
    let code = connect_and_call(&mut pool, &args, input).await;
    pool.close().await;
    code
}

async fn connect_and_call(
    pool: &mut ServerPool,
    args: &mcp::CallArgs,
    input: ArgumentInput,
) -> Result<u8> {
    let wait_result = pool.wait_while_starting().await;
    let Some(report) = pool.reports().pop() else {
        return Ok(EXIT_FAILED);
    };
    if let Err(StopReason::Signal(code)) = wait_result {
        return Ok(code);
    }
    if report.server.status != ServerStatus::Connected {
        let why = report.problem().unwrap_or_default();
        print_to_stderr(&cli_output::clean_line(&why));
        if args.json {
            print(serde_json::json!({ "error": why }))?;
        }
        return Ok(EXIT_FAILED);
    }
    let (id, tools) = (&report.server.id, &report.server.tools);
    let Some(tool) = tools.iter().find(|tool| tool.name == args.tool) else {
        let near = nearest(&args.tool, tools.iter().map(|tool| tool.name.as_str()));
        print_to_stderr(&call::unknown_tool_line(id, &args.tool, near, tools));
        return Ok(EXIT_USAGE);
    };
    let arguments = match check_arguments(tool, input).await {
        Ok(arguments) => arguments,
        Err(why) => {
            print_to_stderr(&cli_output::clean_line(&why));
            let usage = tool_arguments::usage_text(tool);
            print_to_stderr(&cli_output::clean_line(&format!(
                "Usage: humble mcp call {id} {} {usage}",
                tool.name
            )));
            return Ok(EXIT_USAGE);
        }
    };
    if let Some(change) = pool.pin_change(&report.server, tool) {
        print_verbatim_to_stderr(&call::render_definition_diff(&change));
        if !args.accept_changed {
            print_to_stderr("Use --accept-changed to call it as it is now.");
            return Ok(EXIT_FAILED);
        }
    }
    if pool.is_blocked(&report.server, tool) {
        let name = &tool.name;
        print_to_stderr(&cli_output::clean_line(&format!(
            "`{name}` is blocked for models. It runs because you called it yourself."
        )));
    }
    let call = McpCall {
        id: CALL_ID,
        server: id.clone(),
        tool: tool.name.clone(),
        arguments,
        pin: Some(tool.pin.clone()),
        task: None,
    };
    let (result, stop_reason) = run_call(pool, call).await;
    let outcome = &result.outcome;
    log_outcome(id, &tool.name, outcome);
    let exit_code = print_result(&tool.name, &result, args.json)?;
    Ok(match stop_reason {
        Some(StopReason::Signal(code)) => code,
        Some(StopReason::Timeout) => EXIT_FAILED,
        None => exit_code,
    })
}

fn print_result(tool: &str, result: &CallResult, is_json: bool) -> Result<u8> {
    let mut outcome = result.outcome.clone();
    if let ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } = &mut outcome
        && !result.user_text.is_empty()
    {
        *text = format!("{text}\n{}", result.user_text);
    }
    let output = call::render_call(tool, &outcome, result.result.as_ref(), is_json);
    print_verbatim_to_stderr(&output.stderr);
    print(output.stdout)?;
    Ok(output.exit_code)
}

fn log_outcome(id: &ServerId, tool: &str, outcome: &ToolOutcome) {
    tracing::debug!(server = %id, tool, ?outcome, "tool result");
    failures::log_outcome(id, tool, outcome, false);
}

fn print_verbatim_to_stderr(text: &str) {
    use std::io::Write;
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A signal or the deadline cancels the call on the server. Returns the stop reason only
/// if the call was cut short.
async fn run_call(pool: &mut ServerPool, call: McpCall) -> (CallResult, Option<StopReason>) {
    let cancel = CancellationToken::new();
    let (tool, started_at) = (call.tool.clone(), Instant::now());
    let mut running = pool.hub.call_with_result(call, cancel.clone());
    let deadline = pool.deadline();
    let (mut stop_reason, mut last_line_at) = (None, None);
    pool.status
        .set(cli_output::clean_line(&format!("Waiting for {tool}")));
    let mut latest_progress = None;
    let mut runtime_stuck = pin!(pool.wait_until_stuck());
    let mut result = loop {
        tokio::select! {
            biased;
            result = &mut running => break result,
            () = &mut runtime_stuck, if stop_reason.is_some() => {
                break ToolOutcome::Interrupted.into();
            }
            code = pool.signals.next(), if stop_reason.is_none() => {
                stop_reason = Some(StopReason::Signal(code));
                cancel.cancel();
            }
            () = sleep_until_deadline(deadline), if stop_reason.is_none() => {
                stop_reason = Some(StopReason::Timeout);
                cancel.cancel();
            }
            event = pool.events.recv() => match event {
                Some(HubEvent::Progress { progress, .. }) => {
                    // As on the chat screen, progress never goes backward.
                    let progress = progress.following(latest_progress.as_ref());
                    let line = call::progress_line(&tool, &progress);
                    latest_progress = Some(progress);
                    let is_due = last_line_at.is_none_or(|at: Instant| at.elapsed() >= PROGRESS_INTERVAL);
                    if !pool.status.is_terminal() && is_due {
                        print_to_stderr(&line);
                        last_line_at = Some(Instant::now());
                    }
                    pool.status.set(line);
                }
                Some(HubEvent::Noticed(notice)) => {
                    pool.status.clear();
                    print_to_stderr(&cli_output::notice_line(&notice));
                }
                Some(event @ HubEvent::Requested { .. }) => pool.decline_request(event),
                Some(
                    HubEvent::Changed(_)
                    | HubEvent::RequestWithdrawn(_)
                    | HubEvent::TaskStarted { .. },
                )
                | None => {}
            },
            () = pool.status.tick() => {}
        }
    };
    pool.status.clear();
    if stop_reason == Some(StopReason::Timeout) && result.outcome == ToolOutcome::Interrupted {
        result = ToolOutcome::TimedOut {
            elapsed: started_at.elapsed(),
        }
        .into();
    }
    // A result that arrived before the cancellation still counts.
    let was_cut_short = matches!(
        result.outcome,
        ToolOutcome::Interrupted | ToolOutcome::TimedOut { .. }
    );
    (result, stop_reason.filter(|_| was_cut_short))
}

async fn sleep_until_deadline(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// Parses the arguments as far as possible before the tool's schema is known.
fn parse_input(arguments: &[String]) -> Result<ArgumentInput, String> {
    let parse_object = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => {
            let arguments = Arguments::from(arguments).with_digits_of(text);
            Ok(ArgumentInput::Json(arguments))
        }
        Ok(_) => Err("The arguments must be a JSON object: { … }.".to_owned()),
        Err(error) => Err(format!("The arguments are not valid JSON: {error}.")),
    };
    match arguments {
        [] => Ok(ArgumentInput::Json(Arguments::new())),
        [one] if one == "-" => {
            let piped = read_pipe().map_err(|error| format!("{error:#}."))?;
            parse_object(&piped)
        }
        [one] if one.trim_start().starts_with(['{', '[']) => parse_object(one),
        pairs => tool_arguments::check_pairs(pairs).map(|()| ArgumentInput::Pairs(pairs.to_vec())),
    }
}

/// Returns the arguments, if they satisfy the tool's schema or cannot be checked against it.
async fn check_arguments(tool: &Tool, input: ArgumentInput) -> Result<Arguments, String> {
    let arguments = match input {
        ArgumentInput::Json(arguments) => arguments,
        ArgumentInput::Pairs(pairs) => tool_arguments::parse_arguments(tool, &pairs)?,
    };
    let check = ArgumentCheck {
        tool: Arc::new(tool.clone()),
        arguments: arguments.clone(),
        may_repair: false,
    };
    match ArgumentChecker::default().run(vec![check]).await.pop() {
        Some(SchemaCheck::Valid | SchemaCheck::Repaired { .. }) => Ok(arguments),
        Some(SchemaCheck::Invalid(why)) => {
            let name = &tool.name;
            Err(format!("The arguments do not fit `{name}`: {why}."))
        }
        Some(SchemaCheck::Unchecked) | None => {
            let name = &tool.name;
            print_to_stderr(&cli_output::clean_line(&format!(
                "The arguments were {UNCHECKED_LABEL} of `{name}`. The server may reject them."
            )));
            Ok(arguments)
        }
    }
}

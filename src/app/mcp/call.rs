//! `humble mcp call`: typing it is the approval.

use super::configured::{configured, find, log_to};
use super::output::{print, say};
use super::server_pool::{ConnectedServers, Stop};
use crate::app::piped::read_pipe;
use crate::app::watchdog::Background;
use crate::cli::mcp;
use crate::cli::tool_arguments;
use crate::config::Home;
use crate::domain::schema::UNCHECKED;
use crate::domain::{
    ArgumentCheck, Arguments, CallId, Launch, SchemaCheck, ServerId, ServerStatus, Tool,
    ToolOutcome,
};
use crate::engine::{ArgumentChecker, failures};
use crate::headless::mcp::{self as words, call};
use crate::headless::{EXIT_FAILED, EXIT_USAGE};
use crate::mcp::{Call, CallResult, HubEvent};
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

/// The one call there is.
const CALL: CallId = CallId(1);
/// Progress that goes to a file is told this often at most.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// The arguments as they were written.
enum Written {
    Whole(Arguments),
    Pairs(Vec<String>),
}

pub async fn run(home: &Home, asked: mcp::Call, background: &Background) -> Result<u8> {
    let servers = configured(home);
    let written = match find(&servers, &asked.server) {
        Ok(_) => written(&asked.arguments),
        Err(why) => Err(why),
    };
    let written = match written {
        Ok(written) => written,
        Err(why) => {
            say(&words::line(&why));
            return Ok(EXIT_USAGE);
        }
    };
    let chosen = servers
        .iter()
        .find(|server| server.id.as_str() == asked.server);
    let Some(mut server) = chosen.cloned() else {
        return Ok(EXIT_USAGE);
    };
    if !server.enabled && !matches!(server.launch, Launch::Misconfigured { .. }) {
        say(&words::line(&format!(
            "Server `{}` is off: it is started for this call.",
            Clean::name(server.id.as_str())
        )));
        server.enabled = true;
    }
    log_to(home, &servers);
    let mut pool = ConnectedServers::open(home, vec![server], asked.patience.timeout, background)?;
    let code = at(&mut pool, &asked, written).await;
    pool.close().await;
    code
}

async fn at(pool: &mut ConnectedServers, asked: &mcp::Call, written: Written) -> Result<u8> {
    let stopped = pool.settle().await;
    let Some(found) = pool.found().pop() else {
        return Ok(EXIT_FAILED);
    };
    if let Err(Stop::Signal(code)) = stopped {
        return Ok(code);
    }
    if found.server.status != ServerStatus::Connected {
        let why = found.fault().unwrap_or_default();
        say(&words::line(&why));
        if asked.json {
            print(&format!("{}\n", serde_json::json!({ "error": why })))?;
        }
        return Ok(EXIT_FAILED);
    }
    let (id, tools) = (&found.server.id, &found.server.tools);
    let Some(tool) = tools.iter().find(|tool| tool.name == asked.tool) else {
        let near = nearest(&asked.tool, tools.iter().map(|tool| tool.name.as_str()));
        say(&call::no_tool(id, &asked.tool, near, tools));
        return Ok(EXIT_USAGE);
    };
    let arguments = match fitting(tool, written).await {
        Ok(arguments) => arguments,
        Err(why) => {
            say(&words::line(&why));
            let usage = tool_arguments::usage(tool);
            say(&words::line(&format!(
                "Usage: humble mcp call {id} {} {usage}",
                tool.name
            )));
            return Ok(EXIT_USAGE);
        }
    };
    if let Some(change) = pool.change(&found.server, tool) {
        eprint(&call::changed(&change));
        if !asked.accept_changed {
            say("--accept-changed calls it as it is now.");
            return Ok(EXIT_FAILED);
        }
    }
    if pool.is_never(&found.server, tool) {
        let name = &tool.name;
        say(&words::line(&format!(
            "You ruled `{name}` out for models: this call is yours, and runs."
        )));
    }
    let call = Call {
        id: CALL,
        server: id.clone(),
        tool: tool.name.clone(),
        arguments,
        pin: Some(tool.pin.clone()),
    };
    let (ran, stopped) = watch(pool, call).await;
    let outcome = &ran.outcome;
    log_outcome(id, &tool.name, outcome);
    let ended = call::printed(&tool.name, &ran.outcome, ran.result.as_ref(), asked.json);
    eprint(&ended.err);
    match io::stdout().is_terminal() {
        true => print(Clean::new(&ended.out).as_str())?,
        false => print(&ended.out)?,
    }
    Ok(match stopped {
        Some(Stop::Signal(code)) => code,
        Some(Stop::TimeOut) => EXIT_FAILED,
        None => ended.code,
    })
}

fn log_outcome(id: &ServerId, tool: &str, outcome: &ToolOutcome) {
    tracing::debug!(server = %id, tool, ?outcome, "tool result");
    failures::log_outcome(id, tool, outcome, false);
}

fn eprint(text: &str) {
    use std::io::Write;
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Runs the call to its end; a signal or the deadline cancels it at its server.
async fn watch(pool: &mut ConnectedServers, call: Call) -> (CallResult, Option<Stop>) {
    let cancel = CancellationToken::new();
    let (tool, began) = (call.tool.clone(), Instant::now());
    let mut running = pool.hub.call_whole(call, cancel.clone());
    let deadline = pool.deadline();
    let (mut stopped, mut told) = (None, None);
    pool.status.set(words::line(&format!("Waiting for {tool}")));
    let mut so_far = None;
    let mut is_stuck = pin!(pool.is_stuck());
    let mut ran = loop {
        tokio::select! {
            biased;
            ran = &mut running => break ran,
            () = &mut is_stuck, if stopped.is_some() => break ToolOutcome::Interrupted.into(),
            code = pool.signals.next(), if stopped.is_none() => {
                stopped = Some(Stop::Signal(code));
                cancel.cancel();
            }
            () = until(deadline), if stopped.is_none() => {
                stopped = Some(Stop::TimeOut);
                cancel.cancel();
            }
            event = pool.events.recv() => match event {
                Some(HubEvent::Progress { progress, .. }) => {
                    // As on the screen, it never goes back.
                    let progress = progress.after(so_far.as_ref());
                    let line = call::progress(&tool, &progress);
                    so_far = Some(progress);
                    let is_time = told.is_none_or(|told: Instant| told.elapsed() >= TOLD_EVERY);
                    if !pool.status.is_terminal() && is_time {
                        say(&line);
                        told = Some(Instant::now());
                    }
                    pool.status.set(line);
                }
                Some(HubEvent::Noticed(notice)) => {
                    pool.status.clear();
                    say(&words::sentence(&notice));
                }
                Some(HubEvent::Changed(_)) | None => {}
            },
            () = pool.status.tick() => {}
        }
    };
    pool.status.clear();
    if stopped == Some(Stop::TimeOut) && ran.outcome == ToolOutcome::Interrupted {
        ran = ToolOutcome::TimedOut {
            elapsed: began.elapsed(),
        }
        .into();
    }
    // An answer that came first counts.
    let is_cut = matches!(
        ran.outcome,
        ToolOutcome::Interrupted | ToolOutcome::TimedOut { .. }
    );
    (ran, stopped.filter(|_| is_cut))
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// What was written, as far as that can be said without the tool.
fn written(arguments: &[String]) -> Result<Written, String> {
    let whole = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(Written::Whole(arguments)),
        Ok(_) => Err("The arguments are no JSON object: { … }.".to_owned()),
        Err(fault) => Err(format!("The arguments are no JSON: {fault}.")),
    };
    match arguments {
        [] => Ok(Written::Whole(Arguments::new())),
        [one] if one == "-" => {
            let piped = read_pipe().map_err(|fault| format!("{fault:#}."))?;
            whole(&piped)
        }
        [one] if one.trim_start().starts_with(['{', '[']) => whole(one),
        pairs => tool_arguments::check(pairs).map(|()| Written::Pairs(pairs.to_vec())),
    }
}

/// The arguments, once they satisfy the schema of the tool, or cannot be checked.
async fn fitting(tool: &Tool, written: Written) -> Result<Arguments, String> {
    let arguments = match written {
        Written::Whole(arguments) => arguments,
        Written::Pairs(written) => tool_arguments::arguments(tool, &written)?,
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
            say(&words::line(&format!(
                "The arguments were {UNCHECKED} of `{name}`: its server decides."
            )));
            Ok(arguments)
        }
    }
}

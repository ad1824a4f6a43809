//! The chat without the screen.

use super::watchdog::BackgroundRuntime;
use super::{resume_line, start_engine, stop_engine};
use crate::config::Home;
use crate::demo;
use crate::engine::{EngineHandle, EngineOptions};
use crate::headless::EXIT_USAGE;
use crate::linear::{self, LinearEnd, LinearOptions};
use crate::provider::Provider;
use anyhow::{Context, Result};
use std::io::IsTerminal;

pub async fn run(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    resume_command: &str,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let Some(end) = run_chat(home, provider, options, None, background).await? else {
        return Ok(EXIT_USAGE);
    };
    if let (0, Some(title)) = (end.code, &end.saved_title) {
        let line = resume_line::resume_line(resume_command, title, end.columns);
        println!("{line}");
    }
    Ok(end.code)
}

/// The demo without its tour, which is about keys: the prompts that the script answers are listed.
pub async fn run_demo(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let greeting = format!(
        "This is a demo: a script answers instead of a model. Try these messages:\n{}\n{}\n{}",
        demo::QUESTION,
        demo::STORY,
        demo::CONNECT
    );
    let end = run_chat(home, provider, options, Some(greeting), background).await?;
    Ok(end.map_or(EXIT_USAGE, |end| end.code))
}

/// Returns `None` without a terminal.
async fn run_chat(
    home: Home,
    provider: Provider,
    options: EngineOptions,
    greeting: Option<String>,
    background: &BackgroundRuntime,
) -> Result<Option<LinearEnd>> {
    let is_terminal = std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal();
    if !is_terminal {
        eprintln!("humble --linear is a chat and needs a terminal for input, output and errors.");
        eprintln!("For one answer in a script or a pipe: humble ask \"your question\"");
        return Ok(None);
    }
    let linear_options = LinearOptions {
        opens_session: options.initial_session.is_some(),
        is_dumb: std::env::var("TERM").is_ok_and(|term| term == "dumb"),
        greeting,
    };
    let EngineHandle {
        commands,
        events,
        task,
    } = start_engine(home, provider, options, background);
    let end = linear::run(commands, events, linear_options).await;
    stop_engine(task, background).await;
    end.map(Some).context("could not use the terminal")
}

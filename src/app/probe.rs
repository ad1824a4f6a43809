//! `humble probe`: finds the dialect that a model follows best and, if the user agrees,
//! saves it.

use crate::app::output::print;
use crate::app::process_secrets;
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::{GlobalArgs, ProbeArgs};
use crate::config::{self, Home, Settings};
use crate::domain::probe::{ProbeReport, ProbeVerdict};
use crate::domain::{Dialect, ModelConfig};
use crate::engine::{self, ProbeEvent};
use crate::headless::lines::{clean_line, notice_line};
use crate::headless::signals::ExitSignals;
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE, probe as cli_output};
use crate::log;
use anyhow::{Context, Result};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the elapsed time is redrawn.
const TICK: Duration = Duration::from_secs(1);
const WRITE_ERROR: &str = "could not write the result";

/// Runs the command and returns the exit status.
///
/// # Errors
/// The signal handlers could not be installed, or the result could not be written.
pub async fn run(
    home: &Home,
    global: GlobalArgs,
    args: ProbeArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    if global.no_tools {
        eprintln!("`humble probe` needs tools: remove --no-tools.");
        return Ok(EXIT_USAGE);
    }
    if global.persona.is_some() {
        eprintln!("`humble probe` tests the model without a persona: remove --persona.");
        return Ok(EXIT_USAGE);
    }
    let mut banners = home.prepare();
    let log = log::init(
        &home.logs(),
        tracing::Level::INFO,
        process_secrets::secrets(),
        |_| {},
    );
    let settings = config::read_settings(home);
    log.set_level(settings.value.log_level);
    process_secrets::secrets().add(settings.value.config_secrets());
    let prompt = config::read_system_prompt(home);
    banners.extend(settings.banners);
    banners.extend(prompt.banners);
    for banner in &banners {
        eprintln!("{}", notice_line(&banner.notice));
    }
    let settings = settings.value;
    let model = match select_model(home, &settings, global.model.as_deref()) {
        Ok(model) => model,
        Err(code) => return Ok(code),
    };
    let provider = process_secrets::network_provider();
    let probe = engine::DialectProbe {
        built_in_server: super::built_in_server(home, settings.built_in_tools(), provider.clone()),
        provider,
        model: Arc::new(model.clone()),
        system_prompt: prompt.value.into(),
        num_ctx: 0,
        approved_num_ctx: 0,
        idle_seconds: settings.limits.idle_seconds,
    };
    let mut signals = ExitSignals::install().context("could not install signal handlers")?;
    let report = ProbeReport::new(model.reference(), model.dialect);
    let (report, signal) = run_probe(probe, report, &mut signals, background).await;
    if let Some(notice) = &report.error {
        eprintln!("{}", notice_line(notice));
    }
    if !args.json {
        print(cli_output::render_text(&report)).context(WRITE_ERROR)?;
    }
    let saved = match (signal, report.recommended_dialect()) {
        (None, Some(dialect)) => save(home, &args, &report, dialect, &mut signals).await,
        _ => Ok(DialectSaveOutcome::NotSaved),
    };
    if args.json {
        let is_saved = matches!(saved, Ok(DialectSaveOutcome::Saved));
        print(cli_output::render_json(&report, is_saved)).context(WRITE_ERROR)?;
    }
    let is_successful = report.verdict() == ProbeVerdict::Works && report.error.is_none();
    Ok(match (signal, saved) {
        (Some(code), _) | (None, Err(code)) => code,
        (None, Ok(DialectSaveOutcome::Failed)) => EXIT_FAILED,
        _ if is_successful => EXIT_SUCCESS,
        _ => EXIT_FAILED,
    })
}

/// The model called `name`, or the active one. If there is no such model, prints the reason; the
/// error is the exit status.
fn select_model(home: &Home, settings: &Settings, name: Option<&str>) -> Result<ModelConfig, u8> {
    let models = &settings.models;
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    let names = names.join(", ");
    if let Some(name) = name {
        return settings.find_model(name).cloned().ok_or_else(|| {
            let mut message = format!("There is no model `{name}` in config.json.");
            if !models.is_empty() {
                message += &format!(" It lists: {names}.");
            }
            eprintln!("{}", clean_line(&message));
            EXIT_USAGE
        });
    }
    settings.active_model().cloned().ok_or_else(|| {
        let message = if models.is_empty() {
            let file = home.config();
            format!(
                "No model is listed in {} yet: start `humble` to choose one.",
                file.display()
            )
        } else {
            format!("No active model is configured. Name one with --model: {names}.")
        };
        eprintln!("{}", clean_line(&message));
        EXIT_FAILED
    })
}

/// Also returns the exit status for the signal, if one arrived.
async fn run_probe(
    probe: engine::DialectProbe,
    mut report: ProbeReport,
    signals: &mut ExitSignals,
    background: &BackgroundRuntime,
) -> (ProbeReport, Option<u8>) {
    let mut running = probe.start(&background.runtime);
    let mut status_line = ProbeStatusLine::new();
    let mut ticks = tokio::time::interval(TICK);
    let signal = loop {
        tokio::select! {
            biased;
            code = signals.next() => {
                report.trials.extend(running.take_finished_trials());
                report.is_partial = true;
                break Some(code);
            }
            event = running.next_event() => match event {
                ProbeEvent::TrialFinished(trial) => report.trials.push(trial),
                ProbeEvent::TrialStarted(dialect) => status_line.show_dialect(dialect),
                ProbeEvent::ModelLoading => status_line.show_step("Loading the model".to_owned()),
                ProbeEvent::ModelLoaded => status_line.show_step("Waiting for its answer".to_owned()),
                ProbeEvent::Finished(result) => {
                    report.is_partial = result.is_err();
                    report.error = result.err();
                    break None;
                }
            },
            _ = ticks.tick() => status_line.draw(),
        }
    };
    status_line.clear();
    (report, signal)
}

enum DialectSaveOutcome {
    Saved,
    NotSaved,
    Failed,
}

/// Saves the recommended dialect if the user agrees, now or with `--save`. The error is the exit
/// status for a signal.
async fn save(
    home: &Home,
    args: &ProbeArgs,
    report: &ProbeReport,
    dialect: Dialect,
    signals: &mut ExitSignals,
) -> Result<DialectSaveOutcome, u8> {
    let is_wanted = match (args.save, args.json || args.no_save) {
        (true, _) => true,
        (false, true) => false,
        (false, false) => {
            let answer = cli_output::confirm_save(report, dialect, signals).await?;
            if answer != Some(true) {
                let hint = answer.map_or(" Use --save to save it.", |_| "");
                eprintln!("Nothing was saved.{hint}");
            }
            answer == Some(true)
        }
    };
    if !is_wanted {
        return Ok(DialectSaveOutcome::NotSaved);
    }
    Ok(match config::set_tool_calls(home, &report.model, dialect) {
        Ok(()) => {
            let (name, dialect) = (&report.model.name, dialect.name());
            let message = format!("Saved `{dialect}` as `toolCalls` of {name} in config.json.");
            eprintln!("{}", clean_line(&message));
            DialectSaveOutcome::Saved
        }
        Err(error) => {
            eprintln!("{}", notice_line(&error.notice()));
            DialectSaveOutcome::Failed
        }
    })
}

/// Shows the current step on standard error. On a terminal, one line is updated in place; otherwise
/// each step prints a line.
struct ProbeStatusLine {
    is_terminal: bool,
    text: String,
    step_started_at: Instant,
}

impl ProbeStatusLine {
    fn new() -> Self {
        Self {
            is_terminal: io::stderr().is_terminal(),
            text: String::new(),
            step_started_at: Instant::now(),
        }
    }

    fn show_dialect(&mut self, dialect: Dialect) {
        self.show_step(format!("Trying `{}`", dialect.name()));
    }

    fn show_step(&mut self, text: String) {
        self.text = text;
        self.step_started_at = Instant::now();
        if !self.is_terminal {
            eprintln!("{} …", self.text);
        }
        self.draw();
    }

    fn draw(&self) {
        if self.is_terminal && !self.text.is_empty() {
            let seconds = self.step_started_at.elapsed().as_secs();
            eprint!("\r{} … {seconds} s\x1b[K", self.text);
        }
    }

    fn clear(&self) {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
    }
}

//! `humble doctor`: checks the settings, the model servers, the MCP servers, the notes and the terminal,
//! and says what to do. Changes no settings and calls no tool.

mod models;
mod report;
mod servers;
mod settings;
mod terminal;

use crate::app::mcp::configured::init_log;
use crate::app::mcp::output::{print, stdout_columns};
use crate::app::process_secrets;
use crate::app::watchdog::BackgroundRuntime;
use crate::cli::{DoctorArgs, GlobalArgs};
use crate::config::{ConfigLoad, Home};
use crate::headless::{EXIT_FAILED, EXIT_SUCCESS, EXIT_USAGE};
use anyhow::Result;
use report::Check;
use terminal::TerminalFacts;

/// Runs the checks and returns the exit status.
///
/// # Errors
/// The signal handlers could not be installed, or the result could not be written.
pub async fn run(
    home: &Home,
    global: &GlobalArgs,
    args: &DoctorArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    if let Some(flag) = global.model_flag() {
        eprintln!("`humble doctor` checks all models: remove {flag}.");
        return Ok(EXIT_USAGE);
    }
    let home_check = settings::home_check(home);
    let load = ConfigLoad::from_files(home);
    init_log(home, &load.snapshot.servers);
    let provider = process_secrets::network_provider();
    let models = models::model_checks(&load, &provider);
    let servers = async {
        match global.no_tools {
            true => Ok((vec![servers_skipped()], None)),
            false => servers::server_checks(home, load.snapshot.servers.clone(), background).await,
        }
    };
    let (models, servers) = tokio::join!(models, servers);
    let (servers, signal) = servers?;
    let terminal = TerminalFacts::detect().checks(load.snapshot.settings.ui);
    let checks = [
        vec![home_check],
        settings::file_checks(home, &load),
        models,
        servers,
        vec![settings::vault_check(&load)],
        terminal,
    ]
    .concat();
    let redact = |text: &str| process_secrets::secrets().redact(text);
    match args.json {
        true => report::checks_json(&checks, redact).try_for_each(print)?,
        false => print(report::render_text(&checks, stdout_columns(), redact))?,
    }
    Ok(match signal {
        Some(code) => code,
        None if report::has_problem(&checks) => EXIT_FAILED,
        None => EXIT_SUCCESS,
    })
}

fn servers_skipped() -> Check {
    let advice = "Run it without --no-tools to check them.";
    Check::skipped("MCP servers", "--no-tools was given.", advice)
}

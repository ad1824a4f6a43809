//! `humble completions`.

use crate::app::output::print;
use crate::cli::Cli;
use crate::headless::EXIT_SUCCESS;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::{Shell, generate};

pub(super) fn run(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "humble", &mut script);
    let script = String::from_utf8(script).context("the script is not UTF-8")?;
    print(script).context("could not write the script")?;
    Ok(EXIT_SUCCESS)
}

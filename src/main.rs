//! Parses the command line and runs it.

#![forbid(unsafe_code)]

use clap::Parser;
use humble::app;
use humble::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    match app::run(Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("humble: {error:#}");
            ExitCode::FAILURE
        }
    }
}

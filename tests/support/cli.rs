//! Runs the built program without a terminal.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program in this home, with no input and captured output.
pub fn humble(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
    command.arg("--home").arg(home).args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn run(home: &Path, arguments: &[&str]) -> Output {
    humble(home, arguments).output().expect("the program runs")
}

pub fn stdout_of(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

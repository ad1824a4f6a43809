//! What comes through standard input.

use crate::domain::Prompt;
use anyhow::{Context, Result};
use std::io::{IsTerminal, Read};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// From when on it is said that standard input is being read.
const PIPE_HINT_DELAY: Duration = Duration::from_secs(1);
/// What is read from a pipe at most.
const PIPE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The prompt: the words, and what came through a pipe as context; `-` alone is
/// what came through the pipe. None where nothing was said.
pub(super) fn read_prompt(words: &[String]) -> Result<Option<Prompt>> {
    let said = words.join(" ");
    let stdin = std::io::stdin();
    let piped = if stdin.is_terminal() && said != "-" {
        String::new()
    } else {
        read_pipe()?
    };
    let said = if said == "-" { "" } else { said.trim() };
    let piped = piped.trim_end();
    Ok(match (said.is_empty(), piped.trim().is_empty()) {
        (true, true) => None,
        (false, true) => Some(Prompt::new(said)),
        (_, false) => Some(Prompt::with_piped_context(said, piped)),
    })
}

/// All of standard input. Whoever left it open without meaning to is told why
/// nothing happens.
pub(super) fn read_pipe() -> Result<String> {
    let (done, waited) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if waited.recv_timeout(PIPE_HINT_DELAY) == Err(RecvTimeoutError::Timeout) {
            eprintln!("Reading standard input … (`< /dev/null` where nothing is to be read)");
        }
    });
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(PIPE_BYTES_MAX + 1);
    let read = input.read_to_end(&mut bytes);
    drop(done);
    read.context("standard input could not be read")?;
    anyhow::ensure!(
        bytes.len() as u64 <= PIPE_BYTES_MAX,
        "more than {} MB came through the pipe: cut it down first",
        PIPE_BYTES_MAX / (1024 * 1024)
    );
    String::from_utf8(bytes).context("what came through the pipe is not UTF-8 text")
}

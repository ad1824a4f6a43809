//! Reading standard input to its end.

use anyhow::{Context, Result};
use std::io::Read;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// From when on it is said that standard input is being read.
const PIPE_SILENT: Duration = Duration::from_secs(1);
/// What is read from a pipe at most.
const PIPE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// All of standard input. Whoever left it open without meaning to is told why
/// nothing happens.
pub fn read_pipe() -> Result<String> {
    let (done, waited) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if waited.recv_timeout(PIPE_SILENT) == Err(RecvTimeoutError::Timeout) {
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

//! The demo that the first-run chooser starts.

use anyhow::{Context, Result};
use std::path::PathBuf;

/// Replaces this process with the demo, so that no state carries over. Where a process cannot be
/// replaced, runs the demo as a child process.
pub(super) fn exec_demo(home: Option<PathBuf>) -> Result<u8> {
    let program = std::env::current_exe().context("could not find this program's executable")?;
    let mut command = std::process::Command::new(program);
    if let Some(home) = home {
        command.arg("--home").arg(home);
    }
    command.arg("demo");
    let error_context = "could not start the demo: try `humble demo`";
    // Not a child process: this process's terminal reader would steal keys from it.
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut command)).context(error_context);
    #[cfg(not(unix))]
    {
        let status = command.status().context(error_context)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.unwrap_or(crate::headless::EXIT_FAILED))
    }
}

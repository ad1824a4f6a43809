//! The demo that the first-run chooser starts.

use anyhow::{Context, Result};
use std::path::PathBuf;

/// Runs the demo as a new process, so that it inherits no state from this one.
pub(super) fn exec_demo(home: Option<PathBuf>) -> Result<u8> {
    let program = std::env::current_exe().context("could not find this program's executable")?;
    let mut command = std::process::Command::new(program);
    if let Some(home) = home {
        command.arg("--home").arg(home);
    }
    command.arg("demo");
    let error_context = "could not start the demo: try `humble demo`";
    // Replaces this process: its terminal reader would otherwise steal keys from the demo.
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut command)).context(error_context);
    #[cfg(not(unix))]
    {
        let status = command.status().context(error_context)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.unwrap_or(crate::headless::EXIT_FAILED))
    }
}

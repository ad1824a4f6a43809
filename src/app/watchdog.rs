//! The background runtime, and a watchdog that runs on it and watches the front end's thread. In
//! the other direction, each front end itself watches the engine.

use crate::headless::signals::ExitSignals;
use crate::headless::tty_reader;
use crate::mcp::ProcessGroups;
use crate::tui;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// How long a runtime may take to run an empty task.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(500);
/// Number of consecutive missed deadlines after which a runtime counts as stuck. A single miss
/// proves nothing: when a suspended program resumes, all timers are due at once.
const MISSED_MAX: u32 = 2;
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// How long the front end is watched after a signal: longer than an orderly shutdown. A
/// signal need not end the program, for example Ctrl+C in an external editor.
const WATCH_MAX: Duration = Duration::from_secs(12);

/// The runtime of the engine and the MCP servers, and the servers' process groups.
#[derive(Debug, Clone)]
pub struct BackgroundRuntime {
    pub runtime: Handle,
    pub process_groups: ProcessGroups,
}

impl BackgroundRuntime {
    /// Ends the program on a signal if the front end's thread is stuck, for example in a
    /// write to a pipe that no one reads. Call this on that thread. It is needed once the front
    /// end handles signals itself, which disables their default action.
    pub fn watch_front_end(&self) {
        let (front_end, process_groups) = (Handle::current(), self.process_groups.clone());
        self.runtime.spawn(async move {
            // Without handlers, the default action of the signals ends the program.
            let Ok(mut signals) = ExitSignals::install() else {
                return;
            };
            loop {
                let code = signals.next().await;
                if timeout(WATCH_MAX, wait_until_unresponsive(&front_end))
                    .await
                    .is_ok()
                {
                    tui::restore();
                    tty_reader::restore();
                    process_groups.kill_all();
                    std::process::exit(code.into());
                }
            }
        });
    }

    /// Resolves once the runtime has not responded for about a second.
    pub async fn wait_until_stuck(&self) {
        wait_until_unresponsive(&self.runtime).await;
    }
}

async fn wait_until_unresponsive(runtime: &Handle) {
    let mut missed_count = 0;
    while missed_count < MISSED_MAX {
        match timeout(RESPONSE_TIMEOUT, runtime.spawn(async {})).await {
            Ok(_) => {
                missed_count = 0;
                sleep(CHECK_INTERVAL).await;
            }
            Err(_) => missed_count += 1,
        }
    }
}

//! What runs behind a front end, and the watch that it keeps over the front end's thread.
//! The front end leaves an engine that does not respond; this is the reverse.

use crate::headless::signals::ExitSignals;
use crate::mcp::ProcessGroups;
use crate::tui;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// How long a runtime may take to run a task that does nothing.
const RESPONSE_DEADLINE: Duration = Duration::from_millis(500);
/// Missed responses in a row that make a runtime stuck. After a suspended program goes on,
/// all timers are due at once, so one miss proves nothing.
const MISSED_MAX: u32 = 2;
/// The pause between two such tasks.
const PING_INTERVAL: Duration = Duration::from_millis(200);
/// How long the front end is watched after a signal: longer than an orderly end takes. A
/// signal need not end the program, as with Ctrl+C in an external editor.
const WATCH_MAX: Duration = Duration::from_secs(12);

/// The runtime of the engine and of the MCP servers, and the servers' process groups.
#[derive(Debug, Clone)]
pub struct BackgroundRuntime {
    pub runtime: Handle,
    pub process_groups: ProcessGroups,
}

impl BackgroundRuntime {
    /// Ends the program on a signal where the front end's thread is stuck, as in a write
    /// to a pipe that nobody reads. To be called on that thread once it handles signals
    /// itself, so that it has nothing else that would end the program.
    pub fn watch_front_end(&self) {
        let (front_end, groups) = (Handle::current(), self.process_groups.clone());
        self.runtime.spawn(async move {
            // Where signals cannot be heard, their default action stays.
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
                    groups.kill_all();
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
    let mut missed = 0;
    while missed < MISSED_MAX {
        match timeout(RESPONSE_DEADLINE, runtime.spawn(async {})).await {
            Ok(_) => {
                missed = 0;
                sleep(PING_INTERVAL).await;
            }
            Err(_) => missed += 1,
        }
    }
}

//! What runs behind a front end, and the watch that it keeps over the front end's thread.
//! The front end leaves an engine that does not respond; this is the reverse.

use crate::headless::signals::Signals;
use crate::mcp::ProcessGroups;
use crate::tui;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// How long the front end's thread may take to do nothing.
const RESPONSE_MAX: Duration = Duration::from_secs(1);
/// How often it is asked to.
const EVERY: Duration = Duration::from_millis(200);

/// The runtime of the engine and of the MCP servers, and the servers' process groups.
#[derive(Debug, Clone)]
pub struct Background {
    pub runtime: Handle,
    pub process_groups: ProcessGroups,
}

impl Background {
    /// Ends the program on a signal where the front end's thread is stuck, as in a write
    /// to a pipe that nobody reads. To be called on that thread once it handles signals
    /// itself, so that it has nothing else that would end the program.
    pub fn watch_front_end(&self) {
        let (front_end, groups) = (Handle::current(), self.process_groups.clone());
        self.runtime.spawn(async move {
            // Where signals cannot be heard, their default action stays.
            let Ok(mut signals) = Signals::install() else {
                return;
            };
            let code = signals.next().await;
            is_stuck(&front_end).await;
            tui::restore();
            groups.kill_all();
            std::process::exit(code.into());
        });
    }

    /// Resolves once the runtime has not responded for a second.
    pub async fn is_stuck(&self) {
        is_stuck(&self.runtime).await;
    }
}

async fn is_stuck(runtime: &Handle) {
    while timeout(RESPONSE_MAX, runtime.spawn(async {})).await.is_ok() {
        sleep(EVERY).await;
    }
}

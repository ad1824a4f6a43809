//! Shuts the engine down. A responsive engine gets time to save and to close its servers. The
//! program exits without waiting for an unresponsive engine.

use crate::domain::Severity;
use crate::front_end::advice;
use crate::protocol::{Command, Event};
use crate::text::Clean;
use std::cell::Cell;
use std::io::{self, Write};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::sleep;

/// How long a responsive engine may take to save and to close its servers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(6);
/// How long the engine may take to acknowledge the shutdown before the program
/// exits without it. Short enough for the program to exit within two seconds of a signal.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends the shutdown command and waits until the engine has stopped or a timeout has elapsed.
pub async fn shut_down(
    shutdown_command: Command,
    commands: &Sender<Command>,
    events: &mut Receiver<Event>,
) {
    let has_acknowledged = Cell::new(false);
    let shutdown = async {
        if commands.send(shutdown_command).await.is_err() {
            return;
        }
        while let Some(event) = events.recv().await {
            match event {
                Event::ShutDown => return,
                Event::ShuttingDown => has_acknowledged.set(true),
                // Print failures, such as a failed save, to stderr, where they stay readable
                // after the screen is gone.
                Event::NoticePosted(notice) if notice.severity == Severity::Failure => {
                    let _ = writeln!(
                        io::stderr(),
                        "humble: {}",
                        Clean::new(&advice::notice_line(&notice))
                    );
                }
                _ => {}
            }
        }
    };
    let timeout = async {
        sleep(ACKNOWLEDGE_TIMEOUT).await;
        // Stderr may be gone with the terminal.
        if !has_acknowledged.get() {
            let message = "humble: the engine is not responding. Quitting without it.";
            let _ = writeln!(io::stderr(), "{message}");
            return;
        }
        let _ = writeln!(io::stderr(), "humble: closing …");
        sleep(SHUTDOWN_TIMEOUT - ACKNOWLEDGE_TIMEOUT).await;
    };
    tokio::select! {
        () = shutdown => {}
        () = timeout => {}
    }
}

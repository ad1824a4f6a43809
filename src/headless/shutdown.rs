//! Shuts the engine down after the turn, and reports whether the conversation was saved.

use super::{AskSession, json};
use crate::domain::Severity;
use crate::protocol::{Command, Event};
use std::io::{self, Write};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// How long the engine may take to acknowledge a command. After that it is abandoned, so a
/// signal ends the program within two seconds even if the engine hangs.
pub(super) const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the engine may take to close everything.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// Shuts the engine down. Returns true if something was not saved, or if the engine did not
/// acknowledge the shutdown in time. Returns false if it acknowledged the shutdown but did not
/// finish within [`SHUTDOWN_TIMEOUT`].
///
/// # Errors
/// Standard output could not be written.
pub(super) async fn shut_down(
    session: &AskSession,
    events: &mut mpsc::Receiver<Event>,
) -> io::Result<bool> {
    let deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
    let _ = timeout_at(deadline, session.send(Command::Shutdown)).await;
    let closing = timeout(SHUTDOWN_TIMEOUT, report_saving(session, events, deadline));
    closing.await.unwrap_or(Ok(false))
}

/// Reports events about saving until the engine has ended. Returns true if something was not saved.
async fn report_saving(
    session: &AskSession,
    events: &mut mpsc::Receiver<Event>,
    acknowledge_deadline: Instant,
) -> io::Result<bool> {
    let mut is_unsaved = false;
    let mut deadline = Some(acknowledge_deadline);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = wait_until(deadline) => {
                report_unresponsive_engine();
                return Ok(true);
            }
        };
        match event {
            None | Some(Event::ShutDown) => return Ok(is_unsaved),
            Some(Event::ShuttingDown) => deadline = None,
            Some(event) if json::is_about_saving(&event) => {
                session.print_json(&event)?;
                if let Event::NoticePosted(notice) | Event::LowPriorityNoticePosted(notice) = event
                {
                    is_unsaved |= notice.severity == Severity::Failure;
                    session.print_notice(&notice);
                }
            }
            Some(_) => {}
        }
    }
}

pub(super) async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

pub(super) fn report_unresponsive_engine() {
    // If standard error is closed, there is no one to report to.
    let message = "humble: the engine is not responding. Quitting without it.";
    let _ = writeln!(io::stderr(), "{message}");
}

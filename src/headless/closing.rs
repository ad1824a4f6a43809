//! What is reported after the end of the turn: whether the conversation was saved.

use super::{Headless, json};
use crate::domain::Severity;
use crate::protocol::Event;
use std::io::{self, Write};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Reports what concerns saving until the engine has ended. True if something could not
/// be saved, also because the engine did not acknowledge in time that it is to end.
///
/// # Errors
/// Standard output cannot be written to.
pub(super) async fn unsaved(
    session: &Headless,
    events: &mut mpsc::Receiver<Event>,
    acknowledge_due: Instant,
) -> io::Result<bool> {
    let mut unsaved = false;
    let mut due = Some(acknowledge_due);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = passed(due) => {
                say_stuck();
                return Ok(true);
            }
        };
        match event {
            None | Some(Event::ShutDown) => return Ok(unsaved),
            Some(Event::ShuttingDown) => due = None,
            Some(event) if json::is_about_saving(&event) => {
                session.print(&event)?;
                if let Event::Noticed(notice) | Event::Mentioned(notice) = event {
                    unsaved |= notice.severity == Severity::Failure;
                    session.say_notice(&notice);
                }
            }
            Some(_) => {}
        }
    }
}

pub(super) async fn passed(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

pub(super) fn say_stuck() {
    // Where nobody reads it there is nobody to tell.
    let words = "humble: the engine does not respond; it is left behind.";
    let _ = writeln!(io::stderr(), "{words}");
}

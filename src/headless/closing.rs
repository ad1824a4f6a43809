//! What is reported after the end of the turn: whether the conversation was saved.

use super::{Headless, json};
use crate::domain::Severity;
use crate::protocol::Event;
use std::io;
use tokio::sync::mpsc;

/// Reports what concerns saving until the engine has ended. True if something could not
/// be saved.
///
/// # Errors
/// Standard output cannot be written to.
pub(super) async fn unsaved(
    session: &Headless,
    events: &mut mpsc::Receiver<Event>,
) -> io::Result<bool> {
    let mut unsaved = false;
    loop {
        match events.recv().await {
            None | Some(Event::ShutDown) => return Ok(unsaved),
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

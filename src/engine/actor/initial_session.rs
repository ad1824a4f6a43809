//! Opens the conversation named on the command line. A prompt that arrives before it is open waits for
//! it: otherwise the prompt would go to an empty conversation.

use super::Actor;
use crate::domain::{Banner, BannerCause, Notice, Prompt, Session, TurnEnd, TurnId};
use crate::engine::sessions;
use crate::protocol::Event;
use crate::store::{LookupError, StoreError};

/// The conversation is being opened.
#[derive(Debug, Default)]
pub(super) struct OpeningSession {
    waiting_prompt: Option<(TurnId, Prompt)>,
}

impl Actor {
    pub(super) fn open_initial_session(&mut self) {
        let is_opening = sessions::open_initial(&mut self.cx);
        self.opening = is_opening.then(OpeningSession::default);
    }

    /// Keeps `prompt` until the conversation is open. Returns false if none is being opened, or another
    /// prompt waits already.
    pub(super) fn hold_until_open(&mut self, id: TurnId, prompt: &Prompt) -> bool {
        match &mut self.opening {
            Some(opening) if opening.waiting_prompt.is_none() => {
                opening.waiting_prompt = Some((id, prompt.clone()));
                true
            }
            _ => false,
        }
    }

    pub(super) fn has_waiting_prompt(&self) -> bool {
        let opening = self.opening.as_ref();
        opening.is_some_and(|opening| opening.waiting_prompt.is_some())
    }

    /// Ends the turn of the waiting prompt, if there is one.
    pub(super) fn cancel_waiting_prompt(&mut self) {
        let opening = self.opening.as_mut();
        if let Some((id, prompt)) = opening.and_then(|opening| opening.waiting_prompt.take()) {
            self.end_before_start(id, prompt, TurnEnd::Cancelled);
        }
    }

    /// Abandons the conversation that is being opened, because another one begins.
    pub(super) fn stop_opening(&mut self) {
        self.cancel_waiting_prompt();
        self.opening = None;
    }

    pub(super) fn handle_initial_session(
        &mut self,
        result: Result<Result<Box<Session>, StoreError>, LookupError>,
    ) {
        let Some(OpeningSession { waiting_prompt }) = self.opening.take() else {
            return;
        };
        let is_open = self.open_initial_result(result);
        let Some((id, prompt)) = waiting_prompt else {
            return;
        };
        match is_open {
            true => self.submit(id, prompt),
            false => {
                let notice = Notice::failure("Not sent: the conversation was not opened.");
                self.reject(id, prompt, notice);
            }
        }
    }

    /// Returns whether a conversation is open now.
    fn open_initial_result(
        &mut self,
        result: Result<Result<Box<Session>, StoreError>, LookupError>,
    ) -> bool {
        let notice = match result {
            Ok(Ok(session)) => {
                match self.cx.options.persona {
                    // The command line takes precedence over the session.
                    Some(_) => self.begin_session(*session),
                    None => self.open_session(*session),
                }
                return true;
            }
            Ok(Err(error)) => error.notice(),
            Err(LookupError::NoSessions) => {
                self.begin_empty_session();
                let notice = Notice::info("There is no conversation to continue.");
                self.cx.notice(notice.with_reason("A new one was started."));
                return true;
            }
            Err(error) => error.notice(),
        };
        self.cx
            .set_banner(Banner::new(BannerCause::UnknownSession, notice));
        self.cx.outbox.push(Event::SessionNotOpened);
        false
    }
}

//! Resends a request automatically, only if the server asked to come back later or closed the
//! connection before the first byte, and no part of a reply was received.

use super::{ReplyFailure, Turn, TurnEffect, TurnState};
use crate::domain::{Notice, TurnEvent, WaitReason};
use crate::provider::PAUSE_MAX;
use std::time::Duration;

/// The pauses before the attempts if the server names none. There is a single client, so no
/// jitter is needed.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

impl Turn {
    /// The pause before the next attempt, if one makes sense.
    pub(super) fn retry_pause(&self, failure: &ReplyFailure) -> Option<Duration> {
        let has_no_reply = self.state == TurnState::Waiting;
        let default_pause = PAUSES.get(self.attempts as usize)?;
        let pause = failure.retry_after.unwrap_or(*default_pause).max(PAUSES[0]);
        (failure.is_transient && has_no_reply && pause <= PAUSE_MAX).then_some(pause)
    }

    pub(super) fn schedule_retry(&mut self, after: Duration, why: ReplyFailure) {
        self.attempts += 1;
        self.state = TurnState::Retrying;
        let Notice {
            what, why: cause, ..
        } = why.notice.clone();
        if self.last_retry_message.as_ref() != Some(&what) {
            self.last_retry_message = Some(what.clone());
            let notice = Notice::warning(what);
            self.note(match cause {
                Some(cause) => notice.with_reason(cause),
                None => notice,
            });
        }
        self.emit(TurnEvent::Retrying {
            after,
            attempt: self.attempts,
            attempts_max: PAUSES.len() as u32,
            why: why.notice,
        });
        self.effects.push(TurnEffect::RetryIn(after));
    }

    pub(super) fn retry_due(&mut self) {
        if self.state == TurnState::Retrying {
            self.emit(TurnEvent::Waiting {
                wait: WaitReason::Response,
            });
            self.send();
        }
    }
}

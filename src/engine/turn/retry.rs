//! Resends a failed request automatically, but only if the failure is transient and no part of a
//! reply was received.

use super::{ReplyFailure, Turn, TurnEffect, TurnState};
use crate::domain::{Notice, TurnEvent, WaitReason};
use crate::provider::PAUSE_MAX;
use std::time::Duration;

/// The pauses before the retries if the server does not request one. No jitter is needed for a
/// single client.
const RETRY_PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

impl Turn {
    /// `None` if the request should not be retried.
    pub(super) fn retry_pause(&self, failure: &ReplyFailure) -> Option<Duration> {
        let has_no_reply = self.state == TurnState::Waiting;
        let default_pause = RETRY_PAUSES.get(self.retry_count as usize)?;
        let pause = failure
            .retry_after
            .unwrap_or(*default_pause)
            .max(RETRY_PAUSES[0]);
        (failure.is_transient && has_no_reply && pause <= PAUSE_MAX).then_some(pause)
    }

    pub(super) fn schedule_retry(&mut self, pause: Duration, failure: ReplyFailure) {
        self.retry_count += 1;
        self.state = TurnState::Retrying;
        let Notice { what, why, .. } = failure.notice.clone();
        if self.last_retry_message.as_ref() != Some(&what) {
            self.last_retry_message = Some(what.clone());
            let notice = Notice::warning(what);
            self.note(match why {
                Some(why) => notice.with_reason(why),
                None => notice,
            });
        }
        self.emit(TurnEvent::Retrying {
            after: pause,
            attempt: self.retry_count,
            attempts_max: RETRY_PAUSES.len() as u32,
            why: failure.notice,
        });
        self.effects.push(TurnEffect::RetryIn(pause));
    }

    pub(super) fn handle_retry_due(&mut self) {
        if self.state == TurnState::Retrying {
            self.emit(TurnEvent::Waiting {
                wait: WaitReason::Response,
            });
            self.send_request();
        }
    }
}

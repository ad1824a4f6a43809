//! Sending the same request again by itself: only where the server said to come back
//! later, or hung up before the first byte, and nothing of a reply was seen.

use super::{ReplyFailure, Turn, TurnEffect, TurnState};
use crate::domain::{Notice, TurnEvent, WaitReason};
use crate::provider::PAUSE_MAX;
use std::time::Duration;

/// The pauses before the attempts, where the server names none. One user asks, not
/// a fleet of clients: there is nothing to spread out.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

impl Turn {
    /// The pause before the next attempt, where one is worth it.
    pub(super) fn retry_pause(&self, failure: &ReplyFailure) -> Option<Duration> {
        let nothing_came = self.state == TurnState::Waiting;
        let usual = PAUSES.get(self.attempts as usize)?;
        let pause = failure.retry_after.unwrap_or(*usual);
        let pause = pause.max(PAUSES[0]);
        (failure.is_transient && nothing_came && pause <= PAUSE_MAX).then_some(pause)
    }

    pub(super) fn schedule_retry(&mut self, after: Duration, why: ReplyFailure) {
        self.attempts += 1;
        self.state = TurnState::Retrying;
        let Notice {
            what, why: cause, ..
        } = why.notice.clone();
        if self.last_retry_message.as_ref() != Some(&what) {
            self.last_retry_message = Some(what.clone());
            let said = Notice::warning(what);
            self.note(match cause {
                Some(cause) => said.with_reason(cause),
                None => said,
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

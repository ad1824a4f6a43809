//! Timing of the current and the last turn.

use crate::domain::{CallId, PieceId, ToolState, TurnEnd, TurnEvent, Wait};
use std::collections::HashMap;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct TurnTiming {
    pub turn_started: Duration,
    pub round_started: Duration,
    /// Valid only while the transcript waits for a retry.
    pub retry: Retry,
    /// When the first text of the current round arrived.
    first_text: Option<Duration>,
    /// Total streaming time of earlier rounds.
    streamed: Duration,
    pub ended: Option<Duration>,
    /// Output tokens per second, and the duration of the turn.
    pub speed: Option<(f64, Duration)>,
    pub calls: HashMap<CallId, Duration>,
    pub thoughts: HashMap<PieceId, (Duration, Duration)>,
    thinking: Option<PieceId>,
    /// Time of the last event of the running turn.
    pub heard: Duration,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Retry {
    pub at: Duration,
    pub attempt: u32,
    pub attempts_max: u32,
}

impl TurnTiming {
    /// Applies an event. `thinking` is the thinking block that is open after the event.
    pub fn take(
        &mut self,
        event: &TurnEvent,
        is_new: bool,
        thinking: Option<PieceId>,
        now: Duration,
    ) {
        self.heard = now;
        if let Some(times) = self
            .thinking
            .and_then(|piece| self.thoughts.get_mut(&piece))
        {
            times.1 = now;
        }
        match event {
            TurnEvent::Started { .. } if is_new => {
                self.turn_started = now;
                self.round_started = now;
                self.first_text = None;
                self.streamed = Duration::ZERO;
                self.speed = None;
                self.calls.clear();
            }
            TurnEvent::RoundStarted { .. }
            | TurnEvent::Waiting {
                wait: Wait::Response,
            } => self.round_started = now,
            TurnEvent::Retrying {
                after,
                attempt,
                attempts_max,
                ..
            } => {
                self.retry = Retry {
                    at: now + *after,
                    attempt: *attempt,
                    attempts_max: *attempts_max,
                };
            }
            TurnEvent::Tool(call) if matches!(call.state, ToolState::Running { .. }) => {
                self.calls.entry(call.id).or_insert(now);
            }
            // Count only the model's own time, without tools and approvals.
            TurnEvent::RoundEnded { .. } => self.stream_ended(now),
            TurnEvent::Ended { end, usage } => {
                self.stream_ended(now);
                self.ended = Some(now);
                let seconds = self.streamed.as_secs_f64();
                let answered = matches!(end, TurnEnd::Answered { .. }) && seconds > 0.2;
                let tokens = usage.output.filter(|_| answered);
                self.speed =
                    tokens.map(|tokens| (tokens as f64 / seconds, now - self.turn_started));
            }
            TurnEvent::Delta { .. } => {
                self.first_text.get_or_insert(now);
            }
            _ => {}
        }
        if let Some(piece) = thinking {
            self.thoughts.entry(piece).or_insert((now, now));
        }
        self.thinking = thinking;
    }

    /// Start and last event of the open thinking block.
    pub fn open_thinking(&self) -> Option<&(Duration, Duration)> {
        self.thoughts.get(&self.thinking?)
    }

    fn stream_ended(&mut self, now: Duration) {
        let first = self.first_text.take();
        self.streamed += first.map_or(Duration::ZERO, |first| now - first);
    }
}

//! Timing of the current and the last turn.

use crate::domain::{CallId, PieceId, PrefixUsage, ToolState, TurnEnd, TurnEvent, WaitReason};
use std::collections::HashMap;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct TurnTiming {
    pub turn_started: Duration,
    pub round_started: Duration,
    /// Valid only while the transcript waits for a retry.
    pub retry: RetryCountdown,
    /// When the first text or thinking of the current round arrived.
    first_text_at: Option<Duration>,
    /// Total streaming time of earlier rounds.
    streaming_time: Duration,
    pub ended_at: Option<Duration>,
    /// Output tokens per second and duration of the last turn.
    pub speed: Option<(f64, Duration)>,
    /// Prefix cache usage in the last turn, if the server reports it.
    pub prefix: Option<PrefixUsage>,
    pub call_starts: HashMap<CallId, Duration>,
    /// Times of the first and the last event of each thinking block.
    pub thinking_spans: HashMap<PieceId, (Duration, Duration)>,
    open_piece: Option<PieceId>,
    /// Time of the last event of the running turn.
    pub last_event_at: Duration,
    /// When the turn began to wait for the user.
    paused_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct RetryCountdown {
    pub due_at: Duration,
    pub attempt: u32,
    pub attempts_max: u32,
}

impl TurnTiming {
    /// Applies an event. `thinking` is the thinking block that is open after the event.
    pub fn apply(
        &mut self,
        event: &TurnEvent,
        is_new: bool,
        thinking: Option<PieceId>,
        now: Duration,
    ) {
        self.last_event_at = now;
        if let Some(span) = self
            .open_piece
            .and_then(|piece| self.thinking_spans.get_mut(&piece))
        {
            span.1 = now;
        }
        match event {
            TurnEvent::Started { .. } if is_new => {
                self.turn_started = now;
                self.round_started = now;
                self.first_text_at = None;
                self.streaming_time = Duration::ZERO;
                self.speed = None;
                self.prefix = None;
                self.call_starts.clear();
            }
            TurnEvent::RoundStarted { .. }
            | TurnEvent::Waiting {
                wait: WaitReason::Response,
            } => self.round_started = now,
            TurnEvent::Retrying {
                after,
                attempt,
                attempts_max,
                ..
            } => {
                self.retry = RetryCountdown {
                    due_at: now + *after,
                    attempt: *attempt,
                    attempts_max: *attempts_max,
                };
            }
            TurnEvent::Tool(call) if matches!(call.state, ToolState::Running { .. }) => {
                self.call_starts.entry(call.id).or_insert(now);
            }
            // Stop counting here, so that tools and approvals do not count as streaming time.
            TurnEvent::RoundEnded { .. } => self.end_stream(now),
            TurnEvent::Ended { end, usage } => {
                self.end_stream(now);
                self.ended_at = Some(now);
                self.prefix = usage.prefix;
                let seconds = self.streaming_time.as_secs_f64();
                let has_speed = matches!(end, TurnEnd::Answered { .. }) && seconds > 0.2;
                let tokens = usage.output.filter(|_| has_speed);
                self.speed =
                    tokens.map(|tokens| (tokens as f64 / seconds, now - self.turn_started));
            }
            TurnEvent::Delta { .. } => {
                self.first_text_at.get_or_insert(now);
            }
            _ => {}
        }
        if let Some(piece) = thinking {
            self.thinking_spans.entry(piece).or_insert((now, now));
        }
        self.open_piece = thinking;
    }

    /// Pauses the clock of the turn while the turn waits for the user, or resumes it.
    pub fn set_paused(&mut self, is_paused: bool, now: Duration) {
        if is_paused {
            self.paused_at.get_or_insert(now);
        } else if let Some(paused_at) = self.paused_at.take() {
            let waited = now.saturating_sub(paused_at);
            self.turn_started += waited;
            self.round_started = (self.round_started + waited).min(now);
        }
    }

    /// Times of the first and the last event of the open thinking block.
    pub fn open_thinking(&self) -> Option<&(Duration, Duration)> {
        self.thinking_spans.get(&self.open_piece?)
    }

    fn end_stream(&mut self, now: Duration) {
        let started_at = self.first_text_at.take();
        self.streaming_time += started_at.map_or(Duration::ZERO, |started_at| now - started_at);
    }
}

//! Events queued for the front end, so that the actor never waits for it. While the front end
//! is busy, the outbox merges deltas of one piece, keeps only the newest of consecutive
//! snapshots, and limits log lines. A fast model therefore does not grow the queue.

use crate::domain::{PieceId, TurnEvent, TurnId};
use crate::protocol::Event;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of log lines in the queue. Further ones are dropped.
const LOG_LINES_MAX: usize = 512;

/// Minimum time between two deltas. Each one wakes the front end, and thirty per second look
/// smooth.
const DELTA_INTERVAL_MIN: Duration = Duration::from_millis(33);

#[derive(Debug, Default)]
pub struct Outbox {
    events: VecDeque<Event>,
    log_line_count: usize,
    last_delta_sent_at: Option<Instant>,
    /// Events held back until an answer is on disk.
    held_events: Option<Vec<Event>>,
}

impl Outbox {
    /// Holds back all events from now on until [`Self::release`].
    pub fn hold(&mut self) {
        self.held_events.get_or_insert_default();
    }

    /// Queues the held events in order.
    pub fn release(&mut self) {
        for event in self.held_events.take().into_iter().flatten() {
            self.push(event);
        }
    }

    pub fn push(&mut self, event: Event) {
        if let Some(held) = &mut self.held_events {
            return held.push(event);
        }
        if let Event::LogLineWritten(_) = &event {
            if self.log_line_count >= LOG_LINES_MAX {
                return;
            }
            self.log_line_count += 1;
        }
        let Event::Turn(turn, TurnEvent::Delta { piece, text, .. }) = &event else {
            self.drop_superseded(&event);
            self.events.push_back(event);
            return;
        };
        if let Some(queued_text) = self.last_delta_text(*turn, *piece) {
            queued_text.push_str(text);
        } else {
            self.events.push_back(event);
        }
    }

    fn last_delta_text(&mut self, turn: TurnId, piece: PieceId) -> Option<&mut String> {
        match self.events.back_mut()? {
            Event::Turn(
                last_turn,
                TurnEvent::Delta {
                    piece: last_piece,
                    text,
                    ..
                },
            ) if *last_turn == turn && *last_piece == piece => Some(text),
            _ => None,
        }
    }

    /// Drops the last queued event if `event` is a newer snapshot of the same thing.
    fn drop_superseded(&mut self, event: &Event) {
        let is_stale = match (self.events.back(), event) {
            (Some(Event::ServerChanged(old)), Event::ServerChanged(new)) => old.id == new.id,
            (Some(Event::ContextMeasured(_)), Event::ContextMeasured(_))
            | (Some(Event::BannersChanged(_)), Event::BannersChanged(_)) => true,
            (
                Some(Event::Turn(old_turn, TurnEvent::Tool(old))),
                Event::Turn(new_turn, TurnEvent::Tool(new)),
            ) => old_turn == new_turn && old.id == new.id,
            _ => false,
        };
        if is_stale {
            self.events.pop_back();
        }
    }

    /// The earliest time at which the next event may be sent; `None` if now. A delta that is
    /// alone in the queue waits for more text; any other event, and everything queued before
    /// it, is sent at once.
    pub fn next_send_at(&self) -> Option<Instant> {
        let is_lone_delta = self.events.len() == 1 && self.events.front().is_some_and(is_delta);
        self.last_delta_sent_at
            .filter(|_| is_lone_delta)
            .map(|sent| sent + DELTA_INTERVAL_MIN)
    }

    pub fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if event.as_ref().is_some_and(is_delta) {
            self.last_delta_sent_at = Some(Instant::now());
        }
        if let Some(Event::LogLineWritten(_)) = &event {
            self.log_line_count -= 1;
        }
        event
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

fn is_delta(event: &Event) -> bool {
    matches!(event, Event::Turn(_, TurnEvent::Delta { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PieceKind, Prompt};

    fn delta(piece: u64, text: &str) -> Event {
        let (piece, kind) = (PieceId(piece), PieceKind::Text);
        Event::Turn(
            TurnId(1),
            TurnEvent::Delta {
                piece,
                kind,
                text: text.to_owned(),
            },
        )
    }

    fn drain(mut outbox: Outbox) -> Vec<Event> {
        std::iter::from_fn(|| outbox.pop()).collect()
    }

    #[test]
    fn deltas_of_one_piece_are_coalesced() {
        let mut outbox = Outbox::default();
        for text in ["안", "녕", "!"] {
            outbox.push(delta(1, text));
        }
        outbox.push(delta(2, "x"));
        assert_eq!(drain(outbox), [delta(1, "안녕!"), delta(2, "x")]);
    }

    #[test]
    fn only_a_lone_delta_is_delayed() {
        let mut outbox = Outbox::default();
        outbox.push(delta(1, "a"));
        assert_eq!(
            outbox.next_send_at(),
            None,
            "the first delta is sent at once"
        );
        outbox.pop();
        let sent = Instant::now();
        outbox.push(delta(1, "b"));
        let due = outbox.next_send_at().expect("the second delta waits");
        assert!(
            due <= sent + DELTA_INTERVAL_MIN && due + DELTA_INTERVAL_MIN > sent,
            "within a frame"
        );
        outbox.push(Event::ShutDown);
        assert_eq!(outbox.next_send_at(), None, "another event is not delayed");
    }

    #[test]
    fn held_events_are_released_in_order() {
        let mut outbox = Outbox::default();
        outbox.push(delta(1, "a"));
        outbox.hold();
        outbox.push(Event::ShutDown);
        outbox.push(delta(2, "b"));
        assert_eq!(outbox.pop(), Some(delta(1, "a")));
        assert!(outbox.is_empty(), "the rest is held back");
        outbox.release();
        assert_eq!(drain(outbox), [Event::ShutDown, delta(2, "b")]);
    }

    #[test]
    fn deltas_do_not_overtake_other_events() {
        let mut outbox = Outbox::default();
        let started = TurnEvent::Started {
            prompt: Prompt::new("hi"),
            model: "m".to_owned(),
        };
        let started = Event::Turn(TurnId(1), started);
        outbox.push(delta(1, "a"));
        outbox.push(started.clone());
        outbox.push(delta(1, "b"));
        assert_eq!(drain(outbox), [delta(1, "a"), started, delta(1, "b")]);
    }
}

//! Events queued for the front end. The actor never waits for the front end: while it is busy,
//! deltas of one piece are merged, so the queue is bounded by what is worth drawing and not by
//! the speed of the model.

use crate::domain::{PieceId, TurnEvent, TurnId};
use crate::protocol::Event;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Log lines queued for a front end that does not read.
const LOG_LINES_MAX: usize = 512;

/// Minimum time between two deltas. Each delta wakes the front end, and thirty a second look
/// smooth.
const DELTA_INTERVAL_MIN: Duration = Duration::from_millis(33);

#[derive(Debug, Default)]
pub struct Outbox {
    events: VecDeque<Event>,
    log_lines: usize,
    delta_sent: Option<Instant>,
    /// Events held back until an answer is on the disk.
    held: Option<Vec<Event>>,
}

impl Outbox {
    /// Holds back all events from now on, in order.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    pub fn release(&mut self) {
        for event in self.held.take().into_iter().flatten() {
            self.push(event);
        }
    }

    pub fn push(&mut self, event: Event) {
        if let Some(held) = &mut self.held {
            return held.push(event);
        }
        if let Event::LogLineWritten(_) = &event {
            if self.log_lines >= LOG_LINES_MAX {
                return;
            }
            self.log_lines += 1;
        }
        let Event::Turn(turn, TurnEvent::Delta { piece, text, .. }) = &event else {
            self.supersede(&event);
            self.events.push_back(event);
            return;
        };
        if let Some(last) = self.last_delta(*turn, *piece) {
            last.push_str(text);
        } else {
            self.events.push_back(event);
        }
    }

    fn last_delta(&mut self, turn: TurnId, piece: PieceId) -> Option<&mut String> {
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
    fn supersede(&mut self, event: &Event) {
        let stale = match (self.events.back(), event) {
            (Some(Event::ServerChanged(old)), Event::ServerChanged(new)) => old.id == new.id,
            (Some(Event::ContextMeasured(_)), Event::ContextMeasured(_))
            | (Some(Event::BannersChanged(_)), Event::BannersChanged(_)) => true,
            (
                Some(Event::Turn(old_turn, TurnEvent::Tool(old))),
                Event::Turn(new_turn, TurnEvent::Tool(new)),
            ) => old_turn == new_turn && old.id == new.id,
            _ => false,
        };
        if stale {
            self.events.pop_back();
        }
    }

    /// When the next event may be sent; None if at once. A lone delta waits for more text; any
    /// other event, and everything queued before it, is sent at once.
    pub fn send_at(&self) -> Option<Instant> {
        let is_lone_delta = self.events.len() == 1 && self.events.front().is_some_and(is_delta);
        self.delta_sent
            .filter(|_| is_lone_delta)
            .map(|sent| sent + DELTA_INTERVAL_MIN)
    }

    pub fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if event.as_ref().is_some_and(is_delta) {
            self.delta_sent = Some(Instant::now());
        }
        if let Some(Event::LogLineWritten(_)) = &event {
            self.log_lines -= 1;
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
        assert_eq!(outbox.send_at(), None, "the first delta is sent at once");
        outbox.pop();
        let sent = Instant::now();
        outbox.push(delta(1, "b"));
        let due = outbox.send_at().expect("the second delta waits");
        assert!(
            due <= sent + DELTA_INTERVAL_MIN && due + DELTA_INTERVAL_MIN > sent,
            "within a frame"
        );
        outbox.push(Event::ShutDown);
        assert_eq!(outbox.send_at(), None, "another event is not delayed");
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

//! Notices of the hint line: the visible one and the queue behind it.

use crate::domain::Notice;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a notice stays visible.
pub const NOTICE_DURATION: Duration = Duration::from_secs(6);
/// A key press dismisses a notice once it has been visible this long.
const NOTICE_READING_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Notices {
    /// The visible notice and the time it appeared.
    current: Option<(Notice, Duration)>,
    waiting: VecDeque<Notice>,
}

impl Notices {
    pub fn current(&self) -> Option<&Notice> {
        self.current.as_ref().map(|(notice, _)| notice)
    }

    pub fn show(&mut self, notice: Notice, now: Duration) {
        self.current = Some((notice, now));
    }

    /// Queues a notice until no other is visible.
    pub fn queue(&mut self, notice: Notice) {
        self.waiting.push_back(notice);
    }

    pub fn show_next(&mut self, now: Duration) {
        if self.current.is_none()
            && let Some(next) = self.waiting.pop_front()
        {
            self.show(next, now);
        }
    }

    pub fn clear(&mut self) {
        self.current = None;
    }

    pub fn key_pressed(&mut self, now: Duration) {
        self.clear_after(NOTICE_READING_TIME, now);
    }

    pub fn expire(&mut self, now: Duration) {
        self.clear_after(NOTICE_DURATION, now);
    }

    fn clear_after(&mut self, time: Duration, now: Duration) {
        self.current.take_if(|(_, since)| now >= *since + time);
    }

    /// When the visible notice expires.
    pub fn expires_at(&self) -> Option<Duration> {
        self.current
            .as_ref()
            .map(|(_, since)| *since + NOTICE_DURATION)
    }
}

//! Notices to the user: the visible one and the queue.

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
    queue: VecDeque<Notice>,
}

impl Notices {
    pub fn current(&self) -> Option<&Notice> {
        self.current.as_ref().map(|(notice, _)| notice)
    }

    pub fn show(&mut self, notice: Notice, now: Duration) {
        self.current = Some((notice, now));
    }

    /// Queues a notice until no other notice is visible.
    pub fn queue(&mut self, notice: Notice) {
        self.queue.push_back(notice);
    }

    pub fn show_next(&mut self, now: Duration) {
        if self.current.is_none()
            && let Some(next) = self.queue.pop_front()
        {
            self.show(next, now);
        }
    }

    pub fn clear(&mut self) {
        self.current = None;
    }

    pub fn key_pressed(&mut self, now: Duration) {
        self.clear_if_older_than(NOTICE_READING_TIME, now);
    }

    pub fn expire(&mut self, now: Duration) {
        self.clear_if_older_than(NOTICE_DURATION, now);
    }

    fn clear_if_older_than(&mut self, age: Duration, now: Duration) {
        self.current.take_if(|(_, shown_at)| now >= *shown_at + age);
    }

    /// When the visible notice expires.
    pub fn expires_at(&self) -> Option<Duration> {
        self.current
            .as_ref()
            .map(|(_, shown_at)| *shown_at + NOTICE_DURATION)
    }
}

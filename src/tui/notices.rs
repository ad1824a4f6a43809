//! Notices of the hint line: the visible one and the queue behind it.

use crate::domain::Notice;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a notice stays visible.
pub const NOTICE_LASTS: Duration = Duration::from_secs(6);
/// A key press dismisses a notice once it has been visible this long.
const NOTICE_READ: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Notices {
    /// The visible notice and the time it appeared.
    shown: Option<(Notice, Duration)>,
    waiting: VecDeque<Notice>,
}

impl Notices {
    pub fn shown(&self) -> Option<&Notice> {
        self.shown.as_ref().map(|(notice, _)| notice)
    }

    pub fn show(&mut self, notice: Notice, now: Duration) {
        self.shown = Some((notice, now));
    }

    /// Queues a notice until no other is visible.
    pub fn wait(&mut self, notice: Notice) {
        self.waiting.push_back(notice);
    }

    pub fn show_next(&mut self, now: Duration) {
        if self.shown.is_none()
            && let Some(next) = self.waiting.pop_front()
        {
            self.show(next, now);
        }
    }

    pub fn clear(&mut self) {
        self.shown = None;
    }

    pub fn key_pressed(&mut self, now: Duration) {
        self.clear_after(NOTICE_READ, now);
    }

    pub fn pass_time(&mut self, now: Duration) {
        self.clear_after(NOTICE_LASTS, now);
    }

    fn clear_after(&mut self, time: Duration, now: Duration) {
        self.shown.take_if(|(_, since)| now >= *since + time);
    }

    /// When the visible notice expires.
    pub fn due(&self) -> Option<Duration> {
        self.shown.as_ref().map(|(_, since)| *since + NOTICE_LASTS)
    }
}

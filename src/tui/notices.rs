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
    current: Option<VisibleNotice>,
    queue: VecDeque<Notice>,
}

#[derive(Debug)]
struct VisibleNotice {
    notice: Notice,
    since: Duration,
    /// Says why a key did nothing, so any other key dismisses it.
    is_about_key: bool,
}

impl Notices {
    pub fn current(&self) -> Option<&Notice> {
        self.current.as_ref().map(|visible| &visible.notice)
    }

    pub fn show(&mut self, notice: Notice, now: Duration) {
        self.current = Some(VisibleNotice {
            notice,
            since: now,
            is_about_key: false,
        });
    }

    /// Shows why a key did nothing, until the next key.
    pub fn show_about_key(&mut self, notice: Notice, now: Duration) {
        self.current = Some(VisibleNotice {
            notice,
            since: now,
            is_about_key: true,
        });
    }

    /// Dismisses a notice of [`Self::show_about_key`], whose cause is gone.
    pub fn clear_about_key(&mut self) {
        self.current.take_if(|visible| visible.is_about_key);
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
        self.clear_about_key();
        self.clear_if_older_than(NOTICE_READING_TIME, now);
    }

    pub fn expire(&mut self, now: Duration) {
        self.clear_if_older_than(NOTICE_DURATION, now);
    }

    fn clear_if_older_than(&mut self, age: Duration, now: Duration) {
        self.current.take_if(|visible| now >= visible.since + age);
    }

    /// When the visible notice expires.
    pub fn expires_at(&self) -> Option<Duration> {
        self.current
            .as_ref()
            .map(|visible| visible.since + NOTICE_DURATION)
    }
}

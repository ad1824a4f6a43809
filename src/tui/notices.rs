//! Notices to the user: the visible one and the queue.

use crate::domain::{Banner, BannerCause, Notice};
use std::collections::VecDeque;
use std::time::Duration;

/// How long a notice stays visible.
pub const NOTICE_DURATION: Duration = Duration::from_secs(6);
/// A key press dismisses a notice once it has been visible this long.
const NOTICE_READING_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Notices {
    current: Option<VisibleNotice>,
    /// The causes of banners that the user has hidden for this run.
    hidden_banners: Vec<BannerCause>,
    queue: VecDeque<(Subject, Notice)>,
}

#[derive(Debug)]
struct VisibleNotice {
    notice: Notice,
    shown_at: Duration,
    subject: Subject,
}

/// The subject of a notice, which decides when it is dismissed early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Other,
    /// Explains why a key did nothing, so the next key dismisses it.
    Key,
    /// Reports that something is running, so its end dismisses it.
    Activity,
    /// Is about the text in the message, so sending it dismisses the notice.
    Message,
    /// Names the actions that lost a key to the user's `keys`, so another edit of them dismisses it.
    LostKeys,
    /// Says that a file of the message could not be read, which may happen a minute after the last
    /// key. It does not expire, and ordinary notices wait until it is gone.
    UnreadFile,
}

impl Notices {
    pub fn current(&self) -> Option<&Notice> {
        self.current.as_ref().map(|visible| &visible.notice)
    }

    /// Whether the visible notice explains why a key did nothing.
    pub fn is_about_key(&self) -> bool {
        let visible = self.current.as_ref();
        visible.is_some_and(|visible| visible.subject == Subject::Key)
    }

    pub fn show(&mut self, notice: Notice, now: Duration) {
        if self.is_about_unread_file() {
            return self.queue(notice);
        }
        // The notice about the reload of the settings would hide it at once.
        if let Some(lost) = self.current.take_if(|visible| {
            visible.subject == Subject::LostKeys && now < visible.shown_at + NOTICE_READING_TIME
        }) {
            self.queue.push_front((Subject::LostKeys, lost.notice));
        }
        self.show_about(Subject::Other, notice, now);
    }

    /// Shows why a key did nothing, until the next key.
    pub fn show_about_key(&mut self, notice: Notice, now: Duration) {
        self.show_about(Subject::Key, notice, now);
    }

    /// Shows that something is running, at most until it ends.
    pub fn show_about_activity(&mut self, notice: Notice, now: Duration) {
        self.show_about(Subject::Activity, notice, now);
    }

    /// Shows a notice about the text in the message, at most until that is sent.
    pub fn show_about_message(&mut self, notice: Notice, now: Duration) {
        self.show_about(Subject::Message, notice, now);
    }

    /// Shows why a file of the message could not be read.
    pub fn show_about_unread_file(&mut self, notice: Notice, now: Duration) {
        self.show_about(Subject::UnreadFile, notice, now);
    }

    fn is_about_unread_file(&self) -> bool {
        let visible = self.current.as_ref();
        visible.is_some_and(|visible| visible.subject == Subject::UnreadFile)
    }

    fn show_about(&mut self, subject: Subject, notice: Notice, now: Duration) {
        self.current = Some(VisibleNotice {
            notice,
            shown_at: now,
            subject,
        });
    }

    /// Dismisses a notice shown by [`Self::show_about_key`], because its cause is gone.
    pub fn clear_about_key(&mut self) {
        self.clear_about(Subject::Key);
    }

    /// Dismisses a notice shown by [`Self::show_about_activity`], because nothing is running
    /// anymore.
    pub fn clear_about_activity(&mut self) {
        self.clear_about(Subject::Activity);
    }

    /// Dismisses a notice about the message or its files, because the message was sent.
    pub fn clear_about_message(&mut self) {
        self.clear_about(Subject::Message);
        self.clear_about(Subject::UnreadFile);
    }

    fn clear_about(&mut self, subject: Subject) {
        self.current.take_if(|visible| visible.subject == subject);
    }

    /// Whether Esc hides this banner: it only recommends something and reports no loss of
    /// functionality.
    pub fn can_hide(banner: &Banner) -> bool {
        matches!(
            banner.cause,
            BannerCause::OpenPermissions
                | BannerCause::OutdatedSystemPrompt
                | BannerCause::UnknownKeys(_)
        )
    }

    /// The banners that the user has not hidden.
    pub fn visible_banners<'a>(
        &self,
        banners: impl Iterator<Item = &'a Banner>,
    ) -> impl Iterator<Item = &'a Banner> {
        banners.filter(|banner| !self.hidden_banners.contains(&banner.cause))
    }

    /// Hides, until the program ends, the banners that can be hidden. Returns false if there were
    /// none.
    pub fn hide_banners(&mut self, banners: &[Banner]) -> bool {
        let visible = self.visible_banners(banners.iter());
        let hidden: Vec<BannerCause> = visible
            .filter(|banner| Self::can_hide(banner))
            .map(|banner| banner.cause.clone())
            .collect();
        let has_hidden = !hidden.is_empty();
        self.hidden_banners.extend(hidden);
        has_hidden
    }

    /// Queues a notice until no other notice is visible.
    pub fn queue(&mut self, notice: Notice) {
        self.queue.push_back((Subject::Other, notice));
    }

    pub fn queue_all(&mut self, notices: Vec<Notice>) {
        notices.into_iter().for_each(|notice| self.queue(notice));
    }

    /// Replaces the notice about the keys that actions lost to an earlier edit. It comes before the
    /// other queued notices.
    pub fn queue_about_lost_keys(&mut self, notice: Option<Notice>) {
        self.clear_about(Subject::LostKeys);
        self.queue
            .retain(|(subject, _)| *subject != Subject::LostKeys);
        if let Some(notice) = notice {
            self.queue.push_front((Subject::LostKeys, notice));
        }
    }

    pub fn show_next(&mut self, now: Duration) {
        if self.current.is_none()
            && let Some((subject, next)) = self.queue.pop_front()
        {
            self.show_about(subject, next, now);
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
        if self.is_about_unread_file() {
            return;
        }
        self.clear_if_older_than(NOTICE_DURATION, now);
    }

    fn clear_if_older_than(&mut self, age: Duration, now: Duration) {
        self.current
            .take_if(|visible| now >= visible.shown_at + age);
    }

    /// When the visible notice expires, if it does.
    pub fn expires_at(&self) -> Option<Duration> {
        self.current
            .as_ref()
            .filter(|_| !self.is_about_unread_file())
            .map(|visible| visible.shown_at + NOTICE_DURATION)
    }
}

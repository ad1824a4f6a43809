//! Leaving: what runs is ended, what there is is saved, every server is closed, each
//! with a deadline.

use super::actor::Actor;
use super::saving;
use super::turn::Input;
use crate::protocol::Event;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the last saves and events may take once the program is left.
const CLOSING_TIME: Duration = Duration::from_secs(3);
/// How long a cancellation may take to reach the servers before they are closed.
const CANCELLING_TIME: Duration = Duration::from_millis(300);

impl Actor {
    pub(super) async fn close(mut self, events: &mpsc::Sender<Event>) {
        self.feed(Input::Interrupt);
        // Servers are told of a cancelled call before they are closed.
        let calls = &mut self.calls;
        let cancelled = async { while calls.next().await.is_some() {} };
        let _ = tokio::time::timeout(CANCELLING_TIME, cancelled).await;
        let hub = self.hub.clone();
        self.saver.try_now();
        let saving = tokio::time::timeout(CLOSING_TIME, self.save_all());
        let ((), saved) = tokio::join!(hub.shutdown(), saving);
        if saved.is_err() {
            tracing::error!("the last conversation could not be saved in time");
        }
        self.outbox.release();
        let in_journal = self.journalist.has_all();
        for notice in saving::give_up(self.saver, in_journal).await {
            self.outbox.push(Event::Noticed(notice));
        }
        self.outbox.push(Event::ShutDown);
        let outbox = &mut self.outbox;
        let flush = async {
            while let Some(event) = outbox.pop() {
                if events.send(event).await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSING_TIME, flush).await;
    }

    /// Until nothing is left to be written, or the disk refuses.
    async fn save_all(&mut self) {
        while !self.saver.is_idle() || !self.journalist.is_idle() || !self.jobs.is_empty() {
            tokio::select! {
                saved = self.saver.saved(), if !self.saver.is_idle() => self.saved(saved),
                step = self.journalist.step() => {
                    if matches!(step, super::journalist::Step::Failed(_)) && self.saver.is_idle() {
                        return;
                    }
                }
                Some(_) = self.jobs.join_next() => {}
            }
        }
    }
}

//! Leaving: what runs is ended, what there is is saved, every server is closed, each
//! with a deadline.

use super::Actor;
use crate::config;
use crate::engine::persist::LastSaves;
use crate::engine::turn::TurnInput;
use crate::protocol::Event;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the last saves and events may take once the program is left.
const CLOSING_TIME: Duration = Duration::from_secs(3);
/// How long a cancellation may take to reach the servers before they are closed.
const CANCELLING_TIME: Duration = Duration::from_millis(300);

impl Actor {
    /// Stops the turn under way without ending it: its journal stays as it is.
    pub(super) fn abandon_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            turn.driver.cancel_all();
            self.cancelled_calls.extend(turn.driver.finish().calls);
        }
    }

    /// Ends what runs, saves what there is, closes every server.
    pub(super) async fn close(mut self, events: &mpsc::Sender<Event>) {
        self.feed(TurnInput::Interrupt);
        self.cx.outbox.release();
        let Self {
            conversation,
            hub,
            mut cancelled_calls,
            mut persist,
            mut cx,
            ..
        } = self;
        // Servers are told of a cancelled call before they are closed.
        let cancelled = async { while cancelled_calls.next().await.is_some() {} };
        let _ = tokio::time::timeout(CANCELLING_TIME, cancelled).await;
        let mut last = LastSaves::default();
        let saving = last.save_all(&mut persist, &mut cx.jobs);
        let saving = tokio::time::timeout(CLOSING_TIME, saving);
        let ((), saved) = tokio::join!(hub.shutdown(), saving);
        if saved.is_err() {
            tracing::error!("the last conversation could not be saved in time");
        }
        let mut outbox = cx.outbox;
        last.report(conversation.seq(), &mut outbox);
        let narrowed = config::tightened_permissions_notices(&cx.home).into_iter();
        narrowed.for_each(|notice| outbox.push(Event::LowPriorityNoticePosted(notice)));
        for notice in last.into_unsaved_notices(persist).await {
            outbox.push(Event::NoticePosted(notice));
        }
        outbox.push(Event::ShutDown);
        let flush = async {
            while let Some(event) = outbox.pop() {
                if events.send(event).await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSING_TIME, flush).await;
    }
}

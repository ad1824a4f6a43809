//! Shutdown: stops the running turn, finishes saves and closes every server. Each step has a
//! deadline, except copying conversations that could not be saved.

use super::Actor;
use crate::config;
use crate::engine::persist::LastSaves;
use crate::engine::turn::TurnInput;
use crate::protocol::Event;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;

/// Time limit for the last saves and events.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(3);
/// Time limit for cancellations to reach the servers before they are closed.
const CANCEL_TIME_MAX: Duration = Duration::from_millis(300);

impl Actor {
    /// Stops the running turn without recording its end, so its journal and its tasks are kept.
    pub(super) fn abandon_turn(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.hub.keep_tasks();
            turn.driver.cancel_all();
            self.earlier_calls.extend(turn.driver.finish().calls);
        }
    }

    pub(super) async fn close(mut self, events: &mpsc::Sender<Event>) {
        self.cancel_left_tasks();
        self.cancel_waiting_prompt();
        self.feed(TurnInput::Interrupt);
        self.cx.outbox.release();
        // The front end waits a second for the acknowledgement, and saving may take longer.
        while !self.cx.outbox.is_empty()
            && let Ok(permit) = events.try_reserve()
        {
            if let Some(event) = self.cx.outbox.pop() {
                permit.send(event);
            }
        }
        let Self {
            conversation,
            hub,
            mut earlier_calls,
            mut persist,
            trust,
            mut cx,
            ..
        } = self;
        // Notify servers of cancelled calls before closing them.
        let cancellations = async { while earlier_calls.next().await.is_some() {} };
        let _ = tokio::time::timeout(CANCEL_TIME_MAX, cancellations).await;
        let mut last_saves = LastSaves::default();
        let saving = tokio::time::timeout(
            CLOSE_TIME_MAX,
            last_saves.save_all(&mut persist, &mut cx.jobs),
        );
        let ((), saved) = tokio::join!(hub.shutdown(), saving);
        if saved.is_err() {
            tracing::error!("the last conversation was not saved in time");
        }
        let mut outbox = cx.outbox;
        last_saves.report(conversation.seq(), &mut outbox);
        for notice in config::tightened_permissions_notices(&cx.home) {
            outbox.push(Event::LowPriorityNoticePosted(notice));
        }
        for notice in last_saves.into_unsaved_notices(persist).await {
            outbox.push(Event::NoticePosted(notice));
        }
        let write_trust = trust.write_last(cx.home.clone());
        if let Ok(Some(unsaved)) = tokio::time::timeout(CLOSE_TIME_MAX, write_trust).await {
            outbox.push(Event::NoticePosted(unsaved));
        }
        outbox.push(Event::ShutDown);
        let flush = async {
            while let Some(event) = outbox.pop() {
                if events.send(event).await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIME_MAX, flush).await;
    }
}

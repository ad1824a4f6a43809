//! Leaving: what runs is ended, what there is is saved, every server is closed, each
//! with a deadline.

use super::actor::{Actor, Done};
use super::journalist::{Journalist, Step};
use super::saver::Saver;
use super::saving;
use super::turn::Input;
use crate::protocol::Event;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long the last saves and events may take once the program is left.
const CLOSING_TIME: Duration = Duration::from_secs(3);
/// How long a cancellation may take to reach the servers before they are closed.
const CANCELLING_TIME: Duration = Duration::from_millis(300);

impl Actor {
    /// Ends what runs, saves what there is, closes every server.
    pub(super) async fn close(mut self, events: &mpsc::Sender<Event>) {
        self.feed(Input::Interrupt);
        self.outbox.release();
        let Self {
            hub,
            mut calls,
            mut saver,
            mut journalist,
            mut jobs,
            mut outbox,
            ..
        } = self;
        // Servers are told of a cancelled call before they are closed.
        let cancelled = async { while calls.next().await.is_some() {} };
        let _ = tokio::time::timeout(CANCELLING_TIME, cancelled).await;
        saver.try_now();
        let saving = save_all(&mut saver, &mut journalist, &mut jobs);
        let saving = tokio::time::timeout(CLOSING_TIME, saving);
        let ((), saved) = tokio::join!(hub.shutdown(), saving);
        if saved.is_err() {
            tracing::error!("the last conversation could not be saved in time");
        }
        for notice in saving::give_up(saver, journalist.has_all()).await {
            outbox.push(Event::Noticed(notice));
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

/// Until nothing is left to be written, or the disk refuses.
async fn save_all(saver: &mut Saver, journalist: &mut Journalist, jobs: &mut JoinSet<Done>) {
    let mut refused = false;
    while !saver.is_idle() || !(journalist.is_idle() || refused) || !jobs.is_empty() {
        tokio::select! {
            saved = saver.saved(), if !saver.is_idle() => match saved.result {
                Ok(_) => journalist.saved(saved.epoch, saved.ticket),
                Err(fault) => tracing::error!("a session could not be saved: {fault}"),
            },
            step = journalist.step(), if !journalist.is_idle() && !refused => {
                refused = matches!(step, Step::Failed(_));
            }
            Some(_) = jobs.join_next() => {}
        }
    }
}

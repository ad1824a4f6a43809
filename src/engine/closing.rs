//! Leaving: what runs is ended, what there is is saved, every server is closed, each
//! with a deadline.

use super::actor::{Actor, Done};
use super::journalist::{Journalist, Step};
use super::outbox::Outbox;
use super::saver::{Epoch, Saver};
use super::saving;
use super::turn::Input;
use crate::config;
use crate::domain::SessionId;
use crate::protocol::Event;
use crate::store::StoreError;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

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
        self.feed(Input::Interrupt);
        self.outbox.release();
        let Self {
            epoch,
            home,
            hub,
            mut cancelled_calls,
            mut saver,
            mut journalist,
            mut jobs,
            mut outbox,
            ..
        } = self;
        // Servers are told of a cancelled call before they are closed.
        let cancelled = async { while cancelled_calls.next().await.is_some() {} };
        let _ = tokio::time::timeout(CANCELLING_TIME, cancelled).await;
        saver.try_now();
        let mut last = LastSaves::default();
        let saving = last.save_all(&mut saver, &mut journalist, &mut jobs);
        let saving = tokio::time::timeout(CLOSING_TIME, saving);
        let ((), saved) = tokio::join!(hub.shutdown(), saving);
        if saved.is_err() {
            tracing::error!("the last conversation could not be saved in time");
        }
        last.tell(epoch, &mut outbox);
        let narrowed = config::narrowed(&home).into_iter();
        narrowed.for_each(|notice| outbox.push(Event::Mentioned(notice)));
        for notice in saving::give_up(saver, journalist.has_all(), last.fault).await {
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

/// What the last tries to save came to.
#[derive(Default)]
struct LastSaves {
    done: Vec<(Epoch, SessionId, Option<SessionId>)>,
    fault: Option<StoreError>,
}

impl LastSaves {
    /// Until nothing is left to be written, or the disk refuses.
    async fn save_all(
        &mut self,
        saver: &mut Saver,
        journalist: &mut Journalist,
        jobs: &mut JoinSet<Done>,
    ) {
        let mut refused = false;
        while !saver.is_idle() || !(journalist.is_idle() || refused) || !jobs.is_empty() {
            tokio::select! {
                saved = saver.saved(), if !saver.is_idle() => match saved.result {
                    Ok(id) => {
                        journalist.saved(saved.epoch, saved.ticket);
                        self.done.push((saved.epoch, id, saved.fork_of));
                    }
                    Err(fault) => {
                        tracing::error!("a session could not be saved: {fault}");
                        self.fault = Some(fault);
                    }
                },
                step = journalist.step(), if !journalist.is_idle() && !refused => {
                    refused = matches!(step, Step::Failed(_));
                }
                Some(_) = jobs.join_next() => {}
            }
        }
    }

    fn tell(&mut self, present: Epoch, outbox: &mut Outbox) {
        for (epoch, id, fork_of) in self.done.drain(..) {
            if let Some(original) = fork_of {
                outbox.push(Event::Mentioned(saving::went_elsewhere(&original, &id)));
            }
            if epoch == present {
                outbox.push(Event::SessionSaved(id));
            }
        }
    }
}

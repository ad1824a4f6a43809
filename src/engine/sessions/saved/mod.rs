//! Lists, indexes and searches the saved sessions in the background: at most one slice of indexing
//! and one search at a time. The submodule `files` changes session files.

mod files;

use crate::domain::{IndexProgress, QueryId, SessionId};
use crate::engine::cx::EngineCx;
use crate::engine::job_set::JobSet;
use crate::engine::jobs::{JobResult, SessionsResult};
use crate::engine::persist::session_writer::ConversationSeq;
use crate::protocol::{Event, SavedSessionEvent};
use crate::store::{FoundSessions, ReadLimits};
use jiff::{Timestamp, Zoned};
use std::sync::Arc;
use std::time::Duration;

/// How long one slice of indexing takes, and so how often progress is reported.
const SLICE_TIME: Duration = Duration::from_millis(400);
/// The pause after the first slice without progress. It doubles each time.
const PAUSE_MIN: Duration = Duration::from_millis(500);
/// After this many pauses without progress, indexing ends until the sessions are listed again.
const PAUSES_MAX: u32 = 8;

#[derive(Default)]
pub(in crate::engine) struct SavedSessions {
    indexing: Option<Indexing>,
    is_searching: bool,
    /// The newest search that arrived while another one was running.
    waiting_search: Option<(QueryId, String)>,
    /// The open conversation that was deleted last, and the empty one that replaced it.
    deleted_open: Option<(SessionId, ConversationSeq)>,
    /// Lists, searches, previews and slices of indexing. Nothing is lost if they are dropped, so the
    /// end of the program does not wait for them.
    tasks: JobSet,
}

struct Indexing {
    last_indexed: usize,
    /// Consecutive slices without progress.
    pauses: u32,
}

impl SavedSessions {
    pub(in crate::engine) fn remove_expired(cx: &mut EngineCx) {
        let (trash, sessions) = (cx.trash.clone(), Arc::clone(&cx.sessions));
        cx.jobs.spawn_blocking(move || {
            trash.remove_expired(&sessions, Zoned::now().date());
            JobResult::Nothing
        });
    }

    pub(in crate::engine) fn record_deleted_open(&mut self, id: SessionId, seq: ConversationSeq) {
        self.deleted_open = Some((id, seq));
    }

    /// Whether the restored session was open when it was deleted and `seq` replaced it. Returns true
    /// only once.
    pub(in crate::engine) fn take_deleted_open(
        &mut self,
        restored: &SessionId,
        seq: ConversationSeq,
    ) -> bool {
        let is_same =
            |(id, empty): &mut (SessionId, ConversationSeq)| id == restored && *empty == seq;
        self.deleted_open.take_if(is_same).is_some()
    }

    /// Waits for a task to end; `None` if there is none. Cancel-safe.
    pub(in crate::engine) async fn next_result(&mut self) -> Option<JobResult> {
        self.tasks.join_next().await
    }

    pub(in crate::engine) fn list(&mut self, query: QueryId, cx: &EngineCx) {
        let index = Arc::clone(&cx.session_index);
        self.tasks.spawn_blocking(move || {
            let (sessions, progress) = index.list(ReadLimits::INSTANT);
            let listed = Event::SessionsListed {
                query,
                listed_at: Timestamp::now(),
                sessions: Arc::new(sessions),
            };
            JobResult::Sessions(SessionsResult::Listed(Box::new(listed), progress))
        });
    }

    pub(in crate::engine) fn handle_listed(
        &mut self,
        listed: Event,
        progress: IndexProgress,
        cx: &mut EngineCx,
    ) {
        cx.outbox.push(listed);
        // Indexing reads every file and every row again, so it starts only if the index is outdated.
        if self.indexing.is_none() && !progress.is_current() {
            self.indexing = Some(Indexing {
                last_indexed: progress.indexed,
                pauses: 0,
            });
            self.start_slice(Duration::ZERO, cx);
        }
    }

    pub(in crate::engine) fn handle_indexed(&mut self, progress: IndexProgress, cx: &mut EngineCx) {
        let indexing = self.indexing.as_mut();
        let is_over = progress.is_complete() || progress.error.is_some();
        let has_grown = indexing
            .as_ref()
            .is_none_or(|indexing| progress.indexed > indexing.last_indexed);
        let is_worth_reporting = has_grown || !progress.is_complete() || progress.error.is_some();
        if let Some(error) = &progress.error {
            tracing::warn!("sessions could not be indexed: {error}");
        }
        let next = indexing.filter(|_| !is_over).and_then(|indexing| {
            if has_grown {
                (indexing.pauses, indexing.last_indexed) = (0, progress.indexed);
                return Some(Duration::ZERO);
            }
            // Another program is indexing, or the files keep changing.
            indexing.pauses += 1;
            let pause = PAUSE_MIN * 2_u32.pow(indexing.pauses - 1);
            (indexing.pauses <= PAUSES_MAX).then_some(pause)
        });
        if is_worth_reporting {
            let indexed = SavedSessionEvent::Indexed(progress);
            cx.outbox.push(Event::SavedSession(indexed));
        }
        match next {
            Some(pause) => self.start_slice(pause, cx),
            None => self.indexing = None,
        }
    }

    fn start_slice(&mut self, pause: Duration, cx: &EngineCx) {
        let index = Arc::clone(&cx.session_index);
        self.tasks.spawn(async move {
            tokio::time::sleep(pause).await;
            let slice = tokio::task::spawn_blocking(move || index.update(SLICE_TIME)).await;
            let progress = slice.unwrap_or_else(|error| IndexProgress {
                error: Some(error.to_string()),
                ..IndexProgress::default()
            });
            JobResult::Sessions(SessionsResult::Indexed(progress))
        });
    }

    pub(in crate::engine) fn search(&mut self, query: QueryId, words: String, cx: &EngineCx) {
        if self.is_searching {
            self.waiting_search = Some((query, words));
            return;
        }
        self.is_searching = true;
        let index = Arc::clone(&cx.session_index);
        let searched = move |found: FoundSessions| {
            let found = SavedSessionEvent::Found {
                query,
                sessions: Arc::new(found.sessions),
                terms: found.terms,
            };
            let found = Box::new(Event::SavedSession(found));
            JobResult::Sessions(SessionsResult::Searched(found))
        };
        let if_panicked = searched(FoundSessions::default());
        self.tasks.spawn_blocking_or(if_panicked, move || {
            let found = index.search(&words).unwrap_or_else(|error| {
                tracing::warn!("sessions could not be searched: {error}");
                FoundSessions::default()
            });
            searched(found)
        });
    }

    pub(in crate::engine) fn handle_searched(&mut self, found: Event, cx: &mut EngineCx) {
        cx.outbox.push(found);
        self.is_searching = false;
        if let Some((query, words)) = self.waiting_search.take() {
            self.search(query, words, cx);
        }
    }

    pub(in crate::engine) fn preview(
        &mut self,
        query: QueryId,
        id: SessionId,
        terms: Vec<String>,
        cx: &EngineCx,
    ) {
        let sessions = Arc::clone(&cx.sessions);
        self.tasks.spawn_blocking(move || {
            JobResult::Events(match sessions.preview(&id, &terms) {
                Ok(preview) => {
                    let preview = Arc::new(preview);
                    vec![Event::SessionPreviewed { query, preview }]
                }
                // The list already shows why the session cannot be read.
                Err(_) => Vec::new(),
            })
        });
    }
}

//! Finds notes while the user types a note's path. One search runs at a time.

use crate::domain::{NotePaths, NotesSettings, Notice};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::ports::{NoteRequest, NoteService};
use crate::protocol::Event;
use futures::FutureExt;
use std::sync::Arc;

/// Longer fragments match nothing.
const FRAGMENT_BYTES_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(in crate::engine) struct PathSearch {
    is_running: bool,
    /// The latest fragment, if it has to wait for the running search.
    waiting: Option<String>,
}

impl PathSearch {
    /// Searches once no other search is running. A later search replaces one that waits.
    pub(super) fn find(
        &mut self,
        fragment: String,
        notes: &Arc<dyn NoteService>,
        settings: NotesSettings,
        cx: &mut EngineCx,
    ) {
        if self.is_running {
            self.waiting = Some(fragment);
            return;
        }
        if settings.vaults.is_empty() || fragment.len() > FRAGMENT_BYTES_MAX {
            return;
        }
        self.is_running = true;
        let request = NoteRequest {
            settings,
            vault: None,
            on_progress: Arc::new(|_| {}),
        };
        let found = notes.complete_path(request, fragment.clone());
        let if_panicked = JobResult::NotePathsFound(fragment.clone(), Ok(NotePaths::default()));
        let found = found.map(|found| JobResult::NotePathsFound(fragment, found));
        cx.jobs.spawn_or(if_panicked, found);
    }

    /// Returns the fragment to search for next.
    pub(in crate::engine) fn handle_found(
        &mut self,
        fragment: String,
        found: Result<NotePaths, Notice>,
        cx: &mut EngineCx,
    ) -> Option<String> {
        self.is_running = false;
        // The reason is reported when the user opens a note.
        let found = Arc::new(found.unwrap_or_default());
        cx.outbox.push(Event::NotePathsFound { fragment, found });
        self.waiting.take()
    }
}

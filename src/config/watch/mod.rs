//! Watches the settings files for edits by other programs. File-system events are only hints:
//! a change is reported only if a file's contents differ. Without events, the files are
//! polled every two seconds.

mod fingerprint;

use super::Home;
use fingerprint::{Fingerprints, folders_to_watch};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// Debounce interval: editors write a file in several steps.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// Longest debounce, for a file that keeps changing.
const DEBOUNCE_MAX: Duration = Duration::from_secs(2);
/// Poll interval without file-system events.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Poll interval with file-system events, because they do not arrive from network drives and may
/// be dropped under load.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Reports changes to the settings files of a home. Stops when dropped.
#[derive(Debug)]
pub struct SettingsWatcher {
    changed: mpsc::Receiver<()>,
    _task: AbortOnDropHandle<()>,
}

impl SettingsWatcher {
    /// Starts watching. Reports a change immediately, to cover edits made since the files were read.
    /// Must be called within a tokio runtime.
    pub fn new(home: &Home) -> Self {
        let (sender, changed) = mpsc::channel(1);
        let task = tokio::spawn(watch(home.clone(), sender));
        Self {
            changed,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Waits for a change, or forever once watching has ended. Cancel-safe.
    pub async fn changed(&mut self) {
        if self.changed.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

async fn watch(home: Home, sender: mpsc::Sender<()>) {
    let (wake, wakes) = mpsc::channel(1);
    watch_loop(SettingsFiles::new(home, wake), wakes, sender).await;
}

async fn watch_loop(
    mut files: SettingsFiles,
    mut wakes: mpsc::Receiver<()>,
    sender: mpsc::Sender<()>,
) {
    loop {
        let check = tokio::task::spawn_blocking(move || {
            let has_changed = files.has_changed();
            (files, has_changed)
        });
        let has_changed;
        (files, has_changed) = match check.await {
            Ok(result) => result,
            Err(error) => return tracing::error!("the settings are not watched: {error}"),
        };
        // A full channel already holds an unread report, which is enough.
        if has_changed
            && matches!(
                sender.try_send(()),
                Err(mpsc::error::TrySendError::Closed(()))
            )
        {
            return;
        }
        let poll_interval = if files.receives_events {
            FALLBACK_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        };
        if timeout(poll_interval, wakes.recv()).await.is_ok() {
            debounce(&mut wakes).await;
        }
    }
}

async fn debounce(wakes: &mut mpsc::Receiver<()>) {
    let end = Instant::now() + DEBOUNCE_MAX;
    loop {
        let until = end.min(Instant::now() + DEBOUNCE);
        match timeout_at(until, wakes.recv()).await {
            Ok(Some(())) if Instant::now() < end => {}
            _ => return,
        }
    }
}

struct SettingsFiles {
    home: Home,
    wake: mpsc::Sender<()>,
    system_watcher: Option<RecommendedWatcher>,
    may_use_events: bool,
    watched_folders: BTreeSet<PathBuf>,
    fingerprints: Option<Fingerprints>,
    /// The operating system reports events for every folder.
    receives_events: bool,
}

impl SettingsFiles {
    fn new(home: Home, wake: mpsc::Sender<()>) -> Self {
        Self {
            home,
            wake,
            system_watcher: None,
            may_use_events: true,
            watched_folders: BTreeSet::new(),
            fingerprints: None,
            receives_events: false,
        }
    }

    /// Whether a file's contents differ from the last check. True on the first check. Blocks.
    fn has_changed(&mut self) -> bool {
        // Watch before reading, so that no change in between is lost.
        self.receives_events = self.watch_folders();
        let fingerprints = Fingerprints::read(&self.home, self.fingerprints.as_ref());
        let has_changed = self.fingerprints.as_ref() != Some(&fingerprints);
        self.fingerprints = Some(fingerprints);
        has_changed
    }

    /// Links may have changed since the last check, and a recreated folder needs a new watch.
    /// Returns whether all folders are watched.
    fn watch_folders(&mut self) -> bool {
        if self.system_watcher.is_none() && self.may_use_events {
            let wake = self.wake.clone();
            let on_event = move |event: notify::Result<Event>| {
                // Reading a file does not change it.
                let is_read = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(kind)
                        if !matches!(kind, notify::event::AccessKind::Close(_))));
                if !is_read {
                    // If the channel is full, a check is already due.
                    let _ = wake.try_send(());
                }
            };
            self.system_watcher = notify::recommended_watcher(on_event)
                .inspect_err(|error| {
                    tracing::warn!("file-system events are not available: {error}")
                })
                .ok();
        }
        let Some(watcher) = &mut self.system_watcher else {
            return false;
        };
        let folders = folders_to_watch(&self.home);
        for folder in self.watched_folders.difference(&folders) {
            // Fails if the folder was removed, which is fine.
            let _ = watcher.unwatch(folder);
        }
        let mut watches_all = true;
        for folder in &folders {
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::debug!("{} is not watched: {error}", folder.display());
                watches_all = false;
            }
        }
        self.watched_folders = folders;
        watches_all
    }
}

#[cfg(test)]
mod tests;

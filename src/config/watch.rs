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
/// Poll interval with file-system events, which are missing on network drives and dropped
/// under load.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Reports changes of the settings files of a home. Stops when dropped.
#[derive(Debug)]
pub struct SettingsWatcher {
    changed: mpsc::Receiver<()>,
    _task: AbortOnDropHandle<()>,
}

impl SettingsWatcher {
    /// Starts watching. Reports a change at once, to cover edits since the files were read.
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
    let (wake, woken) = mpsc::channel(1);
    watch_loop(SettingsFiles::new(home, wake), woken, sender).await;
}

async fn watch_loop(
    mut files: SettingsFiles,
    mut woken: mpsc::Receiver<()>,
    sender: mpsc::Sender<()>,
) {
    loop {
        let checked = tokio::task::spawn_blocking(move || {
            let changed = files.has_changed();
            (files, changed)
        });
        let changed;
        (files, changed) = match checked.await {
            Ok(checked) => checked,
            Err(fault) => return tracing::error!("the settings are not watched: {fault}"),
        };
        // A full channel already holds an unread report, which is enough.
        if changed
            && matches!(
                sender.try_send(()),
                Err(mpsc::error::TrySendError::Closed(()))
            )
        {
            return;
        }
        let poll_interval = if files.is_notified {
            FALLBACK_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        };
        if timeout(poll_interval, woken.recv()).await.is_ok() {
            debounce(&mut woken).await;
        }
    }
}

async fn debounce(woken: &mut mpsc::Receiver<()>) {
    let end = Instant::now() + DEBOUNCE_MAX;
    loop {
        let until = end.min(Instant::now() + DEBOUNCE);
        match timeout_at(until, woken.recv()).await {
            Ok(Some(())) if Instant::now() < end => {}
            _ => return,
        }
    }
}

/// The system's watcher, and the fingerprints of the files at the last check.
struct SettingsFiles {
    home: Home,
    wake: mpsc::Sender<()>,
    system: Option<RecommendedWatcher>,
    may_use_events: bool,
    watched: BTreeSet<PathBuf>,
    fingerprints: Option<Fingerprints>,
    /// The system watches every folder.
    is_notified: bool,
}

impl SettingsFiles {
    fn new(home: Home, wake: mpsc::Sender<()>) -> Self {
        Self {
            home,
            wake,
            system: None,
            may_use_events: true,
            watched: BTreeSet::new(),
            fingerprints: None,
            is_notified: false,
        }
    }

    /// Whether a file's contents differ from the last check. True on the first check. Blocks.
    fn has_changed(&mut self) -> bool {
        // Watch before reading, so that no change in between is lost.
        self.is_notified = self.watch_folders();
        let stamps = Fingerprints::read(&self.home, self.fingerprints.as_ref());
        let changed = self.fingerprints.as_ref() != Some(&stamps);
        self.fingerprints = Some(stamps);
        changed
    }

    /// Watches the current folders of the files. Links may have changed since the last check,
    /// and a recreated folder needs a new watch.
    fn watch_folders(&mut self) -> bool {
        if self.system.is_none() && self.may_use_events {
            let wake = self.wake.clone();
            let on_event = move |event: notify::Result<Event>| {
                // Reading a file does not change it.
                let is_reading = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(kind)
                        if !matches!(kind, notify::event::AccessKind::Close(_))));
                if !is_reading {
                    // If the channel is full, a check is already due.
                    let _ = wake.try_send(());
                }
            };
            self.system = notify::recommended_watcher(on_event)
                .inspect_err(|fault| {
                    tracing::warn!("file-system events are not available: {fault}")
                })
                .ok();
        }
        let Some(system) = &mut self.system else {
            return false;
        };
        let wanted = folders_to_watch(&self.home);
        for gone in self.watched.difference(&wanted) {
            // Fails if the folder was removed, which is fine.
            let _ = system.unwatch(gone);
        }
        let mut watches_all = true;
        for folder in &wanted {
            if let Err(fault) = system.watch(folder, RecursiveMode::NonRecursive) {
                tracing::debug!("{} is not watched: {fault}", folder.display());
                watches_all = false;
            }
        }
        self.watched = wanted;
        watches_all
    }
}

#[cfg(test)]
mod tests;

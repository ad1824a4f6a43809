//! Watches the files of settings for edits from outside (S1.4). The system's word
//! that something happened is only a hint: what is told on is that a file holds
//! something else now. Where the system gives no word, the files are looked at
//! every two seconds.

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

/// Editors write a file in several steps: this long nothing more must happen.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// A file that never comes to rest is read all the same.
const DEBOUNCE_MAX: Duration = Duration::from_secs(2);
/// Between two looks where nobody tells of changes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Between two looks where the system does: it says nothing of a network drive, and
/// loses words when there are too many.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Tells when the files of a home may say something else. Dropped, it stops.
#[derive(Debug)]
pub struct SettingsWatcher {
    changed: mpsc::Receiver<()>,
    _task: AbortOnDropHandle<()>,
}

impl SettingsWatcher {
    /// Begins to watch; the first word comes at once, for what changed since the
    /// files were read. Must be called within a tokio runtime.
    pub fn new(home: &Home) -> Self {
        let (tell, changed) = mpsc::channel(1);
        let task = tokio::spawn(watch(home.clone(), tell));
        Self {
            changed,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Waits for a change; for ever once watching has ended. Safe to drop.
    pub async fn changed(&mut self) {
        if self.changed.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

async fn watch(home: Home, tell: mpsc::Sender<()>) {
    let (wake, woken) = mpsc::channel(1);
    watch_loop(SettingsFiles::new(home, wake), woken, tell).await;
}

async fn watch_loop(
    mut look: SettingsFiles,
    mut woken: mpsc::Receiver<()>,
    tell: mpsc::Sender<()>,
) {
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let changed = look.has_changed();
            (look, changed)
        });
        let changed;
        (look, changed) = match looked.await {
            Ok(looked) => looked,
            Err(fault) => return tracing::error!("the settings are not watched: {fault}"),
        };
        // Full means that the last word has not been heard yet: one is enough.
        if changed
            && matches!(
                tell.try_send(()),
                Err(mpsc::error::TrySendError::Closed(()))
            )
        {
            return;
        }
        let patience = if look.is_notified {
            FALLBACK_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        };
        if timeout(patience, woken.recv()).await.is_ok() {
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

/// The system's watcher, and what the files held at the last look.
struct SettingsFiles {
    home: Home,
    wake: mpsc::Sender<()>,
    system: Option<RecommendedWatcher>,
    may_use_system: bool,
    watched: BTreeSet<PathBuf>,
    fingerprints: Option<Fingerprints>,
    /// Every folder is watched by the system.
    is_notified: bool,
}

impl SettingsFiles {
    fn new(home: Home, wake: mpsc::Sender<()>) -> Self {
        Self {
            home,
            wake,
            system: None,
            may_use_system: true,
            watched: BTreeSet::new(),
            fingerprints: None,
            is_notified: false,
        }
    }

    /// Does a file hold something else than at the last look? The first look says
    /// yes. Blocks.
    fn has_changed(&mut self) -> bool {
        // First the watch, then the look: what happens between is not lost.
        self.is_notified = self.watch_folders();
        let stamps = Fingerprints::read(&self.home, self.fingerprints.as_ref());
        let changed = self.fingerprints.as_ref() != Some(&stamps);
        self.fingerprints = Some(stamps);
        changed
    }

    /// Watches the folders in which the files are now: links may lead elsewhere since
    /// the last look, and a folder that was made again is another one.
    fn watch_folders(&mut self) -> bool {
        if self.system.is_none() && self.may_use_system {
            let wake = self.wake.clone();
            let heard = move |event: notify::Result<Event>| {
                // To read a file is no change of it.
                let is_reading = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(kind)
                        if !matches!(kind, notify::event::AccessKind::Close(_))));
                if !is_reading {
                    // Full: a look is due anyway.
                    let _ = wake.try_send(());
                }
            };
            self.system = notify::recommended_watcher(heard)
                .inspect_err(|fault| tracing::warn!("the system tells of no changes: {fault}"))
                .ok();
        }
        let Some(system) = &mut self.system else {
            return false;
        };
        let wanted = folders_to_watch(&self.home);
        for gone in self.watched.difference(&wanted) {
            // It may be gone by itself.
            let _ = system.unwatch(gone);
        }
        let mut is_told = true;
        for folder in &wanted {
            if let Err(fault) = system.watch(folder, RecursiveMode::NonRecursive) {
                tracing::debug!("{} is not watched: {fault}", folder.display());
                is_told = false;
            }
        }
        self.watched = wanted;
        is_told
    }
}

#[cfg(test)]
mod tests;

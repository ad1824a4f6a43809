//! Watches the files of settings for edits from outside (S1.4). The system's word
//! that something happened is only a hint: what is told on is that a file holds
//! something else now. Where the system gives no word, the files are looked at
//! every two seconds.

mod fingerprint;

use super::Home;
use fingerprint::{Stamps, folders};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// Editors write a file in several steps: this long nothing more must happen.
const QUIET: Duration = Duration::from_millis(200);
/// A file that never comes to rest is read all the same.
const RESTLESS_MAX: Duration = Duration::from_secs(2);
/// Between two looks where nobody tells of changes.
const POLL: Duration = Duration::from_secs(2);
/// Between two looks where the system does: it says nothing of a network drive, and
/// loses words when there are too many.
const SAFETY: Duration = Duration::from_secs(10);

/// Tells when the files of a home may say something else. Dropped, it stops.
#[derive(Debug)]
pub struct Watcher {
    changed: mpsc::Receiver<()>,
    _task: AbortOnDropHandle<()>,
}

impl Watcher {
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
    follow(Look::new(home, wake), woken, tell).await;
}

async fn follow(mut look: Look, mut woken: mpsc::Receiver<()>, tell: mpsc::Sender<()>) {
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let changed = look.again();
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
        let patience = if look.is_told { SAFETY } else { POLL };
        if timeout(patience, woken.recv()).await.is_ok() {
            come_to_rest(&mut woken).await;
        }
    }
}

async fn come_to_rest(woken: &mut mpsc::Receiver<()>) {
    let end = Instant::now() + RESTLESS_MAX;
    loop {
        let until = end.min(Instant::now() + QUIET);
        match timeout_at(until, woken.recv()).await {
            Ok(Some(())) if Instant::now() < end => {}
            _ => return,
        }
    }
}

/// The system's watcher, and what the files held at the last look.
struct Look {
    home: Home,
    wake: mpsc::Sender<()>,
    system: Option<RecommendedWatcher>,
    asks_system: bool,
    watched: BTreeSet<PathBuf>,
    stamps: Option<Stamps>,
    /// Every folder is watched by the system.
    is_told: bool,
}

impl Look {
    fn new(home: Home, wake: mpsc::Sender<()>) -> Self {
        Self {
            home,
            wake,
            system: None,
            asks_system: true,
            watched: BTreeSet::new(),
            stamps: None,
            is_told: false,
        }
    }

    /// Does a file hold something else than at the last look? The first look says
    /// yes. Blocks.
    fn again(&mut self) -> bool {
        // First the watch, then the look: what happens between is not lost.
        self.is_told = self.follow();
        let stamps = Stamps::of(&self.home, self.stamps.as_ref());
        let changed = self.stamps.as_ref() != Some(&stamps);
        self.stamps = Some(stamps);
        changed
    }

    /// Watches the folders in which the files are now: links may lead elsewhere since
    /// the last look, and a folder that was made again is another one.
    fn follow(&mut self) -> bool {
        if self.system.is_none() && self.asks_system {
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
        let wanted = folders(&self.home);
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

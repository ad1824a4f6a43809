//! Tracks which notes may have changed since the last search. File-system events are only hints,
//! because they may be lost: a large folder is also scanned from time to time, and a small folder, or
//! one without events, before each search.

use super::vault::{Vault, is_hidden};
use crate::sync::lock_ignoring_poison;
use notify::event::AccessKind;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The longest time without a scan of the whole folder. Network drives report no events.
const SCAN_INTERVAL: Duration = Duration::from_secs(60);
/// Vaults of up to this many notes are always scanned. That takes a few milliseconds, and events may
/// take longer to arrive.
const ALWAYS_SCANNED_MAX: usize = 2_000;
/// Above this number of changed files, a scan is cheaper.
const PATHS_MAX: usize = 1_000;

/// The files that must be compared with the index.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// All notes.
    Scan,
    /// These paths; the files may be deleted or not be notes.
    Files(Vec<PathBuf>),
}

/// Collects the changes in a vault. Stops when dropped.
#[derive(Debug)]
pub(super) struct VaultWatch {
    /// `None` if the operating system reports no events, for example because the user has too many
    /// watches.
    watcher: Option<RecommendedWatcher>,
    changes: Arc<Mutex<Changes>>,
    last_scan: Option<Instant>,
}

#[derive(Debug, Default)]
struct Changes {
    paths: BTreeSet<PathBuf>,
    needs_scan: bool,
}

impl VaultWatch {
    /// Begins to collect changes. A scan is due first.
    pub(super) fn new(vault: &Vault) -> Self {
        let changes = Arc::new(Mutex::new(Changes::default()));
        let (sink, root) = (Arc::clone(&changes), vault.root().to_path_buf());
        let on_event = move |event: notify::Result<Event>| {
            lock_ignoring_poison(&sink).record(event, &root);
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(on_event, config).and_then(|mut watcher| {
            watcher.watch(vault.root(), RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        if let Err(error) = &watcher {
            tracing::info!("the notes folder is not watched: {error}");
        }
        Self {
            watcher: watcher.ok(),
            changes,
            last_scan: None,
        }
    }

    /// Returns the files to compare now. Later changes are collected for the next call.
    pub(super) fn take_due(&mut self) -> Due {
        let changes = std::mem::take(&mut *lock_ignoring_poison(&self.changes));
        let is_recent = |at: Instant| at.elapsed() < SCAN_INTERVAL;
        if self.watcher.is_none() || changes.needs_scan || !self.last_scan.is_some_and(is_recent) {
            self.last_scan = None;
            return Due::Scan;
        }
        Due::Files(changes.paths.into_iter().collect())
    }

    /// Records that a scan of this many notes was completed. Until then, another scan stays due.
    pub(super) fn record_scan(&mut self, notes: usize) {
        self.last_scan = (notes > ALWAYS_SCANNED_MAX).then(Instant::now);
    }

    pub(super) fn require_scan(&mut self) {
        self.last_scan = None;
    }
}

impl Changes {
    fn record(&mut self, event: notify::Result<Event>, root: &Path) {
        let Ok(event) = event else {
            self.needs_scan = true;
            return;
        };
        self.needs_scan |= event.need_rescan();
        // Reading a file does not change it.
        if matches!(event.kind, EventKind::Access(kind) if !matches!(kind, AccessKind::Close(_))) {
            return;
        }
        for path in event.paths {
            if path.strip_prefix(root).is_ok_and(is_hidden) {
                continue;
            }
            if Vault::is_note(&path) {
                self.paths.insert(path);
            } else if !path.is_file() {
                // A folder, perhaps with notes, or something deleted that may have been one.
                self.needs_scan = true;
            }
        }
        if self.paths.len() > PATHS_MAX {
            self.needs_scan = true;
        }
        if self.needs_scan {
            self.paths.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, Flag, ModifyKind};

    fn recorded(events: Vec<notify::Result<Event>>) -> Changes {
        let mut changes = Changes::default();
        for event in events {
            changes.record(event, Path::new("/vault"));
        }
        changes
    }

    fn event(kind: EventKind, path: &str) -> notify::Result<Event> {
        Ok(Event::new(kind).add_path(path.into()))
    }

    #[test]
    fn changed_notes_are_collected_once_and_hidden_files_ignored() {
        let modified = EventKind::Modify(ModifyKind::Any);
        let changes = recorded(vec![
            event(modified, "/vault/a/b.md"),
            event(modified, "/vault/a/b.md"),
            event(EventKind::Access(AccessKind::Read), "/vault/c.md"),
            event(modified, "/vault/.git/d.md"),
            event(modified, "/vault/a/.e.md"),
        ]);
        assert!(!changes.needs_scan);
        assert_eq!(changes.paths, BTreeSet::from(["/vault/a/b.md".into()]));
    }

    #[test]
    fn in_a_large_vault_only_the_edited_note_is_due() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("a")).expect("created");
        let vault = Vault::open(folder.path()).expect("a vault");
        let mut watch = VaultWatch::new(&vault);
        assert_eq!(watch.take_due(), Due::Scan);
        watch.record_scan(ALWAYS_SCANNED_MAX);
        assert_eq!(watch.take_due(), Due::Scan, "a small vault");
        watch.record_scan(ALWAYS_SCANNED_MAX + 1);
        assert_eq!(watch.take_due(), Due::Files(Vec::new()));
        let note = vault.root().join("a/b.md");
        std::fs::write(&note, "text").expect("written");
        let deadline = Instant::now() + Duration::from_secs(10);
        while watch.take_due() != Due::Files(vec![note.clone()]) {
            assert!(Instant::now() < deadline, "no event");
            std::thread::yield_now();
        }
        watch.require_scan();
        assert_eq!(watch.take_due(), Due::Scan);
    }

    #[test]
    fn lost_events_new_folders_and_many_changes_require_a_scan() {
        let created = EventKind::Create(CreateKind::Any);
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        let many = (0..=PATHS_MAX).map(|n| event(created, &format!("/vault/{n}.md")));
        for events in [
            vec![event(created, "/vault/folder")],
            vec![Ok(lost)],
            vec![Err(notify::Error::generic("lost"))],
            many.collect(),
        ] {
            let changes = recorded(events);
            assert!(
                changes.needs_scan && changes.paths.is_empty(),
                "{changes:?}"
            );
        }
    }
}

//! Fingerprints of the watched files, and the folders to watch for changes to them.

use crate::config::Home;
use crate::config::themes::theme_paths;
use crate::files;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Larger files are not settings; the readers reject them too.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Maximum number of links followed, in case they form a cycle.
const LINKS_MAX: usize = 40;
/// Maximum number of watched personas, and of watched prompt templates.
const MARKDOWN_FILES_MAX: usize = 1_000;
/// A file can change again without a new modification time if the clock is coarse, so a file
/// modified this recently is always read.
const RECENT_AGE_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fingerprints(BTreeMap<PathBuf, Fingerprint>);

#[derive(Debug, Clone)]
struct Fingerprint {
    /// Size, modification time and inode.
    metadata: Option<(u64, Option<SystemTime>, u64)>,
    contents: FileContents,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FileContents {
    Missing,
    Bytes([u8; 32]),
    Unreadable(String),
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.contents == other.contents
    }
}

impl Fingerprints {
    /// Reads the files that may have changed since `before`. Blocks.
    pub(super) fn read(home: &Home, before: Option<&Self>) -> Self {
        let previous = |path: &Path| before.and_then(|before| before.0.get(path));
        let fingerprints = settings_files(home).into_iter().map(|path| {
            let fingerprint = Fingerprint::read(&path, previous(&path));
            (path, fingerprint)
        });
        Self(fingerprints.collect())
    }
}

impl Fingerprint {
    fn read(path: &Path, old: Option<&Self>) -> Self {
        let metadata = fs::metadata(path).ok();
        let comparable = metadata.as_ref().map(comparable_metadata);
        let is_settled = metadata.is_some_and(|metadata| {
            let modified = metadata.modified().ok();
            modified.is_some_and(|time| time.elapsed().is_ok_and(|age| age > RECENT_AGE_MAX))
        });
        if let Some(old) = old.filter(|old| is_settled && old.metadata == comparable) {
            return old.clone();
        }
        let contents = match files::read(path, BYTES_MAX) {
            Ok(None) => FileContents::Missing,
            Ok(Some(bytes)) => FileContents::Bytes(Sha256::digest(&bytes).into()),
            Err(error) => FileContents::Unreadable(error.to_string()),
        };
        Self {
            metadata: comparable,
            contents,
        }
    }
}

fn comparable_metadata(metadata: &Metadata) -> (u64, Option<SystemTime>, u64) {
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let inode = 0;
    (metadata.len(), metadata.modified().ok(), inode)
}

fn settings_files(home: &Home) -> Vec<PathBuf> {
    let mut files = vec![
        home.config(),
        home.servers(),
        home.system_prompt(),
        home.trust(),
    ];
    for folder in [home.personas(), home.prompts()] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let markdown =
            paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
        files.extend(markdown.take(MARKDOWN_FILES_MAX));
    }
    files.extend(theme_paths(home));
    files
}

/// The folders to watch: those that contain a file, a link on the way to it, or a link's target.
/// A missing folder is replaced by its nearest existing ancestor.
pub(super) fn folders_to_watch(home: &Home) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let mut add = |folder: &Path| {
        let existing = folder.ancestors().find(|folder| folder.is_dir());
        folders.extend(existing.map(Path::to_owned));
    };
    // Removing and recreating the home is visible only in its parent folder.
    home.root().parent().into_iter().for_each(&mut add);
    add(&home.personas());
    add(&home.prompts());
    add(&home.themes());
    let paths = settings_files(home).into_iter().chain([
        home.personas(),
        home.prompts(),
        home.themes(),
        home.root().to_owned(),
    ]);
    for path in paths {
        let mut current = path;
        for _ in 0..LINKS_MAX {
            current.parent().into_iter().for_each(&mut add);
            let Ok(target) = fs::read_link(&current) else {
                break;
            };
            current = current.parent().unwrap_or(Path::new("/")).join(target);
        }
    }
    folders
}

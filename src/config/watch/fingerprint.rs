//! What the watched files hold, as short as can be compared, and the folders in
//! which a change of them shows.

use crate::config::Home;
use crate::files;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Larger files are no settings; readers refuse them, too.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Links followed before a chain counts as a circle.
const LINKS_MAX: usize = 40;
/// Personas that are looked at.
const PERSONAS_MAX: usize = 1_000;
/// A file may change again within one tick of its clock: so young, its time proves
/// nothing.
const RECENT: Duration = Duration::from_secs(2);

/// What each file held.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fingerprints(BTreeMap<PathBuf, Fingerprint>);

#[derive(Debug, Clone)]
struct Fingerprint {
    /// Size, time of the last change, and which file it is.
    metadata: Option<(u64, Option<SystemTime>, u64)>,
    contents: FileContents,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FileContents {
    Nothing,
    Bytes([u8; 32]),
    Unreadable(String),
}

/// The same bytes are the same, whoever wrote them and when.
impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.contents == other.contents
    }
}

impl Fingerprints {
    /// Reads what changed since `before`. Blocks.
    pub(super) fn read(home: &Home, before: Option<&Self>) -> Self {
        let old = |path: &Path| before.and_then(|before| before.0.get(path));
        let stamps = settings_files(home).into_iter().map(|path| {
            let stamp = Fingerprint::read(&path, old(&path));
            (path, stamp)
        });
        Self(stamps.collect())
    }
}

impl Fingerprint {
    fn read(path: &Path, old: Option<&Self>) -> Self {
        let metadata = fs::metadata(path).ok();
        let facts = metadata.as_ref().map(comparable_metadata);
        let is_old = metadata.is_some_and(|metadata| {
            let changed = metadata.modified().ok();
            changed.is_some_and(|at| at.elapsed().is_ok_and(|age| age > RECENT))
        });
        if let Some(old) = old.filter(|old| is_old && old.metadata == facts) {
            return old.clone();
        }
        let held = match files::read(path, BYTES_MAX) {
            Ok(None) => FileContents::Nothing,
            Ok(Some(bytes)) => FileContents::Bytes(Sha256::digest(&bytes).into()),
            Err(fault) => FileContents::Unreadable(fault.to_string()),
        };
        Self {
            metadata: facts,
            contents: held,
        }
    }
}

fn comparable_metadata(metadata: &Metadata) -> (u64, Option<SystemTime>, u64) {
    #[cfg(unix)]
    let which = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let which = 0;
    (metadata.len(), metadata.modified().ok(), which)
}

/// The files that hold settings.
fn settings_files(home: &Home) -> Vec<PathBuf> {
    let mut files = vec![
        home.config(),
        home.servers(),
        home.system_prompt(),
        home.trust(),
    ];
    let entries = fs::read_dir(home.personas())
        .into_iter()
        .flatten()
        .flatten();
    let personas = entries.map(|entry| entry.path());
    let mut personas: Vec<PathBuf> = personas
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .take(PERSONAS_MAX)
        .collect();
    personas.sort();
    files.extend(personas);
    files
}

/// The folders in which a change of the files shows: those of each link on the way
/// and of what it leads to; for one that is not there, the nearest above it.
pub(super) fn folders_to_watch(home: &Home) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let mut add = |folder: &Path| {
        let there = folder.ancestors().find(|folder| folder.is_dir());
        folders.extend(there.map(Path::to_owned));
    };
    // A home that is taken away and put back shows in the folder above it.
    home.root().parent().into_iter().for_each(&mut add);
    add(&home.personas());
    let paths = settings_files(home)
        .into_iter()
        .chain([home.personas(), home.root().to_owned()]);
    for path in paths {
        let mut here = path;
        for _ in 0..LINKS_MAX {
            here.parent().into_iter().for_each(&mut add);
            let Ok(next) = fs::read_link(&here) else {
                break;
            };
            here = here.parent().unwrap_or(Path::new("/")).join(next);
        }
    }
    folders
}

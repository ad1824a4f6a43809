//! Finds files by part of their path. A path that the user spells out (`~/`, `/`, `../` or a
//! leading dot) is completed one folder at a time. Anything else is compared with all files below
//! the start folder, except hidden and ignored ones.

use crate::domain::attachment::{FoundFile, FoundFiles, shown_path};
use crate::files;
use crate::sync::lock_ignoring_poison;
use icu_normalizer::ComposingNormalizerBorrowed;
use ignore::WalkBuilder;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fs::ReadDir;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum number of files and folders that a walk lists.
const LISTED_MAX: usize = 100_000;
const WALK_TIME_MAX: Duration = Duration::from_secs(2);
/// A listing is reused for this long, or for ten times as long as its walk took, whichever is
/// longer.
const LISTING_AGE_MIN: Duration = Duration::from_secs(5);
const FOLDER_ENTRIES_MAX: usize = 10_000;
const FOUND_MAX: usize = 50;
/// Longer fragments match nothing.
const FRAGMENT_BYTES_MAX: usize = 1_024;

#[derive(Debug)]
pub struct FileFinder {
    root: PathBuf,
    listing: Mutex<Option<FileListing>>,
}

/// The files and folders below the root. Folders end in a slash.
#[derive(Debug, Clone)]
struct FileListing {
    paths: Arc<Vec<String>>,
    /// The walk ended at one of its limits.
    is_partial: bool,
    expires_at: Instant,
}

impl FileFinder {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            listing: Mutex::default(),
        }
    }

    /// The folder to which paths are relative.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn find(&self, fragment: &str) -> FoundFiles {
        if fragment.len() > FRAGMENT_BYTES_MAX {
            return FoundFiles::default();
        }
        if is_spelled_out(fragment) {
            return self.complete_path(fragment);
        }
        let listing = self.current_listing();
        let files = best_matches(fragment, listing.paths.iter());
        // Ignored and hidden folders are not listed, but may be spelled out.
        if files.is_empty() && fragment.contains('/') {
            return self.complete_path(fragment);
        }
        FoundFiles {
            files,
            is_partial: listing.is_partial,
        }
    }

    fn current_listing(&self) -> FileListing {
        let mut listing = lock_ignoring_poison(&self.listing);
        match &*listing {
            Some(listing) if Instant::now() < listing.expires_at => listing.clone(),
            _ => listing.insert(self.walk()).clone(),
        }
    }

    fn walk(&self) -> FileListing {
        let started = Instant::now();
        let mut listing = FileListing {
            paths: Arc::default(),
            is_partial: false,
            expires_at: started,
        };
        let mut paths = Vec::new();
        let walk = WalkBuilder::new(&self.root).require_git(false).build();
        for entry in walk.flatten() {
            if paths.len() >= LISTED_MAX || started.elapsed() >= WALK_TIME_MAX {
                listing.is_partial = true;
                break;
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let path = entry.path().strip_prefix(&self.root).ok();
            let path = path.and_then(Path::to_str).filter(|path| !path.is_empty());
            if let Some(path) = path {
                let slash = if is_folder { "/" } else { "" };
                paths.push(format!("{path}{slash}"));
            }
        }
        paths.sort_unstable();
        listing.paths = Arc::new(paths);
        let age_max = LISTING_AGE_MIN.max(started.elapsed() * 10);
        listing.expires_at = Instant::now() + age_max;
        listing
    }

    /// Lists the folder that is spelled out, and matches its names with the rest of the fragment.
    fn complete_path(&self, fragment: &str) -> FoundFiles {
        // `~` and `..` name folders even without a slash.
        if ["~", ".", ".."].contains(&fragment) {
            let folder = FoundFile {
                path: format!("{fragment}/"),
                is_folder: true,
            };
            return FoundFiles {
                files: vec![folder],
                is_partial: false,
            };
        }
        let (folder, name) = fragment
            .rsplit_once('/')
            .map_or(("", fragment), |(_, name)| {
                (&fragment[..fragment.len() - name.len()], name)
            });
        let Some((folder, entries)) = self.read_shown_folder(folder) else {
            return FoundFiles::default();
        };
        let mut names = Vec::new();
        let mut is_partial = false;
        for (count, entry) in entries.flatten().enumerate() {
            if count >= FOLDER_ENTRIES_MAX {
                is_partial = true;
                break;
            }
            let Ok(entry_name) = entry.file_name().into_string() else {
                continue;
            };
            let is_hidden = entry_name.starts_with('.') && !name.starts_with('.');
            if is_hidden {
                continue;
            }
            // A link to a folder counts as a folder.
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{entry_name}{slash}"));
        }
        names.sort_unstable();
        let mut files = best_matches(name, names.iter());
        for file in &mut files {
            file.path.insert_str(0, &folder);
        }
        FoundFiles { files, is_partial }
    }

    /// Opens a folder by its path as shown, with escapes. Returns the path as it is on the disk.
    fn read_shown_folder(&self, shown: &str) -> Option<(String, ReadDir)> {
        let open = |path: &str| std::fs::read_dir(self.root.join(files::expand_home(path)));
        if let Ok(entries) = open(shown) {
            return Some((shown.to_owned(), entries));
        }
        let mut path = String::new();
        for name in shown.split_inclusive('/') {
            let typed = format!("{path}{name}");
            if !name.contains('⟨') || self.root.join(files::expand_home(&typed)).exists() {
                path = typed;
                continue;
            }
            let entries = open(if path.is_empty() { "." } else { &path }).ok()?;
            let names = entries.flatten().take(FOLDER_ENTRIES_MAX);
            let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
            let escaped = name.trim_end_matches('/');
            path += &names.find(|name| shown_path(name) == escaped)?;
            path.push('/');
        }
        open(&path).ok().map(|entries| (path, entries))
    }
}

fn is_spelled_out(fragment: &str) -> bool {
    fragment.starts_with(['/', '.']) || fragment == "~" || fragment.starts_with("~/")
}

/// The best matches first; equally good ones from short to long. macOS stores names decomposed,
/// so both sides are compared in composed form, and as shown on screen, where the user reads them.
fn best_matches<'a>(fragment: &str, paths: impl Iterator<Item = &'a String>) -> Vec<FoundFile> {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let fragment = composed(fragment);
    let atom = Atom::new(
        &fragment,
        CaseMatching::Smart,
        Normalization::Smart,
        AtomKind::Fuzzy,
        false,
    );
    let mut buffer = Vec::new();
    let mut scored: Vec<_> = paths
        .filter_map(|path| {
            let shown = shown_path(path);
            let composed = composed(&shown);
            let score = atom.score(Utf32Str::new(&composed, &mut buffer), &mut matcher)?;
            Some((Reverse(score), path.len(), path))
        })
        .collect();
    let count = scored.len().min(FOUND_MAX);
    if count < scored.len() {
        scored.select_nth_unstable(count);
    }
    scored.truncate(count);
    scored.sort_unstable();
    let found = scored.into_iter().map(|(_, _, path)| FoundFile {
        is_folder: path.ends_with('/'),
        path: path.clone(),
    });
    found.collect()
}

fn composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => ComposingNormalizerBorrowed::new_nfc().normalize(text),
    }
}

//! The full-text index of all sessions, and the summaries of unchanged ones. It is a cache: if it is
//! deleted, it is built again, and the list works without it. `update` brings it up to date.

mod summary_record;
mod update;

use super::session_list::{sort_newest_first, summarize};
use super::{LookupError, SessionStore, StoreError, file_name, lookup};
use crate::domain::{IndexProgress, SessionId, SessionSummary};
use crate::search::{DocumentFingerprint, Index, PrefixLookup, SearchError, SearchTerms};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Increase it when other parts of a session are indexed than before. Added to the modification
/// time in the index, so that sessions indexed by an earlier version are indexed again.
const TEXT_VERSION: i64 = 2;

/// Time for indexing all sessions again during a search, after the index was damaged. Later updates
/// do the rest.
const REBUILD_TIME_MAX: Duration = Duration::from_secs(10);

/// Limits on reading sessions that are not indexed yet. Sessions beyond them are listed with the
/// title and the time in their file names.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    pub files: usize,
    pub bytes: u64,
}

impl ReadLimits {
    /// For a list that must appear at once.
    pub const INSTANT: Self = Self {
        files: 200,
        bytes: 2 * 1024 * 1024,
    };
    pub const UNLIMITED: Self = Self {
        files: usize::MAX,
        bytes: u64::MAX,
    };
}

#[derive(Debug, Clone)]
pub struct SessionIndex {
    sessions: SessionStore,
    path: PathBuf,
}

/// A session file and its fingerprint, which shows whether it changed.
struct SessionFile {
    id: SessionId,
    fingerprint: DocumentFingerprint,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundSessions {
    pub sessions: HashSet<SessionId>,
    /// The search words, case-folded, for marking them in texts.
    pub terms: Vec<String>,
}

impl SessionIndex {
    /// `path` is the file of the index.
    pub fn new(sessions: SessionStore, path: PathBuf) -> Self {
        Self { sessions, path }
    }

    /// Runs `work` with the index. A damaged index is emptied, and the error returned.
    fn with_index<T>(
        &self,
        work: impl FnOnce(&mut Index) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        // The list of sessions searches at every letter that the user types.
        let mut index = Index::open_with(&self.path, PrefixLookup::Indexed)?;
        let result = work(&mut index);
        if let Err(error) = &result
            && error.is_damage()
        {
            tracing::warn!("the session index is damaged and is built again: {error}");
            index.clear()?;
        }
        result
    }

    /// All sessions, most recently changed first, and how many of them are indexed.
    pub fn list(&self, limits: ReadLimits) -> (Vec<SessionSummary>, IndexProgress) {
        let files = self.session_files();
        let (known, progress) = self.known_summaries(&files);
        let (mut files_left, mut bytes_left) = (limits.files, limits.bytes);
        let summaries = files.into_iter().zip(known).map(|(file, known)| {
            if let Some(summary) = known {
                return summary;
            }
            let can_read = files_left > 0 && file.fingerprint.size <= bytes_left;
            if !can_read {
                return summary_from_name(file);
            }
            files_left -= 1;
            bytes_left -= file.fingerprint.size;
            summarize(
                &self.sessions.folder.join(file.id.as_str()),
                file.id,
                |_| (),
            )
            .0
        });
        let mut summaries: Vec<SessionSummary> = summaries.collect();
        sort_newest_first(&mut summaries);
        (summaries, progress)
    }

    /// The sessions that contain all words, as far as they are indexed.
    ///
    /// # Errors
    /// The index cannot be read, or the search takes too long.
    pub fn search(&self, words: &str) -> Result<FoundSessions, SearchError> {
        let terms = SearchTerms::parse_with_phrases(words);
        let texts = terms.texts().map(str::to_owned).collect();
        let found = match self.path.exists() && !terms.is_empty() {
            true => {
                let search = || self.with_index(|index| index.documents_with_all(&terms));
                match search() {
                    Err(error) if error.is_damage() => {
                        self.update(REBUILD_TIME_MAX);
                        search()?
                    }
                    found => found?,
                }
            }
            false => HashSet::new(),
        };
        Ok(FoundSessions {
            sessions: found.into_iter().map(SessionId::new).collect(),
            terms: texts,
        })
    }

    /// Finds a session as [`lookup::find`] does. A file name is found without reading the list.
    ///
    /// # Errors
    /// No session matches, or several do.
    pub fn find(&self, wanted: &str) -> Result<SessionId, LookupError> {
        let name = format!("{}.json", wanted.trim().trim_end_matches(".json"));
        let id = SessionId::new(name);
        if let Ok(path) = self.sessions.path(&id)
            && path.exists()
        {
            return Ok(id);
        }
        lookup::find(&self.list(ReadLimits::UNLIMITED).0, wanted)
    }

    /// The most recently changed session.
    ///
    /// # Errors
    /// There is no session that can be opened.
    pub fn latest(&self) -> Result<SessionId, LookupError> {
        lookup::latest(&self.list(ReadLimits::UNLIMITED).0)
    }

    /// The title of a session.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn title(&self, id: &SessionId) -> Result<String, StoreError> {
        let path = self.sessions.path(id)?;
        let (summary, _) = summarize(&path, id.clone(), |_| ());
        match summary.open_error {
            Some(why) => Err(super::sessions::unreadable(id, why)),
            None => Ok(summary.title),
        }
    }

    /// The summary of each file, if the index has it, in one pass over the index.
    fn known_summaries(
        &self,
        files: &[SessionFile],
    ) -> (Vec<Option<SessionSummary>>, IndexProgress) {
        let mut known: Vec<Option<SessionSummary>> = files.iter().map(|_| None).collect();
        let mut progress = IndexProgress {
            total: files.len(),
            ..IndexProgress::default()
        };
        if !self.path.exists() {
            return (known, progress);
        }
        let positions = files.iter().enumerate();
        let positions: HashMap<&str, usize> = positions
            .map(|(position, file)| (file.id.as_str(), position))
            .collect();
        let read = self.with_index(|index| {
            index.visit_details(|key, fingerprint, details| {
                let Some(&position) = positions.get(key) else {
                    progress.deleted += 1;
                    return;
                };
                let file = &files[position];
                if file.fingerprint == fingerprint {
                    progress.indexed += 1;
                    known[position] = summary_record::parse(details, &file.id);
                }
            })
        });
        if let Err(error) = read {
            tracing::warn!("the session index could not be read: {error}");
        }
        (known, progress)
    }

    /// All session files. Names begin with a time, so sorting by them puts the newest first.
    fn session_files(&self) -> Vec<SessionFile> {
        let Ok(items) = fs::read_dir(&self.sessions.folder) else {
            return Vec::new();
        };
        let mut files: Vec<SessionFile> = items.flatten().filter_map(session_file).collect();
        files.sort_by(|a, b| b.id.cmp(&a.id));
        files
    }
}

/// `None` if it is not a session file, or has been removed meanwhile.
fn session_file(item: DirEntry) -> Option<SessionFile> {
    let id = SessionId::new(item.file_name().to_str()?);
    if !file_name::is_valid(&id) {
        return None;
    }
    let mut metadata = item.metadata().ok()?;
    if metadata.is_symlink() {
        // A dangling link is listed as unreadable.
        metadata = fs::metadata(item.path()).unwrap_or(metadata);
    }
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    Some(SessionFile {
        id,
        fingerprint: DocumentFingerprint {
            size: metadata.len(),
            modified_ns: nanoseconds_since_1970(modified).saturating_add(TEXT_VERSION),
        },
    })
}

fn nanoseconds_since_1970(time: SystemTime) -> i64 {
    let nanoseconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()),
        Err(before) => i64::try_from(before.duration().as_nanos()).map(i64::wrapping_neg),
    };
    nanoseconds.unwrap_or(0)
}

/// A row for a session that has not been read: `20251016_162030_Trip_to.json` is "Trip to".
fn summary_from_name(file: SessionFile) -> SessionSummary {
    let stem = file.id.as_str().trim_end_matches(".json");
    let time = file_name::time_in_name(&file.id);
    let title = match time {
        Some(_) => stem.splitn(3, '_').nth(2).unwrap_or_default(),
        None => stem,
    };
    let modified = || Timestamp::from_nanosecond(file.fingerprint.modified_ns.into()).ok();
    SessionSummary {
        title: title.replace('_', " ").trim().to_owned(),
        model: String::new(),
        started_at: None,
        changed_at: time.or_else(modified).unwrap_or(Timestamp::UNIX_EPOCH),
        message_count: 0,
        open_error: None,
        id: file.id,
    }
}

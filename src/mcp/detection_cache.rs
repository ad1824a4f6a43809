//! What was found out about servers, kept so that it need not be found out again: a
//! small file under `cache/`, safe to delete. It names servers by the hash of their
//! launch alone.

use super::http::HttpKind;
use crate::domain::LaunchId;
use crate::files;
use crate::sync::lock_ignoring_poison;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// Servers that are remembered; the oldest is forgotten first.
const SERVERS_MAX: usize = 500;

/// MCP with `initialize`, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Detected {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// How a remote server that names no transport was reached.
    #[serde(rename = "carrier", default, skip_serializing_if = "Option::is_none")]
    pub http_kind: Option<HttpKind>,
}

/// Without a file it lasts as long as the program.
#[derive(Debug, Clone, Default)]
pub struct DetectionCache(Arc<CacheInner>);

#[derive(Debug, Default)]
struct CacheInner {
    file: Option<PathBuf>,
    /// Read at the first question.
    entries: Mutex<Option<Map<String, Value>>>,
}

impl DetectionCache {
    pub fn in_file(file: PathBuf) -> Self {
        Self(Arc::new(CacheInner {
            file: Some(file),
            entries: Mutex::default(),
        }))
    }

    pub async fn get(&self, launch: &LaunchId) -> Detected {
        let launch = launch.as_str().to_owned();
        self.with_entries(move |known| read_entry(known, &launch))
            .await
    }

    /// Changes what is known of a server. What cannot be written is known until the
    /// program ends.
    pub async fn update(
        &self,
        launch: &LaunchId,
        change: impl FnOnce(&mut Detected) + Send + 'static,
    ) {
        let launch = launch.as_str().to_owned();
        let file = self.0.file.clone();
        let work = move |known: &mut Map<String, Value>| {
            let before = read_entry(known, &launch);
            let mut after = before;
            change(&mut after);
            if before == after {
                return;
            }
            put_entry(known, &launch, after);
            let Some(file) = file else { return };
            // Another program may have written meanwhile: its servers stay.
            let written = files::update::<Infallible>(&file, 0o600, FILE_BYTES_MAX, |bytes| {
                let mut all = parse_file(bytes);
                put_entry(&mut all, &launch, after);
                Ok(serde_json::to_vec_pretty(&all).unwrap_or_default())
            });
            if let Err(fault) = written {
                tracing::debug!("what is known of servers was not written: {fault:?}");
            }
        };
        self.with_entries(work).await;
    }

    /// The file is read and written where waiting for a disk holds up nobody.
    async fn with_entries<T: Default + Send + 'static>(
        &self,
        act: impl FnOnce(&mut Map<String, Value>) -> T + Send + 'static,
    ) -> T {
        let inner = Arc::clone(&self.0);
        let acted = tokio::task::spawn_blocking(move || {
            // A map is whole between any two of its operations.
            let mut known = lock_ignoring_poison(&inner.entries);
            let known = known.get_or_insert_with(|| {
                let bytes = inner
                    .file
                    .as_ref()
                    .map(|file| files::read(file, FILE_BYTES_MAX));
                parse_file(bytes.and_then(Result::ok).flatten())
            });
            act(known)
        });
        acted.await.unwrap_or_default()
    }
}

/// A file that cannot be read is an empty one: everything in it can be found out again.
fn parse_file(bytes: Option<Vec<u8>>) -> Map<String, Value> {
    let bytes = bytes.unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn read_entry(known: &Map<String, Value>, launch: &str) -> Detected {
    let entry = known.get(launch).cloned().unwrap_or_default();
    serde_json::from_value(entry).unwrap_or_default()
}

fn put_entry(known: &mut Map<String, Value>, launch: &str, entry: Detected) {
    // It goes to the end: the first is the one that changed longest ago.
    known.shift_remove(launch);
    if entry == Detected::default() {
        return;
    }
    while known.len() >= SERVERS_MAX {
        let Some(oldest) = known.keys().next().cloned() else {
            break;
        };
        known.shift_remove(&oldest);
    }
    if let Ok(entry) = serde_json::to_value(entry) {
        known.insert(launch.to_owned(), entry);
    }
}

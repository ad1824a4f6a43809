//! Stores the detected protocol of each server between runs, in a small file in `cache/` that is
//! safe to delete. The file identifies servers only by the hash of their launch configuration.

use crate::domain::LaunchId;
use crate::files;
use crate::mcp::http::HttpKind;
use crate::sync::lock_ignoring_poison;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of servers; the oldest entry is evicted first.
const SERVERS_MAX: usize = 500;

/// Whether the server uses `initialize` (legacy) or not (modern).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DetectedProtocol {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// The detected transport of a remote server whose configuration names none.
    #[serde(rename = "carrier", default, skip_serializing_if = "Option::is_none")]
    pub http_kind: Option<HttpKind>,
}

/// The detected protocols by server. Without a file, they are kept until the program exits.
#[derive(Debug, Clone, Default)]
pub struct DetectionCache(Arc<CacheInner>);

#[derive(Debug, Default)]
struct CacheInner {
    file: Option<PathBuf>,
    /// Loaded on first use.
    entries: Mutex<Option<Map<String, Value>>>,
}

impl DetectionCache {
    pub fn in_file(file: PathBuf) -> Self {
        Self(Arc::new(CacheInner {
            file: Some(file),
            entries: Mutex::default(),
        }))
    }

    pub async fn get(&self, launch: &LaunchId) -> DetectedProtocol {
        let launch = launch.as_str().to_owned();
        self.with_entries(move |entries| read_entry(entries, &launch))
            .await
    }

    /// Updates the entry of a server. A change that cannot be written is kept until the program
    /// exits.
    pub async fn update(
        &self,
        launch: &LaunchId,
        change: impl FnOnce(&mut DetectedProtocol) + Send + 'static,
    ) {
        let launch = launch.as_str().to_owned();
        let file = self.0.file.clone();
        let update_entry = move |entries: &mut Map<String, Value>| {
            let before = read_entry(entries, &launch);
            let mut after = before;
            change(&mut after);
            if before == after {
                return;
            }
            put_entry(entries, &launch, after);
            let Some(file) = file else { return };
            // Merge with entries that another running instance wrote in the meantime.
            let result = files::update::<Infallible>(&file, 0o600, FILE_BYTES_MAX, |bytes| {
                let mut entries = parse_file(bytes);
                put_entry(&mut entries, &launch, after);
                Ok(serde_json::to_vec_pretty(&entries).unwrap_or_default())
            });
            if let Err(error) = result {
                tracing::debug!("could not write the detection cache: {error:?}");
            }
        };
        self.with_entries(update_entry).await;
    }

    /// Accesses the cache on a blocking thread, since it may read and write the file.
    async fn with_entries<T: Default + Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Map<String, Value>) -> T + Send + 'static,
    ) -> T {
        let inner = Arc::clone(&self.0);
        let result = tokio::task::spawn_blocking(move || {
            // Each operation leaves the map consistent, so a poisoned lock is harmless.
            let mut entries = lock_ignoring_poison(&inner.entries);
            let entries = entries.get_or_insert_with(|| {
                let bytes = inner
                    .file
                    .as_ref()
                    .map(|file| files::read(file, FILE_BYTES_MAX));
                parse_file(bytes.and_then(Result::ok).flatten())
            });
            operation(entries)
        });
        result.await.unwrap_or_default()
    }
}

/// Treats an unreadable file as empty, since its contents can be detected again.
fn parse_file(bytes: Option<Vec<u8>>) -> Map<String, Value> {
    let bytes = bytes.unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn read_entry(entries: &Map<String, Value>, launch: &str) -> DetectedProtocol {
    let entry = entries.get(launch).cloned().unwrap_or_default();
    serde_json::from_value(entry).unwrap_or_default()
}

fn put_entry(entries: &mut Map<String, Value>, launch: &str, entry: DetectedProtocol) {
    // Move the entry to the end, so that the first one is the least recently changed.
    entries.shift_remove(launch);
    if entry == DetectedProtocol::default() {
        return;
    }
    while entries.len() >= SERVERS_MAX {
        let Some(oldest) = entries.keys().next().cloned() else {
            break;
        };
        entries.shift_remove(&oldest);
    }
    if let Ok(entry) = serde_json::to_value(entry) {
        entries.insert(launch.to_owned(), entry);
    }
}

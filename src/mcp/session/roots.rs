//! Roots: the folders that the user lets servers know about. A server may ask for their list, which
//! gives it no access. Deprecated in 2026-07-28, but still part of every revision.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;
use url::Url;

/// The folders that all servers may list. Clones share them.
#[derive(Debug, Clone)]
pub struct RootFolders(watch::Sender<Arc<Vec<PathBuf>>>);

impl Default for RootFolders {
    fn default() -> Self {
        Self(watch::Sender::new(Arc::default()))
    }
}

impl RootFolders {
    /// Replaces the folders, which are absolute paths.
    pub fn set(&self, folders: Vec<PathBuf>) {
        self.0.send_if_modified(|current| {
            let is_changed = **current != folders;
            if is_changed {
                *current = Arc::new(folders);
            }
            is_changed
        });
    }

    pub fn current(&self) -> Arc<Vec<PathBuf>> {
        self.0.borrow().clone()
    }

    /// Waits until the folders differ from `known`, and returns them.
    pub async fn changed_from(&self, known: &[PathBuf]) -> Arc<Vec<PathBuf>> {
        let mut updates = self.0.subscribe();
        loop {
            let current = self.current();
            if **current != *known {
                return current;
            }
            // Cannot fail: this value owns a sender.
            let _ = updates.changed().await;
        }
    }

    /// The result of `roots/list`.
    pub fn list_result(&self) -> Value {
        let roots: Vec<Value> = self
            .current()
            .iter()
            .filter_map(|path| root(path))
            .collect();
        json!({ "roots": roots })
    }
}

/// A folder with its `file://` URI, percent-encoded where the path of a URL requires it. `None` for
/// a relative path, which has no URI.
fn root(folder: &Path) -> Option<Value> {
    let uri = Url::from_file_path(folder).ok()?;
    let mut root = json!({ "uri": uri.as_str() });
    if let Some(name) = folder.file_name() {
        root["name"] = json!(name.to_string_lossy());
    }
    Some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_percent_encoded_uris() {
        let folders = RootFolders::default();
        assert_eq!(folders.list_result(), json!({ "roots": [] }));
        let paths = ["/srv/내 문서", "/a/100%#1?.d", "/", "relative"];
        folders.set(paths.map(PathBuf::from).to_vec());
        let expected = json!({ "roots": [
            { "uri": "file:///srv/%EB%82%B4%20%EB%AC%B8%EC%84%9C", "name": "내 문서" },
            { "uri": "file:///a/100%25%231%3F.d", "name": "100%#1?.d" },
            { "uri": "file:///" },
        ] });
        assert_eq!(folders.list_result(), expected);
    }
}

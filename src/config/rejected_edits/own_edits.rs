//! Keeps rejected entries rejected when humble itself edits them, such as by switching a server.

use super::entries::FileEntries;
use super::{RejectedEdit, RejectedEdits};
use crate::config::json_document::JsonDocument;
use crate::config::server_entries;
use crate::config::trust::update_trust;
use crate::config::{ConfigError, Home, TrustEdit};
use std::path::Path;

/// Records the entries that were rejected before an edit and changed with it, because their new hashes
/// match no record. Blocks.
///
/// # Errors
/// `trust.json` cannot be read, parsed or written.
pub fn keep_rejected(
    path: &Path,
    before: &JsonDocument,
    after: &JsonDocument,
) -> Result<(), ConfigError> {
    let home = Home::at(path.parent().unwrap_or(path));
    let records = RejectedEdits::read(&home);
    if records.0.is_empty() {
        return Ok(());
    }
    let (mut earlier, mut later) = (FileEntries::default(), FileEntries::default());
    if path == home.config() {
        earlier.add_config_root(before.root());
        later.add_config_root(after.root());
    } else if path == home.servers() {
        earlier.add_server_entries(&server_entries::entries(before)?);
        later.add_server_entries(&server_entries::entries(after)?);
    }
    let mut moved = Vec::new();
    for rejected in earlier.rejected_by(&records) {
        let values = later.entries.iter();
        let values = values
            .filter(|known| known.file == rejected.file && known.entry == rejected.entry)
            .filter(|known| !rejected.record.has_hash(&known.sha256));
        moved.extend(values.map(|known| RejectedEdit {
            sha256: Some(known.sha256.clone()),
            ..rejected.record.clone()
        }));
    }
    match moved.is_empty() {
        true => Ok(()),
        false => update_trust(&home, &[TrustEdit::RejectEdits(moved)]),
    }
}

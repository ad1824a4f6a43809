//! Reads the MCP servers of other clients. Files are only read, never written. Secrets in them are
//! replaced with variables before anything leaves this module.

mod clients;
mod document;
mod entry;
mod error;
mod layout;
mod placeholders;
mod plan;
mod secrets;
mod yaml;

pub use clients::{CLIENTS, Client, Folders, find_client};
pub use error::ImportError;
pub use plan::plan_import;

use crate::domain::ServerCandidate;
use std::path::Path;

/// A server in a file: ready to be added, or the reason why it cannot be added.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundServer {
    pub name: String,
    /// The reason has no final period.
    pub result: Result<ServerCandidate, String>,
}

/// The servers in the file at `path`. The format is recognized from the contents. Secrets are
/// already replaced with variables. `current_folder` selects the project if the file lists several.
///
/// # Errors
/// The file cannot be read or understood, or lists no server.
pub fn read_file(path: &Path, current_folder: &Path) -> Result<Vec<FoundServer>, ImportError> {
    let root = document::read(path)?;
    let entries = layout::entries(path, &root, current_folder)?;
    let mut found: Vec<FoundServer> = entries
        .into_iter()
        .map(|(name, value)| FoundServer {
            result: entry::parse(&name, value),
            name,
        })
        .collect();
    secrets::replace_all(&mut found);
    Ok(found)
}

//! Reads the MCP servers of other clients. Files are only read, never written. Secrets in them are
//! replaced with variables before anything leaves this module.

mod clients;
mod document;
mod entry;
mod error;
mod layout;
mod placeholders;
mod plan;
mod yaml;

pub use clients::{CLIENTS, Client, Folders, find_client};
pub use error::ImportError;
pub use plan::plan_import;

use crate::domain::ServerCandidate;
use crate::domain::new_server::replace_secrets;
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
    replace_secrets_of(&mut found);
    Ok(found)
}

fn replace_secrets_of(found: &mut [FoundServer]) {
    let candidates = found
        .iter_mut()
        .filter_map(|server| server.result.as_mut().ok());
    let outcomes = replace_secrets(&mut candidates.collect::<Vec<_>>());
    let servers = found.iter_mut().filter(|server| server.result.is_ok());
    for (server, outcome) in servers.zip(outcomes) {
        if let Err(reason) = outcome {
            server.result = Err(reason);
        }
    }
}

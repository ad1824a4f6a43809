//! The answers of a registry (`server.json` of the registry's schema). Entries that cannot be read
//! are left out.

use super::package::Package;
use super::remote::Remote;
use crate::domain::registry::RegistryListing;
use crate::domain::server::RemoteTransport;
use crate::domain::{NewServer, NewServerLaunch, ServerCandidate};
use serde::Deserialize;
use serde_json::Value;

const OFFICIAL_META: &str = "io.modelcontextprotocol.registry/official";
const NAME_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 300;

#[derive(Debug)]
pub(super) struct ListPage {
    pub servers: Vec<RegistryServer>,
    pub next_cursor: Option<String>,
}

/// An entry of a registry.
#[derive(Debug, Clone, Deserialize)]
pub struct RegistryServer {
    /// `NAMESPACE/NAME`
    pub name: String,
    pub version: String,
    description: Option<String>,
    packages: Option<Vec<Package>>,
    remotes: Option<Vec<Remote>>,
    #[serde(skip)]
    pub(super) is_latest: bool,
    #[serde(skip)]
    is_deprecated: bool,
}

impl ListPage {
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let root: Value = serde_json::from_slice(body).map_err(|_| "it is not JSON".to_owned())?;
        let items = root.get("servers").and_then(Value::as_array);
        let items = items.ok_or("it has no `servers` list")?;
        let metadata = root.get("metadata");
        let next = metadata.and_then(|metadata| metadata.get("nextCursor")?.as_str());
        Ok(Self {
            servers: items.iter().filter_map(RegistryServer::parse).collect(),
            next_cursor: next.map(str::to_owned),
        })
    }
}

impl RegistryServer {
    /// `None` if the entry is deleted or cannot be read.
    fn parse(item: &Value) -> Option<Self> {
        let mut server = Self::deserialize(item.get("server").unwrap_or(item)).ok()?;
        if server.name.chars().count() > NAME_CHARS_MAX || !is_registry_name(&server.name) {
            return None;
        }
        let meta = item.get("_meta").and_then(|meta| meta.get(OFFICIAL_META));
        let status = meta.and_then(|meta| meta.get("status")?.as_str());
        server.is_deprecated = status == Some("deprecated");
        let is_latest = meta.and_then(|meta| meta.get("isLatest")?.as_bool());
        server.is_latest = is_latest.unwrap_or(false);
        (status != Some("deleted")).then_some(server)
    }

    pub fn listing(&self) -> RegistryListing {
        let packages = self.packages.iter().flatten().map(Package::kind);
        let remotes = self.remotes.iter().flatten().map(Remote::kind);
        let mut transports: Vec<String> = Vec::new();
        for kind in packages.chain(remotes) {
            if !transports.iter().any(|known| known == kind) {
                transports.push(kind.to_owned());
            }
        }
        RegistryListing {
            name: self.name.clone(),
            version: self.version.clone(),
            description: self.short_description(),
            transports,
            is_deprecated: self.is_deprecated,
        }
    }

    /// The server with its first usable package or, failing that, its first usable remote endpoint.
    /// With `transport`, only remote endpoints with that transport are considered. The server is
    /// disabled.
    ///
    /// # Errors
    /// The reasons why none of them is usable, without a final period.
    pub fn candidate(&self, transport: Option<RemoteTransport>) -> Result<ServerCandidate, String> {
        let packages = self.packages.as_deref().unwrap_or_default();
        let packages = packages.iter().filter(|_| transport.is_none());
        let remotes = self.remotes.iter().flatten();
        let remotes =
            remotes.filter(|remote| transport.is_none() || remote.transport() == transport);
        let attempts = packages
            .map(Package::launch)
            .chain(remotes.map(Remote::launch));
        let mut reasons = Vec::new();
        for attempt in attempts {
            match attempt {
                Ok((launch, mut remarks)) => {
                    remarks.extend(reasons.iter().map(|reason| format!("Not used: {reason}.")));
                    return Ok(self.with_launch(launch, remarks));
                }
                Err(reason) => reasons.push(reason),
            }
        }
        match reasons.is_empty() {
            true => Err("it offers no package and no URL of this kind".to_owned()),
            false => Err(reasons.join("; ")),
        }
    }

    fn with_launch(&self, launch: NewServerLaunch, remarks: Vec<String>) -> ServerCandidate {
        let (_, short_name) = self.name.split_once('/').unwrap_or(("", &self.name));
        let description = self.short_description();
        ServerCandidate {
            server: NewServer {
                name: short_name.to_owned(),
                description: (!description.is_empty()).then_some(description),
                enabled: false,
                launch,
                values: Vec::new(),
            },
            replaced_secrets: Vec::new(),
            remarks,
        }
    }

    fn short_description(&self) -> String {
        let text = self.description.as_deref().unwrap_or_default().trim();
        text.chars().take(DESCRIPTION_CHARS_MAX).collect()
    }
}

/// `NAMESPACE/NAME`, as the registry's schema restricts it.
fn is_registry_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && part.chars().all(is_name_char)
    };
    name.split_once('/')
        .is_some_and(|(namespace, name)| is_part(namespace) && is_part(name))
}

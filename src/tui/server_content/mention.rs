//! Resources in the completion list of `@`, which also lists files.

use super::{describe_resource, full_uri};
use crate::domain::attachment::shown_path;
use crate::domain::{Server, ServerId};
use crate::text::Clean;

/// Maximum number of resources that the list offers.
const MENTIONED_MAX: usize = 20;

/// A resource that matches the text typed after `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionedResource {
    pub server: ServerId,
    pub uri: String,
    pub description: Clean,
}

impl MentionedResource {
    /// `SERVER:URI`, raw.
    pub fn full_uri(&self) -> String {
        full_uri(&self.server, &self.uri)
    }
}

/// The resources whose label or full URI contains the fragment, ignoring case. The URI is compared
/// both raw and as the message shows it. Empty for an empty fragment, because a bare `@` lists only
/// files.
pub fn mentioned_resources(servers: &[Server], fragment: &str) -> Vec<MentionedResource> {
    if fragment.is_empty() {
        return Vec::new();
    }
    let fragment = fragment.to_lowercase();
    let enabled = servers.iter().filter(|server| server.enabled);
    let resources = enabled.flat_map(|server| {
        let resources = server.content.resources.iter();
        resources.map(move |resource| (server, resource))
    });
    let contains = |text: &str| text.to_lowercase().contains(&fragment);
    let matching = resources.filter(|(server, resource)| {
        let full_uri = full_uri(&server.id, &resource.uri);
        contains(&full_uri) || contains(&shown_path(&full_uri)) || contains(resource.label())
    });
    let mentioned = matching.map(|(server, resource)| MentionedResource {
        server: server.id.clone(),
        uri: resource.uri.clone(),
        description: describe_resource(server, resource, resource.label()),
    });
    mentioned.take(MENTIONED_MAX).collect()
}

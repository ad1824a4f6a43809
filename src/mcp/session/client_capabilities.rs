//! The capabilities that this client declares to servers.

use crate::mcp::tasks::declared_extensions;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, ElicitationCapability,
    FormElicitationCapability, Implementation, JsonObject, JsonRpcMessage, ProtocolVersion,
    RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::{ClientHandler, RoleClient};

/// Names this client and its capabilities. Handles no messages: the inbox answers the server's
/// requests before they reach rmcp.
pub struct PassiveClient {
    declares_roots: bool,
}

impl PassiveClient {
    pub fn new(declares_roots: bool) -> Self {
        Self { declares_roots }
    }
}

impl ClientHandler for PassiveClient {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        let mut sampling = SamplingCapability::default();
        sampling.tools = Some(JsonObject::new());
        capabilities.sampling = Some(sampling);
        capabilities.roots = self.declares_roots.then(RootsCapabilities::default);
        capabilities.extensions = Some(declared_extensions());
        ClientConfig::new(
            capabilities,
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// Adds `listChanged` to the roots capability in `initialize`. Only the legacy protocol reports
/// changed roots, but both protocols share one client configuration.
pub fn declare_root_changes(message: &mut TxJsonRpcMessage<RoleClient>) {
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::InitializeRequest(initialize) = &mut request.request
        && let Some(roots) = &mut initialize.params.capabilities.roots
    {
        roots.list_changed = Some(true);
    }
}

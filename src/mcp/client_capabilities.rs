//! The capabilities that this client declares to servers.

use super::tasks::declared_extensions;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, ElicitationCapability,
    FormElicitationCapability, Implementation, JsonObject, JsonRpcMessage, ProtocolVersion,
    RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::{ClientHandler, RoleClient};

/// Names this client and its capabilities. Handles no messages: the inbox answers the server's
/// requests.
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
        // Requests from the server never reach rmcp: the inbox answers them.
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

/// Completes the capabilities in `initialize`: only the legacy protocol reports changed roots, and
/// the same client configuration is used for both.
pub fn declare_root_changes(message: &mut TxJsonRpcMessage<RoleClient>) {
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::InitializeRequest(initialize) = &mut request.request
        && let Some(roots) = &mut initialize.params.capabilities.roots
    {
        roots.list_changed = Some(true);
    }
}

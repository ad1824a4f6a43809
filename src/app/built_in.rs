//! Builds the tools of the built-in server.

use crate::config::Settings;
use crate::engine::OneShotCompletion;
use crate::provider::Provider;
use crate::serve::{BuiltInServer, BuiltInTools};
use std::sync::Arc;

/// The built-in tools with the services of `settings`; `ollama_chat` uses `provider`.
pub fn built_in_tools(settings: &Settings, provider: Provider) -> BuiltInTools {
    let completion = Arc::new(OneShotCompletion::new(provider));
    BuiltInTools::new(settings.built_in_tools(), completion)
}

/// The in-memory server with these tools.
pub fn built_in_server(settings: &Settings, provider: Provider) -> Arc<BuiltInServer> {
    Arc::new(BuiltInServer::new(built_in_tools(settings, provider)))
}

//! Builds the tools of the built-in server.

use crate::config::Home;
use crate::domain::BuiltInSettings;
use crate::engine::OneShotCompletion;
use crate::notes::Notebook;
use crate::provider::Provider;
use crate::serve::{BuiltInServer, BuiltInTools};
use std::sync::Arc;

/// The built-in tools with the services of `settings`. Tools that need a model use `provider`;
/// indexes of notes are in the cache folder of `home`.
pub fn built_in_tools(home: &Home, settings: BuiltInSettings, provider: Provider) -> BuiltInTools {
    let completion = Arc::new(OneShotCompletion::new(provider.clone()));
    let notes = Notebook::new(home.cache(), completion.clone(), Arc::new(provider));
    BuiltInTools::new(settings, completion, Arc::new(notes))
}

/// The in-memory server with these tools.
pub fn built_in_server(
    home: &Home,
    settings: BuiltInSettings,
    provider: Provider,
) -> Arc<BuiltInServer> {
    Arc::new(BuiltInServer::new(built_in_tools(home, settings, provider)))
}

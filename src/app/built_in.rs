//! Builds the tools of the built-in server.

use crate::config::Home;
use crate::domain::BuiltInSettings;
use crate::engine::OneShotCompletion;
use crate::notes::Notebook;
use crate::provider::Provider;
use crate::serve::{BuiltInServer, BuiltInTools};
use std::sync::Arc;

/// The built-in tools, configured by `settings`. Tools that need a model use `provider`; the indexes
/// of notes are in the cache folder of `home`.
pub fn built_in_tools(home: &Home, settings: BuiltInSettings, provider: Provider) -> BuiltInTools {
    let notes = notebook(home, provider.clone());
    tools_with(settings, provider, notes)
}

/// A notebook with its indexes in the cache folder of `home`. Its model requests go through `provider`.
pub fn notebook(home: &Home, provider: Provider) -> Notebook {
    let completion = Arc::new(OneShotCompletion::new(provider.clone()));
    Notebook::new(home.cache(), completion, Arc::new(provider))
}

fn tools_with(settings: BuiltInSettings, provider: Provider, notes: Notebook) -> BuiltInTools {
    let completion = Arc::new(OneShotCompletion::new(provider));
    BuiltInTools::new(settings, completion, Arc::new(notes))
}

/// The in-memory server of the chat, whose tools share the indexes of `notes`. The engine
/// configures it.
pub fn chat_server(provider: Provider, notes: Notebook) -> Arc<BuiltInServer> {
    let tools = tools_with(BuiltInSettings::default(), provider, notes);
    Arc::new(BuiltInServer::new(tools))
}

/// An in-memory server with the tools of [`built_in_tools`].
pub fn built_in_server(
    home: &Home,
    settings: BuiltInSettings,
    provider: Provider,
) -> Arc<BuiltInServer> {
    Arc::new(BuiltInServer::new(built_in_tools(home, settings, provider)))
}

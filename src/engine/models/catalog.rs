//! Catalogs of model servers, fetched in the background; each answer is an event.

use super::{ModelRegistry, ModelTaskEvent, without_retry};
use crate::config::{self, KnownServer};
use crate::domain::model_info::is_same_model;
use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelConfig, ModelList, ModelServer, ServerCatalog,
};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use crate::provider::ProviderError;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Time limit for a configured server.
pub(super) const LIST_TIME_MAX: Duration = Duration::from_secs(5);
/// Time limit for an Ollama that is not configured.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

/// Time limit for this server to list its models.
pub fn list_time_max(server: &ServerCatalog) -> Duration {
    match server.configured.is_empty() {
        true => LOOK_TIME_MAX,
        false => LIST_TIME_MAX,
    }
}

impl ModelRegistry {
    /// Discovers models if the settings never listed one.
    pub fn offer_models(&mut self, cx: &mut EngineCx) {
        let is_first = !cx.settings.has_model_entries && cx.unreadable_config_banner().is_none();
        if cx.options.offers_models && is_first && cx.options.model_override.is_none() {
            self.offers_discovered = true;
            self.list_catalog(cx);
        }
    }

    /// Fetches all catalogs again; the last known catalog of a server stays until it answers.
    pub fn list_catalog(&mut self, cx: &mut EngineCx) {
        let before = std::mem::replace(&mut self.servers, known_servers(cx));
        // Dropping the old set aborts its tasks.
        self.listing = JoinSet::new();
        for known in &mut self.servers {
            let is_same = |earlier: &&KnownServer| earlier.catalog.server == known.catalog.server;
            let earlier_state = before
                .iter()
                .find(is_same)
                .map(|earlier| &earlier.catalog.state);
            if let Some(CatalogState::Listed(list)) = earlier_state {
                known.catalog.state = CatalogState::Listed(Arc::clone(list));
            }
            let time_max = list_time_max(&known.catalog);
            let (provider, config) = (cx.provider.clone(), known.config.clone());
            let (server, sender) = (known.catalog.server.clone(), self.sender.clone());
            self.listing.spawn(async move {
                let listed = provider.list_models(&config, time_max).await;
                let _ = sender.send(ModelTaskEvent::Listed(server, listed)).await;
            });
        }
        self.push_catalog(cx);
    }

    fn push_catalog(&mut self, cx: &mut EngineCx) {
        let catalog = ModelCatalog {
            servers: self
                .servers
                .iter()
                .map(|known| known.catalog.clone())
                .collect(),
            key_variables: config::key_variables(),
            is_ollama_host_invalid: config::is_ollama_host_invalid(&cx.home),
            offers_discovered: self.offers_discovered,
        };
        cx.outbox.push(Event::CatalogChanged(Arc::new(catalog)));
    }

    pub(super) fn listed(
        &mut self,
        server: &ModelServer,
        listed: Result<ModelList, ProviderError>,
        cx: &mut EngineCx,
    ) {
        let mut servers = self.servers.iter_mut();
        let Some(known) = servers.find(|known| known.catalog.server == *server) else {
            return;
        };
        known.catalog.state = match listed {
            Ok(list) => CatalogState::Listed(Arc::new(list)),
            Err(fault) => CatalogState::Failed(without_retry(fault.notice())),
        };
        self.push_catalog(cx);
    }

    fn known(&self, server: &ModelServer) -> Option<&KnownServer> {
        let mut servers = self.servers.iter();
        servers.find(|known| known.catalog.server == *server)
    }

    /// The configuration of any model of a server, for requests to that server.
    pub fn config_of(&self, server: &ModelServer, cx: &EngineCx) -> Option<ModelConfig> {
        let mut models = cx.settings.models.iter();
        let configured = || models.find(|model| model.server() == *server);
        let known = self.known(server).map(|known| &known.config);
        known.or_else(configured).cloned()
    }

    /// The server's entry with this name; None if unknown.
    pub fn listed_model(&self, server: &ModelServer, name: &str) -> Option<&ListedModel> {
        let list = self.known(server)?.catalog.listed()?;
        let mut models = list.models.iter();
        models.find(|model| is_same_model(&model.name, name))
    }

    /// Whether the complete model list of this server is known.
    pub fn lists_all(&self, server: &ModelServer) -> bool {
        let list = self.known(server).and_then(|known| known.catalog.listed());
        list.is_some_and(|list| !list.is_truncated)
    }
}

/// The servers of all configured models, plus the local Ollama unless another Ollama is
/// configured.
fn known_servers(cx: &EngineCx) -> Vec<KnownServer> {
    let mut servers = config::model_servers(&cx.settings.models);
    let manages = |known: &KnownServer| known.config.provider.manages_models();
    if !servers.iter().any(manages) && cx.options.model_override.is_none() {
        servers.push(KnownServer::local_ollama(&cx.home));
    }
    servers
}

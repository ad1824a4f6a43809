//! Catalogs of model servers, fetched in the background. Each server's answer is an event.

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

/// Time limit for a server that is configured or is being added.
pub(super) const LIST_TIME_MAX: Duration = Duration::from_secs(5);
/// Time limit for the local Ollama if it is not configured.
const DISCOVERY_TIME_MAX: Duration = Duration::from_secs(2);

pub fn list_timeout(server: &ServerCatalog) -> Duration {
    match server.configured.is_empty() {
        true => DISCOVERY_TIME_MAX,
        false => LIST_TIME_MAX,
    }
}

impl ModelRegistry {
    /// Discovers models if the settings list none.
    pub fn offer_models(&mut self, cx: &mut EngineCx) {
        let lists_no_models =
            !cx.settings.has_model_entries && cx.unreadable_config_banner().is_none();
        if cx.options.offers_models && lists_no_models && cx.options.model_override.is_none() {
            self.offers_discovered = true;
            self.list_catalog(cx);
        }
    }

    /// Fetches all catalogs again. A server's previous catalog is shown until it answers.
    pub fn list_catalog(&mut self, cx: &mut EngineCx) {
        let previous = std::mem::replace(&mut self.servers, known_servers(cx));
        // Dropping the old set aborts its tasks.
        self.catalog_requests = JoinSet::new();
        for known_server in &mut self.servers {
            let is_same =
                |earlier: &&KnownServer| earlier.catalog.server == known_server.catalog.server;
            let earlier_state = previous
                .iter()
                .find(is_same)
                .map(|earlier| &earlier.catalog.state);
            if let Some(CatalogState::Listed(list)) = earlier_state {
                known_server.catalog.state = CatalogState::Listed(Arc::clone(list));
            }
            let timeout = list_timeout(&known_server.catalog);
            let (provider, config) = (cx.provider.clone(), known_server.config.clone());
            let (server, sender) = (known_server.catalog.server.clone(), self.sender.clone());
            self.catalog_requests.spawn(async move {
                let result = provider.list_models(&config, timeout).await;
                let _ = sender.send(ModelTaskEvent::Listed(server, result)).await;
            });
        }
        self.push_catalog(cx);
    }

    fn push_catalog(&mut self, cx: &mut EngineCx) {
        let catalog = ModelCatalog {
            servers: self
                .servers
                .iter()
                .map(|server| server.catalog.clone())
                .collect(),
            key_variables: config::key_variables(),
            is_ollama_host_invalid: config::is_ollama_host_invalid(&cx.home),
            offers_discovered: self.offers_discovered,
        };
        cx.outbox.push(Event::CatalogChanged(Arc::new(catalog)));
    }

    pub(super) fn handle_catalog(
        &mut self,
        server: &ModelServer,
        result: Result<ModelList, ProviderError>,
        cx: &mut EngineCx,
    ) {
        let mut servers = self.servers.iter_mut();
        let Some(known_server) = servers.find(|known| known.catalog.server == *server) else {
            return;
        };
        known_server.catalog.state = match result {
            Ok(list) => CatalogState::Listed(Arc::new(list)),
            Err(error) => CatalogState::Failed(without_retry(error.notice())),
        };
        self.push_catalog(cx);
    }

    fn find_server(&self, server: &ModelServer) -> Option<&KnownServer> {
        let mut servers = self.servers.iter();
        servers.find(|known| known.catalog.server == *server)
    }

    /// The configuration for requests to a server, taken from any of its models.
    pub fn config_of(&self, server: &ModelServer, cx: &EngineCx) -> Option<ModelConfig> {
        let mut models = cx.settings.models.iter();
        let config_in_settings = || models.find(|model| model.server() == *server);
        let known_config = self.find_server(server).map(|known| &known.config);
        known_config.or_else(config_in_settings).cloned()
    }

    pub fn listed_model(&self, server: &ModelServer, name: &str) -> Option<&ListedModel> {
        let list = self.find_server(server)?.catalog.listed()?;
        let mut models = list.models.iter();
        models.find(|model| is_same_model(&model.name, name))
    }

    /// Whether the complete model list of this server is known.
    pub fn has_complete_catalog(&self, server: &ModelServer) -> bool {
        let list = self
            .find_server(server)
            .and_then(|server| server.catalog.listed());
        list.is_some_and(|list| !list.is_truncated)
    }
}

/// The servers of all configured models, plus the local Ollama unless another Ollama is
/// configured or the models are overridden.
fn known_servers(cx: &EngineCx) -> Vec<KnownServer> {
    let mut servers = config::model_servers(&cx.settings.models);
    let is_ollama = |known: &KnownServer| known.config.provider.manages_models();
    if !servers.iter().any(is_ollama) && cx.options.model_override.is_none() {
        servers.push(KnownServer::local_ollama(&cx.home));
    }
    servers
}

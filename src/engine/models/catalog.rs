//! What model servers have: asked in the background, each answer an event.

use super::{KnownServer, ModelRegistry, ModelTaskEvent, without_retry};
use crate::config;
use crate::domain::facts::is_same_model;
use crate::domain::{Catalogue, ModelConfig, ModelServer, ServerModel, Stock, StockState, Stocks};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use crate::provider::Fault;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long a configured server is waited for.
pub(super) const LIST_TIME_MAX: Duration = Duration::from_secs(5);
/// How long an Ollama is looked for that nobody spoke of.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);

impl ModelRegistry {
    /// Looks around for models where the program was never told of any.
    pub fn offer_models(&mut self, cx: &mut EngineCx) {
        let is_first = !cx.settings.lists_models && cx.unreadable_config_banner().is_none();
        if cx.options.offers_models && is_first && cx.options.model_override.is_none() {
            self.offers = true;
            self.list_stocks(cx);
        }
    }

    /// Asks every server anew; what was known of it stands until it answers.
    pub fn list_stocks(&mut self, cx: &mut EngineCx) {
        let before = std::mem::take(&mut self.servers);
        self.servers = self.distinct_servers(cx);
        self.listing.abort_all();
        self.listing = JoinSet::new();
        for known in &mut self.servers {
            let earlier = before
                .iter()
                .find(|one| one.stock.server == known.stock.server);
            if let Some(StockState::Has(catalogue)) = earlier.map(|one| &one.stock.state) {
                known.stock.state = StockState::Has(Arc::clone(catalogue));
            }
            let is_found = known.stock.configured.is_empty();
            let time = if is_found {
                LOOK_TIME_MAX
            } else {
                LIST_TIME_MAX
            };
            let (provider, config) = (cx.provider.clone(), known.config.clone());
            let (server, sender) = (known.stock.server.clone(), self.sender.clone());
            self.listing.spawn(async move {
                let listed = provider.catalogue(&config, time).await;
                let _ = sender.send(ModelTaskEvent::Listed(server, listed)).await;
            });
        }
        self.push_stocks(cx);
    }

    /// The servers of all configured models, each once, and the Ollama of this machine
    /// where none is configured.
    fn distinct_servers(&self, cx: &EngineCx) -> Vec<KnownServer> {
        let configured = config::model_servers(&cx.settings.models).into_iter();
        let mut servers: Vec<KnownServer> = configured
            .map(|served| KnownServer {
                config: served.config,
                stock: Stock {
                    server: served.server,
                    configured: served.configured,
                    state: StockState::Asking,
                },
            })
            .collect();
        let manages = |known: &KnownServer| known.config.provider.manages_models();
        if !servers.iter().any(manages) && cx.options.model_override.is_none() {
            let config = config::local_ollama(&cx.home);
            servers.push(KnownServer {
                stock: Stock {
                    server: config::server_of(&config),
                    configured: Vec::new(),
                    state: StockState::Asking,
                },
                config,
            });
        }
        servers
    }

    fn push_stocks(&mut self, cx: &mut EngineCx) {
        let stocks = Stocks {
            servers: self.servers.iter().map(|one| one.stock.clone()).collect(),
            key_variables: config::key_variables(),
            is_host_unread: config::is_host_unread(&cx.home),
            offers: self.offers,
        };
        cx.outbox.push(Event::StocksChanged(Arc::new(stocks)));
    }

    pub(super) fn listed(
        &mut self,
        server: &ModelServer,
        listed: Result<Catalogue, Fault>,
        cx: &mut EngineCx,
    ) {
        let mut known = self.servers.iter_mut();
        let Some(known) = known.find(|one| one.stock.server == *server) else {
            return;
        };
        known.stock.state = match listed {
            Ok(catalogue) => StockState::Has(Arc::new(catalogue)),
            Err(fault) => StockState::Failed(without_retry(fault.notice())),
        };
        self.push_stocks(cx);
    }

    /// Any model of a server, to ask it by.
    pub fn config_of(&self, server: &ModelServer, cx: &EngineCx) -> Option<ModelConfig> {
        let known = self.servers.iter();
        let known = known
            .filter(|one| one.stock.server == *server)
            .map(|one| &one.config);
        let mut configured = cx.settings.models.iter();
        let configured = || configured.find(|model| config::server_of(model) == *server);
        known.into_iter().next().or_else(configured).cloned()
    }

    /// What a server lists under this name, where that is known.
    pub fn stocked(&self, server: &ModelServer, name: &str) -> Option<&ServerModel> {
        let mut known = self.servers.iter();
        let known = known.find(|one| one.stock.server == *server)?;
        let StockState::Has(catalogue) = &known.stock.state else {
            return None;
        };
        let mut models = catalogue.models.iter();
        models.find(|model| is_same_model(&model.name, name))
    }

    /// Is all known that this server has?
    pub fn lists_all(&self, server: &ModelServer) -> bool {
        let mut known = self.servers.iter();
        known.any(|one| {
            let state = &one.stock.state;
            one.stock.server == *server
                && matches!(state, StockState::Has(catalogue) if !catalogue.is_cut)
        })
    }
}

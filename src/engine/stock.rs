//! What model servers have: asked beside everything else, each answer an event.
//! Whatever runs here is dropped with the program.

use super::actor::Actor;
use super::pulling::Pulling;
use crate::config;
use crate::domain::facts::is_same_model;
use crate::domain::{
    Advice, Catalogue, ModelConfig, ModelRef, ModelServer, Notice, ProviderKind, Pull, QueryId,
    Stock, StockState, Stocks, Think,
};
use crate::protocol::Event;
use crate::provider::{Fault, PullProgress};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long a configured server is waited for.
pub(super) const LIST_TIME_MAX: Duration = Duration::from_secs(5);
/// How long an Ollama is looked for that nobody spoke of.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);
/// News that wait for the actor.
const NEWS_MAX: usize = 64;

/// What a task of this file has to say.
#[derive(Debug)]
pub(super) enum News {
    Listed(ModelServer, Result<Catalogue, Fault>),
    Tried(QueryId, Result<(), Notice>),
    Pulling(PullProgress),
    Pulled(Result<(), Fault>),
    Removed(ModelServer, String, Result<(), Fault>),
    /// The model of this name cannot think.
    CannotThink(ModelRef, Vec<String>),
}

/// A server and how it is asked.
struct Known {
    /// Any model of it.
    config: ModelConfig,
    stock: Stock,
}

/// The servers of models, and the tasks that ask them.
pub(super) struct Shelves {
    known: Vec<Known>,
    pub(super) offers: bool,
    /// What /think set, until another model is used.
    pub(super) think: Option<Think>,
    pub(super) pull: Option<Pulling>,
    listing: JoinSet<()>,
    pub(super) tasks: JoinSet<()>,
    pub(super) sender: mpsc::Sender<News>,
    pub(super) news: mpsc::Receiver<News>,
}

impl Default for Shelves {
    fn default() -> Self {
        let (sender, news) = mpsc::channel(NEWS_MAX);
        Self {
            known: Vec::new(),
            offers: false,
            think: None,
            pull: None,
            listing: JoinSet::new(),
            tasks: JoinSet::new(),
            sender,
            news,
        }
    }
}

impl Actor {
    /// Looks around for models where the program was never told of any (S2.8).
    pub(super) fn offer_models(&mut self) {
        let is_first = !self.settings.lists_models && self.unread_config().is_none();
        if self.cx.options.offers_models && is_first && self.cx.options.stand_in.is_none() {
            self.shelves.offers = true;
            self.list_stocks();
        }
    }

    /// Asks every server anew; what was known of it stands until it answers.
    pub(super) fn list_stocks(&mut self) {
        let before = std::mem::take(&mut self.shelves.known);
        self.shelves.known = self.distinct_servers();
        self.shelves.listing.abort_all();
        while self.shelves.tasks.try_join_next().is_some() {}
        self.shelves.listing = JoinSet::new();
        for known in &mut self.shelves.known {
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
            let (provider, config) = (self.cx.provider.clone(), known.config.clone());
            let (server, sender) = (known.stock.server.clone(), self.shelves.sender.clone());
            self.shelves.listing.spawn(async move {
                let listed = provider.catalogue(&config, time).await;
                let _ = sender.send(News::Listed(server, listed)).await;
            });
        }
        self.push_stocks();
    }

    /// The servers of all configured models, each once, and the Ollama of this machine
    /// where none is configured.
    fn distinct_servers(&self) -> Vec<Known> {
        let configured = config::model_servers(&self.settings.models).into_iter();
        let mut servers: Vec<Known> = configured
            .map(|served| Known {
                config: served.config,
                stock: Stock {
                    server: served.server,
                    configured: served.configured,
                    state: StockState::Asking,
                },
            })
            .collect();
        let is_ollama = |known: &Known| known.config.provider == ProviderKind::Ollama;
        if !servers.iter().any(is_ollama) && self.cx.options.stand_in.is_none() {
            let config = config::local_ollama(&self.cx.home);
            servers.push(Known {
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

    fn push_stocks(&mut self) {
        let stocks = Stocks {
            servers: self
                .shelves
                .known
                .iter()
                .map(|one| one.stock.clone())
                .collect(),
            key_variables: config::key_variables(),
            is_host_unread: config::is_host_unread(&self.cx.home),
            offers: self.shelves.offers,
        };
        self.cx.outbox.push(Event::StocksChanged(Arc::new(stocks)));
    }

    pub(super) fn news(&mut self, news: News) {
        match news {
            News::Listed(server, listed) => self.listed(&server, listed),
            News::Tried(query, result) => {
                self.cx.outbox.push(Event::ModelTried { query, result });
            }
            News::Pulling(progress) => self.pull_goes_on(progress),
            News::Pulled(result) => self.pull_ended(result),
            News::Removed(server, name, result) => self.removed(&server, &name, result),
            News::CannotThink(model, abilities) => self.cannot_think(&model, &abilities),
        }
    }

    fn listed(&mut self, server: &ModelServer, listed: Result<Catalogue, Fault>) {
        let mut known = self.shelves.known.iter_mut();
        let Some(known) = known.find(|one| one.stock.server == *server) else {
            return;
        };
        known.stock.state = match listed {
            Ok(catalogue) => StockState::Has(Arc::new(catalogue)),
            Err(fault) => StockState::Failed(without_retry(fault.notice())),
        };
        self.push_stocks();
    }

    /// Any model of a server, to ask it by.
    pub(super) fn config_of(&self, server: &ModelServer) -> Option<ModelConfig> {
        let known = self.shelves.known.iter();
        let known = known
            .filter(|one| one.stock.server == *server)
            .map(|one| &one.config);
        let mut configured = self.settings.models.iter();
        let configured = || configured.find(|model| config::server_of(model) == *server);
        known.into_iter().next().or_else(configured).cloned()
    }

    /// What a server lists under this name, where that is known.
    pub(super) fn stocked(
        &self,
        server: &ModelServer,
        name: &str,
    ) -> Option<&crate::domain::ServerModel> {
        let mut known = self.shelves.known.iter();
        let known = known.find(|one| one.stock.server == *server)?;
        let StockState::Has(catalogue) = &known.stock.state else {
            return None;
        };
        let mut models = catalogue.models.iter();
        models.find(|model| is_same_model(&model.name, name))
    }

    /// Is all known that this server has?
    pub(super) fn lists_all(&self, server: &ModelServer) -> bool {
        let mut known = self.shelves.known.iter();
        known.any(|one| {
            let state = &one.stock.state;
            one.stock.server == *server
                && matches!(state, StockState::Has(catalogue) if !catalogue.is_cut)
        })
    }

    /// The Ollama that is meant where none is named: the one that is used, or the
    /// first there is.
    pub(super) fn usual_ollama(&self) -> ModelConfig {
        let is_ollama = |model: &&ModelConfig| model.provider == ProviderKind::Ollama;
        let used = self.model.as_deref().filter(is_ollama);
        let first = || self.settings.models.iter().find(is_ollama);
        let found = used.or_else(first).cloned();
        found.unwrap_or_else(|| config::local_ollama(&self.cx.home))
    }

    pub(super) fn push_pull(&mut self) {
        let pull = self.shelves.pull.as_ref().map(|one| one.pull.clone());
        self.cx.outbox.push(Event::PullChanged(pull));
    }
}

/// No prompt was asked here: to retry would ask something else again.
pub(super) fn without_retry(mut notice: Notice) -> Notice {
    let retries = [Advice::Retry, Advice::RetryLater];
    if notice.advice.iter().any(|advice| retries.contains(advice)) {
        notice.advice.clear();
    }
    notice
}

/// A pull as it is told.
pub(super) fn pull_of(server: ModelServer, name: String) -> Pull {
    Pull {
        server,
        name,
        status: "asking".to_owned(),
        done: 0,
        total: 0,
    }
}

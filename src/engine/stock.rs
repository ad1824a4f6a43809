//! What model servers have: asked beside everything else, each answer an event.
//! Whatever runs here is dropped with the program.

use super::actor::{Actor, Done};
use super::asking::Pending;
use super::pulling::Pulling;
use crate::config;
use crate::domain::facts::is_same_model;
use crate::domain::{
    Catalogue, ModelConfig, ModelRef, ModelServer, NewModel, Notice, ProviderKind, Pull, QueryId,
    Stock, StockState, Stocks, Think,
};
use crate::protocol::{Ask, Choice, Event, Owner};
use crate::provider::{Fault, PullProgress};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long a configured server is waited for.
const LIST_TIME_MAX: Duration = Duration::from_secs(5);
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
    offers: bool,
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
        let is_first = !self.settings.lists_models && !self.banners.contains_key("config.json");
        if self.options.offers_models && is_first && self.options.stand_in.is_none() {
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
            let (provider, config) = (self.provider.clone(), known.config.clone());
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
        let mut servers: Vec<Known> = Vec::new();
        for model in &self.settings.models {
            if model.provider == ProviderKind::Scripted {
                continue;
            }
            let server = config::server_of(model);
            let known = servers.iter_mut().find(|one| one.stock.server == server);
            match known {
                Some(known) => {
                    known.stock.configured.push(model.reference());
                    // One with a key asks more than one without.
                    if !known.config.api_key.is_usable() {
                        known.config = model.clone();
                    }
                }
                None => servers.push(Known {
                    config: model.clone(),
                    stock: Stock {
                        server,
                        configured: vec![model.reference()],
                        state: StockState::Asking,
                    },
                }),
            }
        }
        let is_ollama = |known: &Known| known.config.provider == ProviderKind::Ollama;
        if !servers.iter().any(is_ollama) && self.options.stand_in.is_none() {
            let config = config::local_ollama(&self.home);
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
            offers: self.shelves.offers,
        };
        self.outbox.push(Event::StocksChanged(Arc::new(stocks)));
    }

    pub(super) fn news(&mut self, news: News) {
        match news {
            News::Listed(server, listed) => self.listed(&server, listed),
            News::Tried(query, result) => {
                self.outbox.push(Event::ModelTried { query, result });
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

    /// The Ollama that is meant where none is named: the one that is used, or the
    /// first there is.
    pub(super) fn usual_ollama(&self) -> ModelConfig {
        let is_ollama = |model: &&ModelConfig| model.provider == ProviderKind::Ollama;
        let used = self.model.as_deref().filter(is_ollama);
        let first = || self.settings.models.iter().find(is_ollama);
        let found = used.or_else(first).cloned();
        found.unwrap_or_else(|| config::local_ollama(&self.home))
    }

    pub(super) fn use_model(&mut self, server: ModelServer, name: String) {
        let is_it = |model: &&ModelConfig| {
            config::server_of(model) == server && is_same_model(&model.model, &name)
        };
        let configured = self.settings.models.iter().find(is_it);
        if let Some(model) = configured.map(ModelConfig::reference) {
            return self.select_model(&model);
        }
        if self.config_of(&server).is_none() {
            return self.notice(Notice::warning(format!(
                "{} is asked no more: config.json has changed.",
                server.url
            )));
        }
        // On a first run choosing is all that is asked.
        if self.shelves.offers {
            return self.add_model_answered(&server, &name, Choice::Add);
        }
        let question = Ask::AddModel {
            server: server.clone(),
            name: name.clone(),
        };
        self.ask(Owner::Program, question, Pending::AddModel { server, name });
    }

    pub(super) fn add_model_answered(&mut self, server: &ModelServer, name: &str, choice: Choice) {
        let Some(config) = self.config_of(server) else {
            return;
        };
        let like = self.settings.models.iter();
        let like = like
            .map(ModelConfig::reference)
            .find(|one| *one == config.reference());
        let new = NewModel {
            name: self.free_name(name, server),
            model: name.to_owned(),
            provider: server.provider,
            base_url: like.is_none().then(|| config.base_url.clone()),
            api_key: None,
            like,
        };
        match choice {
            Choice::Add => self.add_model(new),
            Choice::UseOnce => {
                let model = ModelConfig {
                    name: new.name,
                    model: new.model,
                    active: false,
                    context_length: None,
                    think: None,
                    ..config
                };
                let said = format!("Using {} until humble ends.", model.name);
                self.take_model(model);
                self.notice(Notice::info(said));
            }
            _ => {}
        }
    }

    /// A name that no other model has: the server tells two apart.
    fn free_name(&self, name: &str, server: &ModelServer) -> String {
        let is_taken = |name: &str| self.settings.models.iter().any(|one| one.name == name);
        if !is_taken(name) {
            return name.to_owned();
        }
        let with_host = format!("{name} @ {}", server.host());
        let numbered = (2..).map(|number| format!("{with_host} {number}"));
        let mut names = std::iter::once(with_host.clone()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or(with_host)
    }

    /// Writes a model into `config.json`; it is used once it stands there.
    pub(super) fn add_model(&mut self, mut new: NewModel) {
        if new.base_url.as_deref() == Some(DEFAULT_OLLAMA) && new.provider == ProviderKind::Ollama {
            new.base_url = None;
        }
        let home = self.home.clone();
        self.jobs.spawn_blocking(move || {
            let reference = ModelRef {
                name: new.name.clone(),
                provider: new.provider,
                model: new.model.clone(),
            };
            let added = config::add_model(&home, &new);
            let settings = added.map(|()| Box::new(config::read_settings(&home).value));
            Done::Added(reference, settings)
        });
    }

    pub(super) fn model_added(&mut self, reference: ModelRef, settings: config::Settings) {
        self.settings.models = settings.models;
        self.settings.lists_models = true;
        self.shelves.offers = false;
        if let Some(log) = &self.log {
            log.hide(self.settings.secrets());
        }
        if let Some(model) = self.find_reference(&reference) {
            self.take_model(model);
        }
        self.outbox.push(Event::ModelAdded(reference.clone()));
        let said = format!("Using {}. It stands in config.json now.", reference.name);
        self.notice(Notice::info(said));
        self.list_stocks();
    }

    /// Asks the server of a new model what it has, so that a wrong address or key is
    /// told before it is saved.
    pub(super) fn try_model(&mut self, query: QueryId, new: &NewModel) {
        let model = match config::understand(&self.home, new) {
            Ok(model) => model,
            Err(faults) => {
                let result = Err(Notice::failure(faults));
                return self.outbox.push(Event::ModelTried { query, result });
            }
        };
        // What is typed is a secret from its first request on.
        if let (Some(log), crate::domain::model::ApiKey::Known(key)) = (&self.log, &model.api_key) {
            log.hide(vec![key.clone()]);
        }
        let (provider, sender) = (self.provider.clone(), self.shelves.sender.clone());
        self.shelves.tasks.spawn(async move {
            let listed = provider.catalogue(&model, LIST_TIME_MAX).await;
            let result = match listed {
                Ok(catalogue) => has_model(&catalogue, &model),
                Err(fault) => Err(without_retry(fault.notice())),
            };
            let _ = sender.send(News::Tried(query, result)).await;
        });
    }

    /// For the present model of this program alone.
    pub(super) fn set_think(&mut self, think: Think) {
        let Some(model) = &self.model else {
            let notice = self.no_model();
            return self.notice(notice);
        };
        let mut changed = (**model).clone();
        changed.think = Some(think);
        let changed = Arc::new(changed);
        self.model = Some(Arc::clone(&changed));
        self.outbox.push(Event::ThinkChanged(Some(think)));
        if think == Think::Off || changed.provider != ProviderKind::Ollama {
            return;
        }
        let (provider, sender) = (self.provider.clone(), self.shelves.sender.clone());
        self.shelves.tasks.spawn(async move {
            let Ok(facts) = provider.facts(&changed).await else {
                return;
            };
            if facts.can("thinking") == Some(false) {
                let news = News::CannotThink(changed.reference(), facts.capabilities);
                let _ = sender.send(news).await;
            }
        });
    }

    fn cannot_think(&mut self, reference: &ModelRef, abilities: &[String]) {
        let present = self
            .model
            .as_ref()
            .filter(|one| one.reference() == *reference);
        let Some(model) = present else { return };
        let mut changed = (**model).clone();
        changed.think = None;
        self.model = Some(Arc::new(changed));
        self.outbox.push(Event::ThinkChanged(None));
        let notice = Notice::warning(format!("`{}` cannot think.", reference.name))
            .because(format!("Its server lists: {}.", abilities.join(", ")))
            .advise("/think stays off; choose another model with /models.");
        self.notice(notice);
    }

    pub(super) fn push_pull(&mut self) {
        let pull = self.shelves.pull.as_ref().map(|one| one.pull.clone());
        self.outbox.push(Event::PullChanged(pull));
    }
}

const DEFAULT_OLLAMA: &str = "http://localhost:11434";

/// Is the model on the list of its server? A server that lists nothing may have it
/// all the same.
fn has_model(catalogue: &Catalogue, model: &ModelConfig) -> Result<(), Notice> {
    let names = catalogue.models.iter().map(|one| one.name.as_str());
    if catalogue.models.is_empty()
        || catalogue.is_cut
        || names.clone().any(|name| is_same_model(name, &model.model))
    {
        return Ok(());
    }
    let first: Vec<&str> = names.take(8).collect();
    let more = catalogue.models.len() - first.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(Notice::failure(format!(
        "The server answers, but lists no model `{}`.",
        model.model
    ))
    .because(format!("It has: {}{more}.", first.join(", "))))
}

/// No prompt was asked here: /retry would ask something else again.
pub(super) fn without_retry(mut notice: Notice) -> Notice {
    if notice
        .advice
        .as_ref()
        .is_some_and(|advice| advice.contains("/retry"))
    {
        notice.advice = None;
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

//! Using what servers have: found models are added to the settings once the person
//! agreed, new servers are tried before that, and `think` holds for this run.

use super::actor::Actor;
use super::jobs::JobResult;
use super::questions::PendingQuestion;
use super::stock::{LIST_TIME_MAX, News, without_retry};
use crate::config::{self, ConfigError};
use crate::domain::facts::is_same_model;
use crate::domain::model::ApiKey;
use crate::domain::{
    Advice, Catalogue, ModelConfig, ModelRef, ModelServer, NewModel, Notice, ProviderKind, QueryId,
    Think,
};
use crate::protocol::{Ask, Choice, Event, Owner};
use std::sync::Arc;

const DEFAULT_OLLAMA: &str = "http://localhost:11434";

impl Actor {
    pub(super) fn use_model(&mut self, server: ModelServer, name: String) {
        let is_it = |model: &&ModelConfig| {
            config::server_of(model) == server && is_same_model(&model.model, &name)
        };
        let configured = self.settings.models.iter().find(is_it);
        if let Some(model) = configured.map(ModelConfig::reference) {
            return self.select_model(&model);
        }
        if self.config_of(&server).is_none() {
            return self.cx.notice(Notice::warning(format!(
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
        self.cx.ask(
            Owner::Program,
            question,
            PendingQuestion::AddModel { server, name },
        );
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
                let Ok(model) = self.model_of(&new) else {
                    return;
                };
                let said = format!("Using {} until humble ends.", model.name);
                self.take_model(model);
                self.cx.notice(Notice::info(said));
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
        let mut model = match self.model_of(&new) {
            Ok(model) => model,
            Err(faults) => {
                let what = format!("`{}` cannot be added.", new.name);
                return self.cx.notice(Notice::failure(what).because(faults));
            }
        };
        model.active = true;
        let home = self.cx.home.clone();
        self.cx.write_config(move || {
            let added = config::add_model(&home, &new);
            JobResult::ModelAdded(Box::new(model), added)
        });
    }

    /// A new model as it is used: address, key and certificate may be another's.
    fn model_of(&self, new: &NewModel) -> Result<ModelConfig, String> {
        let model = config::understand(&self.cx.home, new)?;
        let like = new.like.as_ref();
        Ok(match like.and_then(|like| self.find_reference(like)) {
            Some(like) => ModelConfig {
                base_url: like.base_url,
                api_key: like.api_key,
                ca_file: like.ca_file,
                ..model
            },
            None => model,
        })
    }

    /// The file lists it now. What else the file may say by now is not taken over:
    /// edits from outside are weighed on their own way (S1.4).
    pub(super) fn model_added(&mut self, model: ModelConfig, written: Result<(), ConfigError>) {
        if let Err(fault) = written {
            return self.cx.notice(fault.notice());
        }
        let reference = model.reference();
        for other in &mut self.settings.models {
            other.active = false;
        }
        self.settings.models.push(model.clone());
        self.settings.lists_models = true;
        self.shelves.offers = false;
        if let Some(log) = &self.cx.log {
            log.hide(self.settings.secrets());
        }
        self.take_model(model);
        let said = format!("Using {}. It stands in config.json now.", reference.name);
        self.cx.outbox.push(Event::ModelAdded(reference));
        self.cx.notice(Notice::info(said));
        self.list_stocks();
    }

    /// Asks the server of a new model what it has, so that a wrong address or key is
    /// told before it is saved.
    pub(super) fn try_model(&mut self, query: QueryId, new: &NewModel) {
        let model = match config::understand(&self.cx.home, new) {
            Ok(model) => model,
            Err(faults) => {
                let result = Err(Notice::failure(faults));
                return self.cx.outbox.push(Event::ModelTried { query, result });
            }
        };
        // What is typed is a secret from its first request on.
        if let (Some(log), ApiKey::Known(key)) = (&self.cx.log, &model.api_key) {
            log.hide(vec![key.clone()]);
        }
        let (provider, sender) = (self.cx.provider.clone(), self.shelves.sender.clone());
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
            return self.cx.notice(notice);
        };
        let mut changed = (**model).clone();
        changed.think = Some(think);
        self.shelves.think = Some(think);
        let changed = Arc::new(changed);
        self.model = Some(Arc::clone(&changed));
        self.cx.outbox.push(Event::ThinkChanged(Some(think)));
        if think == Think::Off || changed.provider != ProviderKind::Ollama {
            return;
        }
        let (provider, sender) = (self.cx.provider.clone(), self.shelves.sender.clone());
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

    pub(super) fn cannot_think(&mut self, reference: &ModelRef, abilities: &[String]) {
        let present = self
            .model
            .as_ref()
            .filter(|one| one.reference() == *reference);
        let Some(model) = present else { return };
        let mut changed = (**model).clone();
        changed.think = None;
        self.shelves.think = None;
        self.model = Some(Arc::new(changed));
        self.cx.outbox.push(Event::ThinkChanged(None));
        let notice = Notice::warning(format!("`{}` cannot think.", reference.name))
            .because(format!(
                "Its server lists: {}. Thinking stays off.",
                abilities.join(", ")
            ))
            .advise(Advice::ChooseOtherModel);
        self.cx.notice(notice);
    }
}

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

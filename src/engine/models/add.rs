//! Adds models to the settings: a model of a known server after the user's consent, or a model
//! of a new server after a test. Also sets `think` for this run.

use super::catalog::LIST_TIME_MAX;
use super::select::no_model;
use super::{ModelRegistry, ModelTaskEvent, without_retry};
use crate::config::{self, ConfigError};
use crate::domain::model::ApiKey;
use crate::domain::model_info::is_same_model;
use crate::domain::{
    Advice, ModelConfig, ModelList, ModelRef, ModelServer, NewModel, Notice, QueryId, Think,
};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, Event, QuestionOwner, UserChoice};
use std::sync::Arc;

impl ModelRegistry {
    pub fn use_model(&mut self, server: ModelServer, name: String, cx: &mut EngineCx) {
        let mut models = cx.settings.models.iter();
        let configured = models.find(|model| model.is_listed_as(&server, &name));
        if let Some(model) = configured.map(ModelConfig::reference) {
            return self.select_model(&model, cx);
        }
        if self.config_of(&server, cx).is_none() {
            return cx.notice(Notice::warning(format!(
                "config.json no longer has a model of {}.",
                server.url
            )));
        }
        // On a first run, choosing a model is consent enough.
        if self.offers {
            return self.add_model_answered(&server, &name, UserChoice::Add, cx);
        }
        let question = Ask::AddModel {
            server: server.clone(),
            name: name.clone(),
        };
        cx.ask(
            QuestionOwner::Program,
            question,
            PendingQuestion::AddModel { server, name },
        );
    }

    pub fn add_model_answered(
        &mut self,
        server: &ModelServer,
        name: &str,
        choice: UserChoice,
        cx: &mut EngineCx,
    ) {
        let Some(config) = self.config_of(server, cx) else {
            return;
        };
        let like = cx
            .settings
            .models
            .iter()
            .map(ModelConfig::reference)
            .find(|reference| *reference == config.reference());
        let new = NewModel {
            name: self.free_name(name, server, cx),
            model: name.to_owned(),
            provider: server.provider,
            base_url: like.is_none().then(|| config.base_url.clone()),
            api_key: None,
            like,
        };
        match choice {
            UserChoice::Add => self.add_model(new, cx),
            UserChoice::UseOnce => {
                let Ok(model) = self.model_of(&new, cx) else {
                    return;
                };
                let message = format!("Using {} until humble ends.", model.name);
                self.take_model(model, cx);
                cx.notice(Notice::info(message));
            }
            _ => {}
        }
    }

    /// A name that no other model has. The server's host distinguishes two of the same name.
    fn free_name(&self, name: &str, server: &ModelServer, cx: &EngineCx) -> String {
        let is_taken = |name: &str| cx.settings.models.iter().any(|model| model.name == name);
        if !is_taken(name) {
            return name.to_owned();
        }
        let with_host = format!("{name} @ {}", server.host());
        let numbered = (2..).map(|number| format!("{with_host} {number}"));
        let mut names = std::iter::once(with_host.clone()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or(with_host)
    }

    /// Writes a model to `config.json` and selects it once written.
    pub fn add_model(&mut self, mut new: NewModel, cx: &mut EngineCx) {
        // The key variable of a provider applies only to entries without an address. A default
        // address is dropped only if the provider has no such variable.
        let (url, provider) = (new.base_url.as_deref(), new.provider);
        if provider.key_variable().is_none() && url == Some(provider.default_base_url()) {
            new.base_url = None;
        }
        let mut model = match self.model_of(&new, cx) {
            Ok(model) => model,
            Err(faults) => {
                let message = format!("`{}` cannot be added.", new.name);
                return cx.notice(Notice::failure(message).with_reason(faults));
            }
        };
        model.active = true;
        let home = cx.home.clone();
        cx.write_config(move || {
            let added = config::add_model(&home, &new);
            JobResult::ModelAdded(Box::new(model), added)
        });
    }

    /// The new model, with the address, key and certificate of the entry that it copies.
    fn model_of(&self, new: &NewModel, cx: &EngineCx) -> Result<ModelConfig, String> {
        let model = config::understand(&cx.home, new)?;
        let like = new.like.as_ref();
        Ok(match like.and_then(|like| self.find_reference(like, cx)) {
            Some(like) => ModelConfig {
                base_url: like.base_url,
                api_key: like.api_key,
                ca_file: like.ca_file,
                ..model
            },
            None => model,
        })
    }

    /// Selects a model that was written to the file. Other edits of the file are not applied
    /// here, because they need a review.
    pub fn model_added(
        &mut self,
        model: ModelConfig,
        written: Result<(), ConfigError>,
        cx: &mut EngineCx,
    ) {
        if let Err(fault) = written {
            return cx.notice(fault.notice());
        }
        let reference = model.reference();
        for other in &mut cx.settings.models {
            other.active = false;
        }
        cx.settings.models.push(model.clone());
        cx.settings.has_model_entries = true;
        self.offers = false;
        if let Some(log) = &cx.log {
            log.add_secrets(cx.settings.secrets());
        }
        self.take_model(model, cx);
        let message = format!("Using {}. Saved to config.json.", reference.name);
        cx.outbox.push(Event::ModelAdded(reference));
        cx.notice(Notice::info(message));
        self.list_catalog(cx);
    }

    /// Lists the models of a new model's server, to report a wrong address or key before
    /// saving.
    pub fn try_model(&mut self, query: QueryId, new: &NewModel, cx: &mut EngineCx) {
        let model = match config::understand(&cx.home, new) {
            Ok(model) => model,
            Err(faults) => {
                let result = Err(Notice::failure(faults));
                return cx.outbox.push(Event::ModelTested { query, result });
            }
        };
        // A typed key is secret from its first request on.
        if let (Some(log), ApiKey::Known(key)) = (&cx.log, &model.api_key) {
            log.add_secrets(vec![key.clone()]);
        }
        let provider = cx.provider.clone();
        self.spawn(async move {
            let listed = provider.catalogue(&model, LIST_TIME_MAX).await;
            let result = match listed {
                Ok(catalogue) => has_model(&catalogue, &model),
                Err(fault) => Err(without_retry(fault.notice())),
            };
            Some(ModelTaskEvent::Tried(query, result))
        });
    }

    /// Sets thinking of the selected model until the program ends.
    pub fn set_think(&mut self, think: Think, cx: &mut EngineCx) {
        let Some(model) = &self.current else {
            let notice = no_model(cx);
            return cx.notice(notice);
        };
        let mut changed = (**model).clone();
        changed.think = Some(think);
        let changed = Arc::new(changed);
        self.current = Some(Arc::clone(&changed));
        cx.outbox.push(Event::ThinkChanged(Some(think)));
        if think == Think::Off || !changed.provider.reports_capabilities() {
            return;
        }
        let provider = cx.provider.clone();
        self.spawn(async move {
            let facts = provider
                .facts(&changed)
                .await
                .ok()
                .filter(|facts| facts.has_capability("thinking") == Some(false))?;
            let model = changed.reference();
            Some(ModelTaskEvent::CannotThink(model, facts.capabilities))
        });
    }

    pub fn cannot_think(&mut self, reference: &ModelRef, abilities: &[String], cx: &mut EngineCx) {
        let current = self
            .current
            .as_ref()
            .filter(|model| model.reference() == *reference);
        let Some(model) = current else { return };
        let mut changed = (**model).clone();
        changed.think = None;
        self.current = Some(Arc::new(changed));
        cx.outbox.push(Event::ThinkChanged(None));
        let notice = Notice::warning(format!("`{}` does not support thinking.", reference.name))
            .with_reason(format!(
                "Its server reports the capabilities {}. Thinking stays off.",
                abilities.join(", ")
            ))
            .with_advice(Advice::ChooseOtherModel);
        cx.notice(notice);
    }
}

/// Checks that the server lists the model. A server that lists nothing may still have it.
fn has_model(catalogue: &ModelList, model: &ModelConfig) -> Result<(), Notice> {
    let names = catalogue.models.iter().map(|listed| listed.name.as_str());
    if catalogue.models.is_empty()
        || catalogue.is_truncated
        || names.clone().any(|name| is_same_model(name, &model.model))
    {
        return Ok(());
    }
    let first: Vec<&str> = names.take(8).collect();
    let more = match catalogue.models.len() - first.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Err(Notice::failure(format!(
        "The server answers, but lists no model `{}`.",
        model.model
    ))
    .with_reason(format!("It lists: {}{more}.", first.join(", "))))
}

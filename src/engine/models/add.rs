//! Uses models that the settings do not list, and adds them: from a known server when the user keeps
//! one, or from a new server after testing its address and key. Also sets the thinking level for this
//! run.

use super::catalog::LIST_TIME_MAX;
use super::select::no_model;
use super::{ModelRegistry, ModelTaskEvent};
use crate::config::{self, ConfigError};
use crate::domain::{
    Advice, ModelConfig, ModelRef, ModelServer, NewModel, NewModelServer, NewServerError,
    NewServerField, Notice, QueryId, Think,
};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::JobResult;
use crate::protocol::Event;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

impl ModelRegistry {
    /// Selects a model from a server's catalog. One that `config.json` does not list is used until the
    /// program ends; on the first run, choosing it also adds it.
    pub fn use_model(&mut self, server: &ModelServer, name: &str, cx: &mut EngineCx) {
        if let Some(model) = configured_as(server, name, cx) {
            return self.select_model(&model.reference(), cx);
        }
        let Some(new_model) = self.unlisted_model(server, name, cx) else {
            return cx.notice(no_model_from(server));
        };
        // On the first run, choosing a model is sufficient consent.
        if self.offers_discovered && !cx.settings.has_model_entries {
            return self.add_model(new_model, cx);
        }
        match self.build_model(&new_model, cx) {
            Ok(model) => {
                let message = format!("Using {} until humble exits.", model.name);
                self.select_unsaved(model, cx);
                cx.notice(Notice::info(message).with_advice(Advice::KeepModel));
            }
            Err(problems) => {
                let message = format!("`{}` cannot be used.", new_model.name);
                cx.notice(Notice::failure(message).with_reason(problems));
            }
        }
    }

    /// Adds the selected model to `config.json` if the file does not list it.
    pub fn keep_model(&mut self, cx: &mut EngineCx) {
        let Some(current) = self.current.clone() else {
            let notice = no_model(cx);
            return cx.notice(notice);
        };
        if cx.options.model_override.is_some() {
            let message = "The demo's model exists only in the demo.";
            return cx.notice(Notice::info(message));
        }
        let (server, name) = (current.server(), &current.model);
        if let Some(model) = configured_as(&server, name, cx) {
            let message = format!("config.json lists {} already.", model.name);
            return cx.notice(Notice::info(message));
        }
        match self.unlisted_model(&server, name, cx) {
            Some(new_model) => self.add_model(new_model, cx),
            None => cx.notice(no_model_from(&server)),
        }
    }

    /// A model of a server that `config.json` does not list. `None` if the server is not known, or no
    /// longer.
    fn unlisted_model(&self, server: &ModelServer, name: &str, cx: &EngineCx) -> Option<NewModel> {
        let config = self.config_of(server, cx)?;
        let mut references = cx.settings.models.iter().map(ModelConfig::reference);
        let copy_from = references.find(|reference| *reference == config.reference());
        Some(NewModel {
            name: unused_name(name, server, cx),
            model: name.to_owned(),
            provider: server.provider,
            base_url: copy_from.is_none().then(|| config.base_url.clone()),
            api_key: None,
            copy_from,
        })
    }

    /// Writes a model to `config.json`, then selects it.
    pub fn add_model(&mut self, mut new_model: NewModel, cx: &mut EngineCx) {
        // An entry without an address uses the API key from the provider's environment variable.
        // So the default address is omitted only if the provider has no such variable.
        let (url, provider) = (new_model.base_url.as_deref(), new_model.provider);
        if provider.key_variable().is_none() && url == Some(provider.default_base_url()) {
            new_model.base_url = None;
        }
        let mut model = match self.build_model(&new_model, cx) {
            Ok(model) => model,
            Err(problems) => {
                let message = format!("`{}` cannot be added.", new_model.name);
                return cx.notice(Notice::failure(message).with_reason(problems));
            }
        };
        model.active = true;
        let home = cx.home.clone();
        cx.write_config(move || {
            let result = config::add_model(&home, &new_model);
            JobResult::ModelAdded(Box::new(model), result)
        });
    }

    /// The configuration of a new model, with the address, key and certificate of the entry in
    /// `copy_from`.
    fn build_model(&self, new_model: &NewModel, cx: &EngineCx) -> Result<ModelConfig, String> {
        let model = config::parse_new_model(&cx.home, new_model)?;
        let source = new_model.copy_from.as_ref();
        let source = source.and_then(|source| self.find_configured(source, cx));
        Ok(match source {
            Some(source) => ModelConfig {
                base_url: source.base_url,
                api_key: source.api_key,
                ca_file: source.ca_file,
                ..model
            },
            None => model,
        })
    }

    /// Selects a model after it has been written to the file. Does not reload the file, because
    /// other edits in it must be reviewed first.
    pub fn handle_model_added(
        &mut self,
        model: ModelConfig,
        result: Result<(), ConfigError>,
        cx: &mut EngineCx,
    ) {
        if let Err(error) = result {
            return cx.notice(error.notice());
        }
        let reference = model.reference();
        for other in &mut cx.settings.models {
            other.active = false;
        }
        cx.settings.models.push(model.clone());
        cx.settings.has_model_entries = true;
        self.offers_discovered = false;
        cx.secrets.add(cx.settings.config_secrets());
        let is_call_format_taught = model.dialect.taught_form().is_some();
        self.select_added(model, cx);
        let message = format!("Using {}. Saved to config.json.", reference.name);
        cx.outbox.push(Event::ModelAdded(reference));
        let notice = Notice::info(message);
        // The model may follow another format better.
        cx.notice(match is_call_format_taught {
            true => notice.with_advice(Advice::Probe),
            false => notice,
        });
        self.list_catalog(cx);
    }

    /// Selects a model that was just added. If it was in use before, it keeps its thinking level, and
    /// the context stays as it was measured.
    fn select_added(&mut self, mut model: ModelConfig, cx: &mut EngineCx) {
        let current = self.current.as_ref();
        match current.filter(|current| current.is_listed_as(&model.server(), &model.model)) {
            None => self.select_unsaved(model, cx),
            Some(current) => {
                model.think = current.think;
                self.current = Some(Arc::new(model));
                self.list_models(cx);
            }
        }
    }

    /// Lists the models of a server in the background, so that a wrong address or key is
    /// reported before anything is saved.
    pub fn list_new_server(&mut self, query: QueryId, server: &NewModelServer, cx: &mut EngineCx) {
        self.stop_listing_new_server();
        let model = match config::parse_new_server(&cx.home, server) {
            Ok(model) => model,
            Err(problems) => {
                let error = NewServerError {
                    field: NewServerField::Address,
                    notice: Notice::failure(problems),
                };
                let result = Err(error);
                return cx.outbox.push(Event::ServerModelsListed { query, result });
            }
        };
        // Even before it is saved.
        cx.secrets.add(model.config_secrets());
        let (provider, sender) = (cx.provider.clone(), self.sender.clone());
        let task = tokio::spawn(async move {
            let listed = provider.list_models(&model, LIST_TIME_MAX).await;
            let result = listed.map_err(|error| error.new_server_error());
            let _ = sender
                .send(ModelTaskEvent::NewServerListed(query, result))
                .await;
        });
        self.new_server_listing = Some(AbortOnDropHandle::new(task));
    }

    /// Stops listing the models of a new server, because the user named a different server or none.
    pub fn stop_listing_new_server(&mut self) {
        self.new_server_listing = None;
    }

    /// Names, once, the models whose native calls an earlier version may have chosen.
    pub fn report_native_calls(&self, cx: &mut EngineCx) {
        if cx.options.is_one_shot {
            return;
        }
        let (home, models) = (cx.home.clone(), cx.settings.models.clone());
        cx.jobs.spawn_blocking(move || {
            let notice = config::take_native_calls_notice(&home, &models);
            let notices = notice.map(Event::LowPriorityNoticePosted);
            JobResult::Events(notices.into_iter().collect())
        });
    }

    /// Sets the thinking level of the selected model until another one is selected or the program
    /// exits.
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
        self.spawn_task(async move {
            let model_info = provider
                .model_info(&changed)
                .await
                .ok()
                .filter(|model_info| model_info.has_capability("thinking") == Some(false))?;
            let model = changed.reference();
            Some(ModelTaskEvent::ThinkUnsupported(
                model,
                model_info.capabilities,
            ))
        });
    }

    /// Unsets the thinking level after the server reported that the model does not support thinking.
    pub fn undo_set_think(
        &mut self,
        reference: &ModelRef,
        capabilities: &[String],
        cx: &mut EngineCx,
    ) {
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
                capabilities.join(", ")
            ))
            .with_advice(Advice::ChooseOtherModel);
        cx.notice(notice);
    }
}

fn configured_as<'a>(
    server: &ModelServer,
    name: &str,
    cx: &'a EngineCx,
) -> Option<&'a ModelConfig> {
    let mut models = cx.settings.models.iter();
    models.find(|model| model.is_listed_as(server, name))
}

/// Returns `name`, or an unused name made from it and the server's host if `name` is taken.
fn unused_name(name: &str, server: &ModelServer, cx: &EngineCx) -> String {
    let is_taken = |name: &str| cx.settings.models.iter().any(|model| model.name == name);
    if !is_taken(name) {
        return name.to_owned();
    }
    let with_host = format!("{name} @ {}", server.host());
    let numbered = (2..).map(|number| format!("{with_host} {number}"));
    let mut names = std::iter::once(with_host.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(with_host)
}

fn no_model_from(server: &ModelServer) -> Notice {
    Notice::warning(format!(
        "config.json no longer has a model from {}.",
        server.url
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Home, Settings};
    use crate::domain::ProviderKind;
    use crate::engine::deps::EngineOptions;
    use crate::fixtures::model_config;
    use crate::provider::{Provider, Script};

    /// The notice after the model was chosen.
    fn notice_after_choice(models: Vec<ModelConfig>, name: &str) -> Option<String> {
        let provider = Provider::scripted(Script::new(Vec::new()));
        let settings = Settings {
            models,
            ..Settings::default()
        };
        let (home, options) = (Home::at("/nonexistent"), EngineOptions::default());
        let mut cx = EngineCx::new(home, provider, options, settings, Default::default(), []);
        let server = model_config(ProviderKind::Ollama, "http://localhost:11434").server();
        ModelRegistry::default().use_model(&server, name, &mut cx);
        std::iter::from_fn(|| cx.outbox.pop()).find_map(|event| match event {
            Event::NoticePosted(notice) => Some(notice.what),
            _ => None,
        })
    }

    #[tokio::test]
    async fn the_notice_says_whether_the_chosen_model_can_be_used() {
        let removed = "config.json no longer has a model from http://localhost:11434.";
        let notice = notice_after_choice(Vec::new(), "m");
        assert_eq!(notice.as_deref(), Some(removed));
        let listed = || vec![model_config(ProviderKind::Ollama, "http://localhost:11434")];
        let notice = notice_after_choice(listed(), "");
        assert_eq!(notice.as_deref(), Some("`` cannot be used."));
        let notice = notice_after_choice(listed(), "m");
        assert_eq!(notice.as_deref(), Some("Using m until humble exits."));
    }
}

//! Selects the model for the next turns and saves the selection.

use super::ModelRegistry;
use crate::config::{self, Settings};
use crate::domain::model::CONFIG_EXAMPLE;
use crate::domain::{Advice, Banner, BannerCause, Dialect, ModelConfig, ModelRef, Notice};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use std::sync::Arc;

/// Explains why no model is selected, and how to get one.
pub fn no_model(cx: &EngineCx) -> Notice {
    let notice = Notice::failure("No active model is configured.").with_advice(Advice::SelectModel);
    if cx.settings.has_model_entries {
        return notice;
    }
    // The unreadable file may list models, so do not suggest adding one.
    if let Some(banner) = cx.unreadable_config_banner() {
        return Notice::failure("config.json could not be read, so no model is available.")
            .with_reason(banner.notice.what.clone())
            .with_advice("Correct the file; the change takes effect at once.");
    }
    let file = cx.home.config();
    notice
        .with_advice(format!("{} lists no model yet.", file.display()))
        .with_advice(Advice::AddModel)
        .with_advice("`humble demo` shows humble without a model.")
        .with_advice(format!(
            "Or put this into the file, for example:\n{CONFIG_EXAMPLE}"
        ))
}

impl ModelRegistry {
    /// Selects the model named on the command line, or else the active one.
    pub fn choose_first_model(&mut self, cx: &mut EngineCx) {
        let requested_name = cx.options.model.as_deref();
        let model = match requested_name.map(|name| cx.settings.find_model(name).ok_or(name)) {
            Some(Ok(model)) => Some(model.clone()),
            Some(Err(name)) => {
                let names: Vec<&str> = cx
                    .settings
                    .models
                    .iter()
                    .map(|model| model.name.as_str())
                    .collect();
                let message = format!("There is no model `{name}` in config.json.");
                let mut notice = Notice::failure(message);
                if !names.is_empty() {
                    notice = notice.with_advice(format!("It lists: {}.", names.join(", ")));
                }
                cx.add_banners([Banner::new(BannerCause::UnknownModel, notice)]);
                None
            }
            None => cx.settings.active_model().cloned(),
        };
        self.current = model.map(Arc::new);
    }

    /// Sends the configured models and the selected one to the front end.
    pub fn list_models(&mut self, cx: &mut EngineCx) {
        let models = cx
            .settings
            .models
            .iter()
            .map(ModelConfig::reference)
            .collect();
        let selected = self.current.as_ref().map(|model| model.reference());
        let selected_server = self.current.as_ref().map(|model| model.server());
        cx.outbox.push(Event::ModelsListed {
            models,
            selected,
            selected_server,
        });
    }

    /// Selects a configured model and saves the selection.
    pub fn select_model(&mut self, wanted: &ModelRef, cx: &mut EngineCx) {
        let Some(model) = self.find_configured(wanted, cx) else {
            cx.notice(Notice::warning(format!(
                "`{}` is no longer in config.json.",
                wanted.name
            )));
            return;
        };
        for other in &mut cx.settings.models {
            other.active = other.reference() == *wanted;
        }
        self.select_unsaved(model, cx);
        // A model override is not saved.
        if cx.options.model_override.is_some() {
            return;
        }
        let (home, wanted) = (cx.home.clone(), wanted.clone());
        cx.save_config(move || config::set_active_model(&home, &wanted));
    }

    pub fn find_configured(&self, reference: &ModelRef, cx: &EngineCx) -> Option<ModelConfig> {
        let mut models = cx.settings.models.iter();
        models
            .find(|model| model.reference() == *reference)
            .cloned()
    }

    /// Selects a model for the next turn without saving the selection.
    pub fn select_unsaved(&mut self, model: ModelConfig, cx: &mut EngineCx) {
        cx.outbox.push(Event::ThinkChanged(model.think));
        self.current = Some(Arc::new(model));
        let meter = self.context.reset_for_model();
        if let Some(meter) = meter {
            cx.outbox.push(Event::ContextMeasured(meter));
        }
        cx.banners.remove(&BannerCause::UnknownModel);
        cx.banners.remove(&BannerCause::SeveralActiveModels);
        cx.push_banners();
        self.list_models(cx);
    }

    /// Applies changed settings to the selected model. It stays selected and gets the changes
    /// of its own entry. A model that had no entry stays unchanged.
    pub fn apply_settings_change(&mut self, previous: &[ModelConfig], cx: &mut EngineCx) {
        let models = &cx.settings.models;
        let find_by_name = |name: &str| models.iter().find(|model| model.name == name);
        if let Some(model) = self.current.clone() {
            let is_same = |other: &&ModelConfig| other.reference() == model.reference();
            let new_entry = models
                .iter()
                .find(is_same)
                .or_else(|| find_by_name(&model.name));
            match (previous.iter().find(is_same), new_entry.cloned()) {
                (Some(old), Some(new)) if *old != new => self.update_current(&model, old, new, cx),
                (Some(_), None) => cx.notice(
                    Notice::warning(format!("`{}` is no longer in config.json.", model.name))
                        .with_reason("It stays selected for now.")
                        .with_advice(Advice::ChooseOtherModel),
                ),
                _ => {}
            }
        }
        self.list_models(cx);
    }

    /// The model that the command line names, by its configured name; the active one if it names
    /// none. `None` also if a model is already selected, because an edit alone never switches the
    /// model of a conversation.
    pub fn first_of<'a>(&self, settings: &'a Settings, cx: &EngineCx) -> Option<&'a ModelConfig> {
        if self.current.is_some() {
            return None;
        }
        match &cx.options.model {
            Some(name) => settings.find_model(name),
            None => settings.active_model(),
        }
    }

    fn update_current(
        &mut self,
        model: &ModelConfig,
        old: &ModelConfig,
        mut new: ModelConfig,
        cx: &mut EngineCx,
    ) {
        // A thinking level chosen for this run overrides the file.
        if model.think != old.think {
            new.think = model.think;
        }
        let is_other_model = new.reference() != old.reference() || new.base_url != old.base_url;
        if is_other_model {
            return self.select_unsaved(new, cx);
        }
        cx.outbox.push(Event::ThinkChanged(new.think));
        self.current = Some(Arc::new(new));
    }

    /// Applies a stored dialect if its model is the selected one.
    pub fn set_dialect(&mut self, reference: &ModelRef, dialect: Dialect) {
        if let Some(model) = &mut self.current
            && model.reference() == *reference
        {
            Arc::make_mut(model).dialect = dialect;
        }
    }
}

//! Which model answers, which mode decides on tools, which servers run: what the
//! person chose, and where it is kept.

use super::actor::Actor;
use super::turn::Input;
use crate::config;
use crate::domain::{
    Advice, Banner, BannerCause, ModelConfig, ModelRef, Notice, ServerId, ToolMode,
};
use crate::protocol::Event;
use std::sync::Arc;

/// An example that can be pasted into config.json (S2.8).
const EXAMPLE: &str =
    r#"{ "models": [ { "name": "qwen3:4b", "provider": "ollama", "active": true } ] }"#;

impl Actor {
    pub(super) fn no_model(&self) -> Notice {
        let notice = Notice::failure("No active model is configured.").advise(Advice::SelectModel);
        if self.settings.lists_models {
            return notice;
        }
        // A file that could not be read may well list models.
        if let Some(banner) = self.unread_config() {
            return Notice::failure("No model is known: config.json could not be read.")
                .because(banner.notice.what.clone())
                .advise("Correct it there; that takes effect at once.");
        }
        let file = self.cx.home.config();
        notice
            .advise(format!("No model is listed in {} yet.", file.display()))
            .advise(Advice::AddModel)
            .advise("`humble demo` shows the program without any model.")
            .advise(format!("Or put this there, for example:\n{EXAMPLE}"))
    }

    /// What is said of a `config.json` that nothing of is used.
    pub(super) fn unread_config(&self) -> Option<&Banner> {
        let mut banners = self.cx.banners.values();
        banners.find(|banner| banner.cause.is_whole_file("config.json"))
    }

    /// The model that the command line names, or the active one.
    pub(super) fn choose_first_model(&mut self) {
        let named = self
            .cx
            .options
            .model
            .as_deref()
            .map(|name| (name, self.find_model(name)));
        let model = match named {
            Some((_, Some(model))) => Some(model),
            Some((name, None)) => {
                let names: Vec<&str> = self
                    .settings
                    .models
                    .iter()
                    .map(|model| model.name.as_str())
                    .collect();
                let notice = Notice::failure(format!("There is no model `{name}` in config.json."))
                    .advise(format!("It lists: {}.", names.join(", ")));
                self.cx
                    .add_banners([Banner::new(BannerCause::UnknownModel, notice)]);
                None
            }
            None => self.settings.active().cloned(),
        };
        self.model = model.map(Arc::new);
        self.conversation.session_mut().model = self.model_name();
    }

    pub(super) fn find_model(&self, name: &str) -> Option<ModelConfig> {
        let models = &self.settings.models;
        let by_name = models.iter().find(|model| model.name == name);
        by_name
            .or_else(|| models.iter().find(|model| model.model == name))
            .cloned()
    }

    pub(super) fn list_models(&mut self) {
        let models = self
            .settings
            .models
            .iter()
            .map(ModelConfig::reference)
            .collect();
        let selected = self.model.as_ref().map(|model| model.reference());
        self.cx
            .outbox
            .push(Event::ModelsListed { models, selected });
    }

    pub(super) fn select_model(&mut self, wanted: &ModelRef) {
        let Some(model) = self.find_reference(wanted) else {
            self.cx.notice(Notice::warning(format!(
                "There is no model `{}` any more.",
                wanted.name
            )));
            return;
        };
        for other in &mut self.settings.models {
            other.active = other.reference() == *wanted;
        }
        self.take_model(model);
        // A stand-in is in no file.
        if self.cx.options.stand_in.is_some() {
            return;
        }
        let (home, wanted) = (self.cx.home.clone(), wanted.clone());
        self.cx
            .save_config(move || config::set_active_model(&home, &wanted));
    }

    pub(super) fn find_reference(&self, wanted: &ModelRef) -> Option<ModelConfig> {
        let mut models = self.settings.models.iter();
        models.find(|model| model.reference() == *wanted).cloned()
    }

    /// Uses a model from the next turn on, without saving that anywhere.
    pub(super) fn take_model(&mut self, model: ModelConfig) {
        self.shelves.think = None;
        self.cx.outbox.push(Event::ThinkChanged(model.think));
        self.model = Some(Arc::new(model));
        let meter = self.context.reset();
        self.cx.outbox.push(Event::ContextMeasured(meter));
        self.cx.banners.remove(&BannerCause::UnknownModel);
        self.cx.banners.remove(&BannerCause::ActiveModel);
        self.cx.push_banners();
        self.list_models();
    }

    pub(super) fn set_tool_mode(&mut self, mode: ToolMode) {
        self.approval.mode = mode;
        self.settings.tool_mode = mode;
        self.feed(Input::ModeChanged(mode));
        self.cx.outbox.push(Event::ToolModeChanged(mode));
        let home = self.cx.home.clone();
        self.cx
            .save_config(move || config::set_tool_mode(&home, mode));
    }

    pub(super) fn toggle_server(&mut self, id: &ServerId) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        server.enabled = !server.enabled;
        let (home, id, enabled) = (self.cx.home.clone(), id.clone(), server.enabled);
        self.cx
            .save_config(move || config::set_server_enabled(&home, &id, enabled));
        self.configure_servers();
    }

    pub(super) fn toggle_tool(&mut self, id: &ServerId, tool: String) {
        let Some(server) = self.servers.iter_mut().find(|server| server.id == *id) else {
            return;
        };
        let on = server.tools_off.remove(&tool);
        if !on {
            server.tools_off.insert(tool.clone());
        }
        let (home, id) = (self.cx.home.clone(), id.clone());
        self.cx
            .save_config(move || config::set_tool_enabled(&home, &id, &tool, on));
        self.configure_servers();
    }

    pub(super) fn configure_servers(&mut self) {
        if self.cx.options.no_tools {
            return;
        }
        self.hub.configure(self.servers.clone());
        self.servers_changed();
        self.cx
            .outbox
            .push(Event::ServersListed(self.servers_now()));
    }
}

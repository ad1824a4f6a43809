//! The active settings: the contents of the files and the choices made since. `reload` applies
//! edits to the files, `personas` selects the persona, `prompt_templates` lists the templates,
//! `system_prompt` replaces an outdated prompt file, `awaited_vault` waits for a missing notes folder,
//! `notes_folder` chooses one.

mod awaited_vault;
pub(super) mod notes_folder;
mod personas;
pub(super) mod prompt_templates;
mod reload;
mod system_prompt;

use super::cx::EngineCx;
use super::deps::EngineOptions;
use crate::config::{ConfigSnapshot, Settings};
use crate::domain::{Persona, ServerConfig, ServerId, Trust};
use personas::Personas;
use reload::SettingsReload;
use std::sync::Arc;

pub(super) struct LiveSettings {
    /// The prompt of `system_prompt.txt`.
    file_prompt: Arc<str>,
    servers: Vec<ServerConfig>,
    personas: Personas,
    reload: SettingsReload,
}

impl LiveSettings {
    pub(super) fn new(files: ConfigSnapshot) -> Self {
        Self {
            file_prompt: files.system_prompt.into(),
            servers: files.servers,
            personas: Personas::new(files.personas),
            reload: SettingsReload::default(),
        }
    }

    pub(super) fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    pub(super) fn add_server(&mut self, server: ServerConfig) {
        if self.server_mut(&server.id).is_none() {
            self.servers.push(server);
        }
    }

    pub(super) fn server_mut(&mut self, id: &ServerId) -> Option<&mut ServerConfig> {
        self.servers.iter_mut().find(|server| server.id == *id)
    }

    pub(super) fn file_prompt(&self) -> &Arc<str> {
        &self.file_prompt
    }

    pub(super) fn personas(&self) -> &Personas {
        &self.personas
    }

    pub(super) fn personas_mut(&mut self) -> &mut Personas {
        &mut self.personas
    }

    pub(super) fn active_system_prompt(&self) -> Arc<str> {
        match self.personas.selected().map(|persona| &persona.text) {
            Some(Ok(text)) => text.as_str().into(),
            _ => Arc::clone(&self.file_prompt),
        }
    }

    pub(super) fn snapshot(&self, trust: &Arc<Trust>, cx: &EngineCx) -> ConfigSnapshot {
        ConfigSnapshot {
            settings: cx.settings.clone(),
            servers: self.servers.clone(),
            system_prompt: self.file_prompt.to_string(),
            personas: self.personas.listed().to_vec(),
            trust: Arc::clone(trust),
        }
    }

    /// Returns the previous settings. The caller passes the new ones on to the rest of the engine.
    pub(super) fn replace_values(
        &mut self,
        config: &ConfigSnapshot,
        cx: &mut EngineCx,
    ) -> Settings {
        self.reload.remember(config);
        std::mem::replace(&mut cx.settings, config.settings.clone())
    }

    /// Returns true if they changed.
    pub(super) fn replace_servers(&mut self, servers: Vec<ServerConfig>) -> bool {
        let has_changed = servers != self.servers;
        self.servers = servers;
        has_changed
    }

    pub(super) fn replace_prompts(
        &mut self,
        file_prompt: String,
        personas: Vec<Persona>,
        cx: &mut EngineCx,
    ) {
        if *file_prompt != *self.file_prompt {
            self.file_prompt = file_prompt.into();
        }
        if personas != self.personas.listed() {
            self.personas.replace(personas, cx);
        }
    }
}

/// Must be called before the settings are used.
pub(super) fn register_secrets(config: &ConfigSnapshot, cx: &EngineCx) {
    cx.secrets.add(config.settings.config_secrets());
    for server in &config.servers {
        cx.secrets.add(server.config_secrets());
    }
}

pub(super) fn apply_model_override(settings: &mut Settings, options: &EngineOptions) {
    if let Some(model) = &options.model_override {
        settings.models = vec![model.clone()];
        settings.has_model_entries = true;
    }
}

//! Applies changed settings to the owners that they concern.

use super::Actor;
use crate::config::{BUILT_IN_SERVER, ConfigLoad, ConfigSnapshot, TrustEdit};
use crate::domain::{BannerCause, Notice, SettingsChange, Toolset};
use crate::engine::jobs::SettingsResult;
use crate::engine::settings::notes_folder;
use crate::engine::turn::TurnInput;
use crate::protocol::{Event, UserChoice};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

impl Actor {
    pub(super) fn handle_settings_result(&mut self, result: SettingsResult) {
        let cx = &mut self.cx;
        match result {
            SettingsResult::Reread(load, templates, is_requested) => {
                self.settings.set_templates(templates, cx);
                self.handle_reread(*load, is_requested);
            }
            SettingsResult::NotReread => self.settings.handle_not_reread(cx),
            SettingsResult::PromptRead(result) => self.settings.handle_outdated_prompt(result, cx),
            SettingsResult::PromptReplaced(result) => {
                self.settings.handle_prompt_replaced(result, cx);
            }
            SettingsResult::NotesFolderChecked(result) => notes_folder::ask(result, cx),
            SettingsResult::NotesFolderSaved(result) => self.handle_notes_folder_saved(result),
        }
    }

    fn handle_reread(&mut self, mut load: ConfigLoad, is_requested: bool) {
        if self.trust.has_unsaved_decisions() {
            load.ignore_trust();
        }
        let (models, trust, cx) = (&self.models, self.trust.stored_trust(), &mut self.cx);
        let Some(mut files) = self
            .settings
            .review_files(load, is_requested, models, trust, cx)
        else {
            return;
        };
        if let Some(config) = files.to_apply.take() {
            self.apply_config(config);
        }
        let (trust, cx) = (self.trust.stored_trust(), &mut self.cx);
        let to_store = self.settings.finish_reload(files, trust, cx);
        self.store_edits_decision(to_store);
    }

    pub(super) fn handle_edits_answer(
        &mut self,
        edited: ConfigSnapshot,
        base: &ConfigSnapshot,
        changes: &[SettingsChange],
        choice: UserChoice,
    ) {
        let (trust, cx) = (self.trust.stored_trust(), &mut self.cx);
        let decision = self
            .settings
            .handle_edits_answer(edited, base, changes, choice, trust, cx);
        self.store_edits_decision(decision.to_store);
        let Some(config) = decision.to_apply else {
            // The file of the decisions no longer has the changes that were rejected in it.
            self.settings.read_files(false, &mut self.cx);
            return;
        };
        let first_model = self.models.first_of(&config.settings, &self.cx).cloned();
        self.apply_config(config);
        if let Some(model) = first_model {
            self.models.select_unsaved(model, &mut self.cx);
        }
        self.settings
            .report_changes_applied(changes.len(), &mut self.cx);
    }

    fn store_edits_decision(&mut self, edits: Vec<TrustEdit>) {
        if !edits.is_empty() {
            self.trust.write_trust(edits, &mut self.cx);
        }
    }

    fn handle_notes_folder_saved(&mut self, result: Result<PathBuf, Notice>) {
        match result {
            Err(notice) => self.cx.notice(notice),
            Ok(folder) => {
                // Applied directly, so that the change does not count as an external edit.
                let mut config = self.settings.snapshot(self.trust.stored_trust(), &self.cx);
                config.settings.notes.vault = Some(folder.clone());
                self.apply_config(config);
                self.cx.clear_banner(&BannerCause::UnusableVault);
                self.settings.read_files(false, &mut self.cx);
                self.report_notes_folder(folder);
            }
        }
    }

    fn apply_config(&mut self, config: ConfigSnapshot) {
        let previous = self.settings.replace_values(&config, &mut self.cx);
        let ConfigSnapshot {
            settings: _,
            servers,
            system_prompt,
            personas,
            trust,
        } = config;
        self.apply_log_level();
        self.configure_built_in_tools();
        if previous.notes.vault.is_some() != self.cx.settings.notes.vault.is_some() {
            // The note tools are offered only with a vault.
            self.hub.reconnect(&BUILT_IN_SERVER.into());
        }
        self.hub.set_roots(self.cx.settings.roots.clone());
        if previous.keys != self.cx.settings.keys {
            let keys = Arc::clone(&self.cx.settings.keys);
            self.cx.outbox.push(Event::KeysChanged(keys));
        }
        if previous.theme != self.cx.settings.theme {
            let themes = Arc::clone(&self.cx.settings.theme);
            self.cx.outbox.push(Event::ThemesChanged(themes));
        }
        if let Some(turn) = &mut self.turn {
            let seconds = self.cx.settings.limits.idle_seconds;
            turn.driver.set_idle_timeout(Duration::from_secs(seconds));
        }
        let mode = self.cx.settings.tool_mode;
        // The command line overrides the file.
        if previous.tool_mode != mode && self.cx.options.tool_mode.is_none() {
            self.trust.set_mode(mode);
            self.feed(TurnInput::ModeChanged(mode));
            self.cx.outbox.push(Event::ToolModeChanged(mode));
        }
        if previous.models != self.cx.settings.models {
            self.models
                .apply_settings_change(&previous.models, &mut self.cx);
        }
        if self.settings.replace_servers(servers) {
            self.configure_servers();
        }
        self.settings
            .replace_prompts(system_prompt, personas, &mut self.cx);
        if trust != *self.trust.stored_trust() {
            self.trust.replace_stored(trust);
            self.handle_trust_changed();
        }
    }

    pub(super) fn configure_built_in_tools(&self) {
        let settings = self.cx.settings.built_in_tools();
        self.built_in_server.configure(&settings);
    }

    /// The active system prompt with the approved server instructions, for the next turn.
    pub(super) fn current_system_prompt(&self) -> Arc<str> {
        let (offered, servers) = (self.current_toolset(), self.hub.servers());
        self.trust
            .with_instructions(self.settings.active_system_prompt(), &offered, &servers)
    }

    /// The tools of the next turn.
    pub(super) fn current_toolset(&self) -> Arc<Toolset> {
        match self.settings.personas().selected() {
            Some(persona) => Arc::new(self.toolset.for_persona(persona)),
            None => Arc::clone(&self.toolset),
        }
    }

    /// The tools of the running turn, whose persona may no longer be selected.
    pub(super) fn turn_toolset(&self) -> Arc<Toolset> {
        let persona = self.turn.as_ref().and_then(|turn| turn.persona.as_ref());
        match persona {
            Some(persona) => Arc::new(self.toolset.for_persona(persona)),
            None => Arc::clone(&self.toolset),
        }
    }

    pub(super) fn feed_toolset(&mut self) {
        let callable = self.tool_offer.callable(&self.turn_toolset());
        self.feed(TurnInput::ToolsetChanged(callable));
    }
}

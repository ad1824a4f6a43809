//! Decides which differences between the running configuration and the files apply at once.
//! A tool can write these files, so changes that could give it power or redirect a
//! conversation need the user's consent. Every field is destructured here, so a new field
//! does not compile until it is reviewed.

mod built_in;
mod consented_changes;
mod describe;
mod keys;
mod models;
mod notes;
mod roots;
mod servers;
#[cfg(test)]
mod tests;
mod trust;

use super::rejected_edits::{CONFIG, PROMPT, RejectedEntry, SERVERS};
use super::{ConfigSnapshot, Settings};
use crate::domain::model::Limits;
use crate::domain::theme::ThemeSettings;
use crate::domain::{
    ChangeImpact, LaunchConfig, ModelConfig, Persona, ServerId, SettingsChange, ToolMode,
};
pub use consented_changes::{apply_consented, grants_same_permissions};
use describe::differing_lines;
pub use models::{model_use_change, model_use_entry};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const TRUST: &str = "trust.json";

#[derive(Debug, Clone, PartialEq)]
pub struct SettingsReview {
    pub changes: Vec<SettingsChange>,
    /// The files and entries of the changes that need consent, without those of `trust.json`.
    pub entries: BTreeSet<(String, String)>,
    /// The configuration with only the harmless changes applied.
    pub with_harmless_changes: ConfigSnapshot,
}

impl SettingsReview {
    /// The changes with this impact, in the order of `changes`.
    pub fn changes_with_impact(&self, impact: ChangeImpact) -> Vec<SettingsChange> {
        self.changes
            .iter()
            .filter(|change| change.impact == impact)
            .cloned()
            .collect()
    }
}

/// Entries that were in use earlier in this run. An entry that is removed and added back with
/// other contents still looks like the same entry to the user.
#[derive(Debug, Clone, Default)]
pub struct EarlierEntries {
    models: Vec<ModelConfig>,
    launches: BTreeMap<ServerId, LaunchConfig>,
    /// The entries, by file, that the user rejected and that the files still contain.
    rejected: BTreeSet<(String, String)>,
}

impl EarlierEntries {
    pub fn set_rejected(&mut self, rejected: &[RejectedEntry]) {
        let names = rejected.iter();
        let names = names.map(|entry| (entry.file.clone(), entry.entry.clone()));
        self.rejected = names.collect();
    }

    fn is_rejected(&self, file: &str, entry: &str) -> bool {
        self.rejected.contains(&(file.to_owned(), entry.to_owned()))
    }

    pub fn record(&mut self, snapshot: &ConfigSnapshot) {
        for model in &snapshot.settings.models {
            self.models.retain(|old| old.name != model.name);
            self.models.push(model.clone());
        }
        for server in &snapshot.servers {
            // Keep the launch from before an entry broke: its repair is compared with that launch.
            if !matches!(server.launch, LaunchConfig::Misconfigured { .. }) {
                self.launches
                    .insert(server.id.clone(), server.launch.clone());
            }
        }
    }
}

/// Compares the running configuration `before` with the files' contents `after`.
pub fn review_changes(
    before: &ConfigSnapshot,
    after: &ConfigSnapshot,
    earlier: &EarlierEntries,
) -> SettingsReview {
    let mut reviewer = ChangeReviewer::default();
    let ConfigSnapshot {
        settings,
        servers,
        system_prompt,
        personas,
        trust,
    } = after;
    let harmless = ConfigSnapshot {
        settings: reviewer.review_settings(&before.settings, settings, earlier),
        servers: servers::review_servers(&mut reviewer, &before.servers, servers, earlier),
        system_prompt: reviewer.review_system_prompt(&before.system_prompt, system_prompt),
        personas: reviewer.review_personas(&before.personas, personas),
        trust: match Arc::ptr_eq(&before.trust, trust) {
            true => Arc::clone(trust),
            false => Arc::new(trust::review_trust(&mut reviewer, &before.trust, trust)),
        },
    };
    SettingsReview {
        changes: reviewer.changes,
        entries: reviewer.entries,
        with_harmless_changes: harmless,
    }
}

/// Collects changes. The value that a review method returns has only the harmless ones applied.
#[derive(Default)]
struct ChangeReviewer {
    changes: Vec<SettingsChange>,
    entries: BTreeSet<(String, String)>,
}

impl ChangeReviewer {
    fn add_harmless(&mut self, file: &str, what: impl Into<String>) {
        self.changes.push(SettingsChange::harmless(file, what));
    }

    /// Adds a change of this entry of this file, see [`RejectedEntry`].
    fn add_needing_consent(
        &mut self,
        (file, entry): (&str, &str),
        what: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) {
        if file != TRUST {
            self.entries.insert((file.to_owned(), entry.to_owned()));
        }
        let change = SettingsChange::needs_consent(file, what, before, after);
        self.changes.push(change);
    }

    /// Reviews a value that may change without consent.
    fn review_harmless<T: PartialEq + Copy>(
        &mut self,
        before: T,
        after: T,
        describe: impl FnOnce() -> String,
    ) -> T {
        if before != after {
            self.add_harmless(CONFIG, describe());
        }
        after
    }

    /// Reviews a limit: lowering it is harmless, raising it needs consent.
    fn review_limit(&mut self, name: &str, before: u32, after: u32) -> u32 {
        if after <= before {
            return self.review_harmless(before, after, || format!("{name} is now {after}"));
        }
        let [old, new] = [before, after].map(|value| Some(value.to_string()));
        self.add_needing_consent((CONFIG, "limits"), format!("`{name}`"), old, new);
        before
    }

    fn review_settings(
        &mut self,
        before: &Settings,
        after: &Settings,
        earlier: &EarlierEntries,
    ) -> Settings {
        let Settings {
            models,
            log_level,
            tool_mode,
            limits,
            tool_diet,
            keys,
            theme,
            built_in,
            notes,
            roots,
            // Read only when the program starts.
            ui,
            // Read only by commands.
            registry_url,
            // Follows from the models.
            has_model_entries,
        } = after;
        Settings {
            models: models::review_models(self, &before.models, models, earlier),
            log_level: self.review_harmless(before.log_level, *log_level, || {
                let level = log_level.as_str().to_lowercase();
                format!("logLevel is now {level}")
            }),
            tool_mode: self.review_tool_mode(before.tool_mode, *tool_mode),
            limits: self.review_limits(&before.limits, limits),
            tool_diet: self.review_harmless(before.tool_diet, *tool_diet, || {
                format!("toolDiet is now {tool_diet}")
            }),
            ui: *ui,
            theme: self.review_theme(&before.theme, theme),
            keys: self.review_keys(&before.keys, keys),
            built_in: self.review_built_in(&before.built_in, built_in),
            notes: self.review_notes(&before.notes, notes),
            roots: self.review_roots(&before.roots, roots),
            registry_url: registry_url.clone(),
            has_model_entries: *has_model_entries,
        }
    }

    fn review_theme(
        &mut self,
        before: &Arc<ThemeSettings>,
        after: &Arc<ThemeSettings>,
    ) -> Arc<ThemeSettings> {
        if before.choice != after.choice {
            self.add_harmless(CONFIG, format!("ui.theme is now {}", after.choice));
        } else if before != after {
            self.add_harmless("themes", "the theme files changed");
        }
        Arc::clone(after)
    }

    fn review_tool_mode(&mut self, before: ToolMode, after: ToolMode) -> ToolMode {
        if before == after || after == ToolMode::Manual {
            return self.review_harmless(before, after, || {
                format!("toolCallMode is now {}", after.name())
            });
        }
        let [old, new] = [before, after].map(|mode| Some(mode.name().to_owned()));
        self.add_needing_consent(
            (CONFIG, "toolCallMode"),
            "`toolCallMode`: tools would run without asking",
            old,
            new,
        );
        before
    }

    fn review_limits(&mut self, before: &Limits, after: &Limits) -> Limits {
        let Limits {
            tool_rounds,
            errors_per_turn,
            idle_seconds,
        } = after;
        let (rounds, errors) = ("limits.toolRounds", "limits.errorsPerTurn");
        Limits {
            tool_rounds: self.review_limit(rounds, before.tool_rounds, *tool_rounds),
            errors_per_turn: self.review_limit(errors, before.errors_per_turn, *errors_per_turn),
            idle_seconds: self.review_harmless(before.idle_seconds, *idle_seconds, || {
                format!("limits.idleSeconds is now {idle_seconds}")
            }),
        }
    }

    /// Any part of the prompt can steer the model, so every change needs consent.
    fn review_system_prompt(&mut self, before: &str, after: &str) -> String {
        if before != after {
            let (old, new) = differing_lines(before, after);
            self.add_needing_consent((PROMPT, ""), "the system prompt", old, new);
        }
        before.to_owned()
    }

    fn review_personas(&mut self, before: &[Persona], after: &[Persona]) -> Vec<Persona> {
        let names = before.iter().chain(after).map(|persona| &persona.name);
        let names: BTreeSet<&String> = names.collect();
        for name in names {
            let find = |personas: &[Persona]| {
                personas
                    .iter()
                    .find(|persona| persona.name == *name)
                    .cloned()
            };
            let (old, new) = (find(before), find(after));
            if old == new {
                continue;
            }
            let file = format!("personas/{name}.md");
            let what = match (&old, &new) {
                (None, _) => "a new persona",
                (_, None) => "the persona was removed",
                _ => "the persona",
            };
            let (old, new) = (
                old.as_ref().map(Persona::as_reviewed),
                new.as_ref().map(Persona::as_reviewed),
            );
            let (old, new) = match (&old, &new) {
                (Some(old), Some(new)) => differing_lines(old, new),
                _ => (old, new),
            };
            self.add_needing_consent((&file, ""), what, old, new);
        }
        before.to_vec()
    }
}

//! Reads `config.json` leniently: invalid parts become banners, and the rest is used.

mod limits;
mod ui;

use super::built_in::BuiltInSection;
use super::error::file_name;
use super::fields::{self, FieldError};
use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use super::models::ParsedModel;
use super::notes::NotesSection;
use super::rejected_edits::{CONFIG, RejectedEdits, rejected_banner};
use super::repeated_keys::repeated_keys_banner;
use super::ui_settings::UiSettings;
use super::unknown_keys::unknown_keys_banner;
use super::variables::{VariableLookup, environment_variable};
use super::{ConfigError, Home, Loaded, keys, models, registry_url, roots, themes};
use crate::domain::model::{Limits, ToolDiet};
use crate::domain::registry::PUBLIC_REGISTRY;
use crate::domain::theme::{ThemeFile, ThemeSettings};
use crate::domain::{
    Advice, Banner, BannerCause, ConfigSecrets, KeySettings, ModelConfig, Notice, ToolMode,
};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

const REST_IS_USED: &str = "Correct it in the file; the rest of the file is used.";

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The usable models in file order.
    pub models: Vec<ModelConfig>,
    pub log_level: tracing::Level,
    pub tool_mode: ToolMode,
    pub limits: Limits,
    pub tool_diet: ToolDiet,
    pub ui: UiSettings,
    /// The keys that the user changed.
    pub keys: Arc<KeySettings>,
    pub theme: Arc<ThemeSettings>,
    pub built_in: BuiltInSection,
    pub notes: NotesSection,
    /// The folders that MCP servers may ask for, as absolute paths.
    pub roots: Vec<PathBuf>,
    /// The registry that `humble mcp search` and `humble mcp add` use. `None` if the setting is
    /// invalid: another registry must not take its place.
    pub registry_url: Option<Url>,
    /// The file lists at least one model, usable or not.
    pub has_model_entries: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            log_level: tracing::Level::INFO,
            tool_mode: ToolMode::Manual,
            limits: Limits::default(),
            tool_diet: ToolDiet::default(),
            ui: UiSettings::default(),
            keys: Arc::default(),
            theme: Arc::default(),
            built_in: BuiltInSection::default(),
            notes: NotesSection::default(),
            roots: Vec::new(),
            registry_url: Url::parse(PUBLIC_REGISTRY).ok(),
            has_model_entries: false,
        }
    }
}

impl Settings {
    fn without_file(theme_files: Vec<ThemeFile>) -> Self {
        Self {
            theme: Arc::new(ThemeSettings {
                files: theme_files,
                ..ThemeSettings::default()
            }),
            ..Self::default()
        }
    }

    /// The active model. `None` if no model or several are marked active.
    pub fn active_model(&self) -> Option<&ModelConfig> {
        let mut active = self.models.iter().filter(|model| model.active);
        let first = active.next()?;
        active.next().is_none().then_some(first)
    }

    /// Finds a model by its configured name, or else by its name on the server.
    pub fn find_model(&self, name: &str) -> Option<&ModelConfig> {
        let by_name = self.models.iter().find(|model| model.name == name);
        by_name.or_else(|| self.models.iter().find(|model| model.model == name))
    }

    pub fn config_secrets(&self) -> ConfigSecrets {
        let BuiltInSection {
            geocoding_url,
            forecast_url,
            cat_fact_url,
            ollama_url,
            ollama_model: _,
            fetch_hosts: _,
        } = &self.built_in;
        let services = [geocoding_url, forecast_url, cat_fact_url];
        let services = services.into_iter().flatten().map(|url| url.as_str());
        let urls = services.chain(ollama_url.as_deref());
        let models = self.models.iter().map(ModelConfig::config_secrets);
        models
            .chain(urls.map(ConfigSecrets::from_url))
            .fold(ConfigSecrets::default(), ConfigSecrets::and)
    }
}

/// Reads `config.json`. A missing file is normal and means the defaults.
pub fn read_settings(home: &Home) -> Loaded<Settings> {
    read_settings_with(home, &environment_variable)
}

/// Like [`read_settings`], with the given environment variables.
pub fn read_settings_with(home: &Home, variables: VariableLookup<'_>) -> Loaded<Settings> {
    let document = JsonDocument::read(&home.config());
    parse_settings(home, document, variables, &RejectedEdits::read(home))
}

/// Parses the contents of `config.json` without the entries that the user rejected.
pub(super) fn parse_settings(
    home: &Home,
    document: Result<Option<JsonDocument>, ConfigError>,
    variables: VariableLookup<'_>,
    rejected: &RejectedEdits,
) -> Loaded<Settings> {
    let (theme_files, mut banners) = themes::read_themes(home);
    let mut reader = match document {
        Ok(Some(document)) => SettingsReader::new(document, banners, rejected),
        problem => {
            let problem = problem.err();
            banners.extend(problem.as_ref().map(ConfigError::banner));
            return Loaded {
                value: Settings::without_file(theme_files),
                banners,
                is_unusable: problem.is_some(),
            };
        }
    };
    let (models, has_model_entries) = reader.models(home, variables);
    let value = Settings {
        models,
        log_level: reader.log_level(),
        tool_mode: reader.tool_mode(),
        limits: reader.limits(),
        tool_diet: reader.tool_diet(),
        ui: reader.ui(),
        keys: reader.keys(),
        theme: Arc::new(reader.theme(theme_files)),
        built_in: reader.built_in(),
        notes: reader.notes(),
        roots: reader.roots(),
        registry_url: reader.registry_url(),
        has_model_entries,
    };
    reader.warn_about_several_active_models(&value);
    let rejected = rejected_banner(CONFIG, &reader.withheld);
    reader.banners.extend(rejected);
    let unknown_keys = unknown_keys_banner(&reader.document);
    reader.banners.extend(unknown_keys);
    let repeated_keys = repeated_keys_banner(&reader.document);
    reader.banners.extend(repeated_keys);
    Loaded {
        value,
        banners: reader.banners,
        is_unusable: false,
    }
}

struct SettingsReader<'a> {
    document: JsonDocument,
    banners: Vec<Banner>,
    rejected: &'a RejectedEdits,
    /// The rejected entries found so far.
    withheld: Vec<String>,
}

impl<'a> SettingsReader<'a> {
    fn new(mut document: JsonDocument, banners: Vec<Banner>, rejected: &'a RejectedEdits) -> Self {
        let withheld = rejected.withhold_from_config(&mut document);
        Self {
            document,
            banners,
            rejected,
            withheld,
        }
    }

    fn models(&mut self, home: &Home, variables: VariableLookup<'_>) -> (Vec<ModelConfig>, bool) {
        let entries = match fields::get(self.document.root(), "models") {
            None => return (Vec::new(), false),
            Some(Value::Array(entries)) => entries.clone(),
            Some(other) => {
                let problem = format!("`models` is {}, expected a list", type_description(other));
                self.warn_about_field("models", &[PathStep::Key("models")], &problem);
                return (Vec::new(), false);
            }
        };
        let mut models: Vec<ModelConfig> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(model) = self.rejected.rejected_model(entry) {
                self.withheld.push(model);
                continue;
            }
            let ParsedModel { model, errors } = parse_model_entry(entry, home, variables);
            if !errors.is_empty() {
                let advice = match (&model, &errors[..]) {
                    (None, _) => "Correct it in the file; until then this model is not used.",
                    (Some(_), [_]) => {
                        "Correct it in the file; the model is used without this field."
                    }
                    (Some(_), _) => {
                        "Correct it in the file; the model is used without these fields."
                    }
                };
                self.warn_about_model(index, entry, &errors, advice);
            }
            let Some(model) = model else {
                continue;
            };
            let is_duplicate = models
                .iter()
                .any(|other| other.reference() == model.reference());
            if is_duplicate {
                let problem = format!(
                    "another entry has the same name `{}`, provider and model; give one of them another `name`",
                    model.name
                );
                self.warn_about_model(index, entry, &[problem], REST_IS_USED);
            }
            models.push(model);
        }
        (models, !entries.is_empty())
    }

    fn warn_about_model(
        &mut self,
        index: usize,
        entry: &Value,
        errors: &[FieldError],
        advice: &'static str,
    ) {
        let name = ["name", "model"]
            .iter()
            .find_map(|key| entry.get(key)?.as_str())
            .map(|name| format!(" (`{name}`)"))
            .unwrap_or_default();
        let number = index + 1;
        let sentences: Vec<_> = errors
            .iter()
            .map(|error| fields::with_period(error))
            .collect();
        let message = format!("model {number}{name}: {}", sentences.join(" "));
        let steps = [PathStep::Key("models"), PathStep::Index(index)];
        self.warn(&format!("model {number}"), &steps, &message, advice);
    }

    fn log_level(&mut self) -> tracing::Level {
        let levels = ["debug", "info", "warn", "error"];
        match self.root_choice("logLevel", &levels) {
            Some("debug") => tracing::Level::DEBUG,
            Some("warn") => tracing::Level::WARN,
            Some("error") => tracing::Level::ERROR,
            _ => tracing::Level::INFO,
        }
    }

    fn tool_mode(&mut self) -> ToolMode {
        self.root_choice("toolCallMode", &["manual", "auto"])
            .and_then(ToolMode::from_name)
            .unwrap_or_default()
    }

    fn root_choice(&mut self, key: &str, choices: &[&'static str]) -> Option<&'static str> {
        let choice = fields::one_of(self.document.root(), key, choices);
        self.or_warn(&[PathStep::Key(key)], choice)
    }

    fn keys(&mut self) -> Arc<KeySettings> {
        let keys = keys::parse(&self.document);
        let keys = self.or_warn(&[PathStep::Key("keys")], keys);
        Arc::new(keys.unwrap_or_default())
    }

    fn built_in(&mut self) -> BuiltInSection {
        let table = fields::object(self.document.root(), "builtIn").map(|table| table.cloned());
        let Some(table) = self.or_warn(&[PathStep::Key("builtIn")], table) else {
            return BuiltInSection::default();
        };
        BuiltInSection::parse(&table, |key, error| {
            let steps = [PathStep::Key("builtIn"), PathStep::Key(key)];
            self.warn_about_field(&format!("builtIn.{key}"), &steps, &error);
        })
    }

    fn notes(&mut self) -> NotesSection {
        let table = fields::object(self.document.root(), "notes").map(|table| table.cloned());
        let Some(table) = self.or_warn(&[PathStep::Key("notes")], table) else {
            return NotesSection::default();
        };
        let notes = NotesSection::parse(&table, |key, error| {
            let steps = [PathStep::Key("notes"), PathStep::Key(key)];
            self.warn_about_field(&format!("notes.{key}"), &steps, &error);
        });
        // A folder that is missing now, such as one on a removable drive, may appear later.
        if let Some(notice) = notes.unusable_vault_notice() {
            self.banners
                .push(Banner::new(BannerCause::UnusableVault, notice));
        }
        notes
    }

    fn registry_url(&mut self) -> Option<Url> {
        let given = fields::non_empty_text(self.document.root(), "registryUrl")
            .and_then(|given| given.map(registry_url::parse).transpose());
        match given {
            Ok(given) => given.or_else(|| Settings::default().registry_url),
            Err(error) => {
                let steps = [PathStep::Key("registryUrl")];
                self.warn_about_field("registryUrl", &steps, &error);
                None
            }
        }
    }

    fn or_warn<T>(
        &mut self,
        steps: &[PathStep<'_>],
        field: Result<Option<T>, FieldError>,
    ) -> Option<T> {
        field.unwrap_or_else(|error| {
            let names = steps.iter().map(|step| match step {
                PathStep::Key(key) => (*key).to_owned(),
                PathStep::Index(index) => index.to_string(),
            });
            let subject = names.collect::<Vec<_>>().join(".");
            self.warn_about_field(&subject, steps, &error);
            None
        })
    }

    fn roots(&mut self) -> Vec<PathBuf> {
        let steps = [PathStep::Key("roots")];
        let given = self.or_warn(&steps, fields::text_list(self.document.root(), "roots"));
        let mut folders = Vec::new();
        for (index, folder) in given.unwrap_or_default().iter().enumerate() {
            match roots::parse_root(folder, &folders) {
                Ok(Some(folder)) => folders.push(folder),
                Ok(None) => {}
                Err(problem) => {
                    let steps = [PathStep::Key("roots"), PathStep::Index(index)];
                    self.warn_about_field("roots", &steps, &problem);
                }
            }
        }
        folders
    }

    fn warn_about_field(&mut self, subject: &str, steps: &[PathStep<'_>], problem: &str) {
        self.warn(subject, steps, &fields::with_period(problem), REST_IS_USED);
    }

    /// `message` is one or more sentences.
    fn warn(&mut self, subject: &str, steps: &[PathStep<'_>], message: &str, advice: &'static str) {
        let path = self.document.path();
        let line = self.document.line_of(steps);
        let message = format!("{}, line {line}: {message}", path.display());
        let notice = Notice::warning(message).with_advice(advice);
        let cause = BannerCause::setting(file_name(path), subject);
        self.banners.push(Banner::new(cause, notice));
    }

    fn warn_about_several_active_models(&mut self, settings: &Settings) {
        let active: Vec<_> = settings
            .models
            .iter()
            .filter(|model| model.active)
            .collect();
        if active.len() < 2 {
            return;
        }
        let names: Vec<_> = active
            .iter()
            .map(|model| format!("`{}` ({})", model.name, model.provider))
            .collect();
        let message = format!(
            "{} models are marked active: {}.",
            active.len(),
            names.join(", ")
        );
        let notice = Notice::warning(message)
            .with_reason("None is used until you choose one.")
            .with_advice(Advice::SelectModel);
        self.banners
            .push(Banner::new(BannerCause::SeveralActiveModels, notice));
    }
}

fn parse_model_entry(entry: &Value, home: &Home, variables: VariableLookup<'_>) -> ParsedModel {
    match entry {
        Value::Object(entry) => models::parse_model(entry, home.root(), variables),
        other => ParsedModel {
            model: None,
            errors: vec![format!(
                "it is {}, expected an object",
                type_description(other)
            )],
        },
    }
}

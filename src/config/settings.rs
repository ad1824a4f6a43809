//! Reads `config.json` leniently: invalid parts become banners, and the rest is used.

use super::error::file_name;
use super::fields::{self, Entry, Fault};
use super::json_document::{Document, kind};
use super::json_edit::Step;
use super::models::Understood;
use super::variables::{Variables, environment};
use super::{Home, Reading, models};
use crate::domain::model::{ApiKey, Limits, Secret};
use crate::domain::{Advice, Banner, BannerCause, ModelConfig, Notice, ToolMode, secrets};
use serde_json::Value;

const ALL_ELSE: &str = "Correct it in the file; the rest of the file is used.";

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The usable models in file order.
    pub models: Vec<ModelConfig>,
    pub log_level: tracing::Level,
    pub tool_mode: ToolMode,
    pub limits: Limits,
    /// The file lists at least one model, usable or not.
    pub lists_models: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            log_level: tracing::Level::INFO,
            tool_mode: ToolMode::Manual,
            limits: Limits::default(),
            lists_models: false,
        }
    }
}

impl Settings {
    /// The active model. None if several are marked active.
    pub fn active(&self) -> Option<&ModelConfig> {
        let mut active = self.models.iter().filter(|model| model.active);
        let first = active.next()?;
        active.next().is_none().then_some(first)
    }

    /// Finds a model by its name, else by its name on the server.
    pub fn find_model(&self, name: &str) -> Option<&ModelConfig> {
        let by_name = self.models.iter().find(|model| model.name == name);
        by_name.or_else(|| self.models.iter().find(|model| model.model == name))
    }

    /// All secret values in these settings, for log redaction.
    pub fn secrets(&self) -> Vec<Secret> {
        let keys = self.models.iter().filter_map(|model| match &model.api_key {
            ApiKey::Known(key) => Some(key.clone()),
            _ => None,
        });
        let in_urls = self
            .models
            .iter()
            .flat_map(|model| secrets::of_url(&model.base_url));
        keys.chain(in_urls).collect()
    }
}

/// Reads `config.json`. A missing file is normal and means the defaults.
pub fn read_settings(home: &Home) -> Reading<Settings> {
    read_settings_with(home, &environment)
}

/// Like [`read_settings`], with the given environment variables.
pub fn read_settings_with(home: &Home, variables: Variables<'_>) -> Reading<Settings> {
    let mut reader = match Document::read(&home.config()) {
        Ok(Some(document)) => Reader {
            document,
            banners: Vec::new(),
        },
        Ok(None) => return Reading::default(),
        Err(fault) => {
            return Reading {
                value: Settings::default(),
                banners: vec![fault.banner()],
                failed: true,
            };
        }
    };
    let (models, lists_models) = reader.models(home, variables);
    let value = Settings {
        models,
        log_level: reader.log_level(),
        tool_mode: reader.tool_mode(),
        limits: reader.limits(),
        lists_models,
    };
    reader.check_active(&value);
    Reading {
        value,
        banners: reader.banners,
        failed: false,
    }
}

struct Reader {
    document: Document,
    banners: Vec<Banner>,
}

impl Reader {
    fn models(&mut self, home: &Home, variables: Variables<'_>) -> (Vec<ModelConfig>, bool) {
        let entries = match fields::get(self.document.root(), "models") {
            None => return (Vec::new(), false),
            Some(Value::Array(entries)) => entries.clone(),
            Some(other) => {
                let fault = format!("`models` is {}, expected a list", kind(other));
                self.complain("models", &[Step::Key("models")], &fault);
                return (Vec::new(), false);
            }
        };
        let mut models: Vec<ModelConfig> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let Understood { model, faults } = model(entry, home, variables);
            if !faults.is_empty() {
                let advice = match (&model, &faults[..]) {
                    (None, _) => "Correct it in the file; until then this model is not used.",
                    (Some(_), [_]) => {
                        "Correct it in the file; the model is used without this field."
                    }
                    (Some(_), _) => {
                        "Correct it in the file; the model is used without these fields."
                    }
                };
                self.complain_of_model(index, entry, &faults, advice);
            }
            let Some(model) = model else {
                continue;
            };
            let is_duplicate = models
                .iter()
                .any(|other| other.reference() == model.reference());
            if is_duplicate {
                let fault = format!(
                    "another entry has the same name `{}`, provider and model; give one of them another `name`",
                    model.name
                );
                self.complain_of_model(index, entry, &[fault], ALL_ELSE);
            }
            models.push(model);
        }
        (models, !entries.is_empty())
    }

    fn complain_of_model(
        &mut self,
        index: usize,
        entry: &Value,
        faults: &[Fault],
        advice: &'static str,
    ) {
        let name = ["name", "model"]
            .iter()
            .find_map(|key| entry.get(key)?.as_str())
            .map(|name| format!(" (`{name}`)"))
            .unwrap_or_default();
        let number = index + 1;
        let faults: Vec<_> = faults.iter().map(|fault| fields::sentence(fault)).collect();
        let message = format!("model {number}{name}: {}", faults.join(" "));
        let steps = [Step::Key("models"), Step::Index(index)];
        self.warn(&format!("model {number}"), &steps, &message, advice);
    }

    fn log_level(&mut self) -> tracing::Level {
        let words = ["debug", "info", "warn", "error"];
        match self.root_word("logLevel", &words) {
            Some("debug") => tracing::Level::DEBUG,
            Some("warn") => tracing::Level::WARN,
            Some("error") => tracing::Level::ERROR,
            _ => tracing::Level::INFO,
        }
    }

    fn tool_mode(&mut self) -> ToolMode {
        self.root_word("toolCallMode", &["manual", "auto"])
            .and_then(ToolMode::from_name)
            .unwrap_or_default()
    }

    fn root_word(&mut self, key: &str, words: &[&'static str]) -> Option<&'static str> {
        let found = fields::one_of(self.document.root(), key, words);
        self.or_default(&[Step::Key(key)], found)
    }

    fn limits(&mut self) -> Limits {
        let default = Limits::default();
        let table = fields::table(self.document.root(), "limits").map(|table| table.cloned());
        let Some(table) = self.or_default(&[Step::Key("limits")], table) else {
            return default;
        };
        Limits {
            tool_rounds: self
                .limit(&table, "toolRounds")
                .unwrap_or(default.tool_rounds),
            errors_per_turn: self
                .limit(&table, "errorsPerTurn")
                .unwrap_or(default.errors_per_turn),
            idle_seconds: self
                .limit(&table, "idleSeconds")
                .map_or(default.idle_seconds, u64::from),
        }
    }

    fn limit(&mut self, table: &Entry, key: &str) -> Option<u32> {
        let found = fields::count(table, key);
        self.or_default(&[Step::Key("limits"), Step::Key(key)], found)
    }

    /// The value, or `None` after adding a banner about the error.
    fn or_default<T>(&mut self, steps: &[Step<'_>], found: Result<Option<T>, Fault>) -> Option<T> {
        found.unwrap_or_else(|fault| {
            let names = steps.iter().map(|step| match step {
                Step::Key(key) => (*key).to_owned(),
                Step::Index(index) => index.to_string(),
            });
            let about = names.collect::<Vec<_>>().join(".");
            self.complain(&about, steps, &fault);
            None
        })
    }

    fn complain(&mut self, about: &str, steps: &[Step<'_>], fault: &str) {
        self.warn(about, steps, &fields::sentence(fault), ALL_ELSE);
    }

    /// Adds a banner; `message` is one or more sentences.
    fn warn(&mut self, about: &str, steps: &[Step<'_>], message: &str, advice: &'static str) {
        let path = self.document.path();
        let line = self.document.line(steps);
        let message = format!("{}, line {line}: {message}", path.display());
        let notice = Notice::warning(message).advise(advice);
        let cause = BannerCause::setting(file_name(path), about);
        self.banners.push(Banner::new(cause, notice));
    }

    fn check_active(&mut self, settings: &Settings) {
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
            .because("None is used until you choose one.")
            .advise(Advice::SelectModel);
        self.banners
            .push(Banner::new(BannerCause::ActiveModel, notice));
    }
}

fn model(entry: &Value, home: &Home, variables: Variables<'_>) -> Understood {
    match entry {
        Value::Object(entry) => models::read(entry, home.root(), variables),
        other => Understood {
            model: None,
            faults: vec![format!("it is {}, expected an object", kind(other))],
        },
    }
}

//! Parses `builtIn` in `config.json`: the services of the built-in tools.

use super::Settings;
use super::fields::{self, ConfigObject, FieldError};
use super::models::normalize_base_url;
use crate::domain::model::ApiKey;
use crate::domain::{BuiltInSettings, FetchHost, ModelConfig, OllamaTarget, ProviderKind};
use serde_json::{Value, json};
use url::Url;

/// The values of `builtIn`; `None` for those missing or invalid.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BuiltInSection {
    pub geocoding_url: Option<Url>,
    pub forecast_url: Option<Url>,
    pub cat_fact_url: Option<Url>,
    /// Without a trailing slash.
    pub ollama_url: Option<String>,
    pub ollama_model: Option<String>,
    pub fetch_hosts: Vec<FetchHost>,
}

impl BuiltInSection {
    /// Calls `report` with the key and the error of each invalid value. The valid values
    /// are kept.
    pub(super) fn parse(
        section: &ConfigObject,
        mut report: impl FnMut(&'static str, FieldError),
    ) -> Self {
        let (fetch_hosts, errors) = fetch_hosts(section);
        let section = Self {
            geocoding_url: {
                let url = service_url(section, "geocodingUrl");
                or_report(url, "geocodingUrl", &mut report)
            },
            forecast_url: {
                let url = service_url(section, "forecastUrl");
                or_report(url, "forecastUrl", &mut report)
            },
            cat_fact_url: {
                let url = service_url(section, "catFactUrl");
                or_report(url, "catFactUrl", &mut report)
            },
            ollama_url: or_report(ollama_url(section), "ollamaUrl", &mut report),
            ollama_model: {
                let name = fields::non_empty_text(section, "ollamaModel");
                let name = or_report(name, "ollamaModel", &mut report);
                name.map(|name| name.trim().to_owned())
            },
            fetch_hosts,
        };
        for error in errors {
            report("fetchHosts", error);
        }
        section
    }
}

impl BuiltInSection {
    /// The section as it is written in the file.
    pub(super) fn to_json(&self) -> Value {
        let Self {
            geocoding_url,
            forecast_url,
            cat_fact_url,
            ollama_url,
            ollama_model,
            fetch_hosts,
        } = self;
        let hosts: Vec<String> = fetch_hosts.iter().map(ToString::to_string).collect();
        json!({
            "geocodingUrl": geocoding_url,
            "forecastUrl": forecast_url,
            "catFactUrl": cat_fact_url,
            "ollamaUrl": ollama_url,
            "ollamaModel": ollama_model,
            "fetchHosts": hosts,
        })
    }
}

fn or_report<T>(
    field: Result<Option<T>, FieldError>,
    name: &'static str,
    report: &mut impl FnMut(&'static str, FieldError),
) -> Option<T> {
    field.unwrap_or_else(|error| {
        report(name, error);
        None
    })
}

/// A complete URL without a query: the tool adds its own.
fn service_url(section: &ConfigObject, key: &str) -> Result<Option<Url>, FieldError> {
    let Some(given) = fields::non_empty_text(section, key)? else {
        return Ok(None);
    };
    let example = "expected a complete URL such as `https://example.com/v1/search`";
    let url = match Url::parse(given.trim()) {
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            return Err(format!("`{key}` has no scheme; {example}"));
        }
        parsed => parsed.map_err(|error| format!("`{key}` is not a URL: {error}; {example}"))?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme();
        return Err(format!(
            "`{key}` begins with `{scheme}:`, expected `http://` or `https://`"
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "`{key}` contains a `?` or `#`; it must end with the path, since the tool adds the query"
        ));
    }
    Ok(Some(url))
}

fn ollama_url(section: &ConfigObject) -> Result<Option<String>, FieldError> {
    let given = fields::non_empty_text(section, "ollamaUrl")?;
    let url = given.map(|url| normalize_base_url("ollamaUrl", url, ProviderKind::Ollama));
    url.transpose()
}

fn fetch_hosts(section: &ConfigObject) -> (Vec<FetchHost>, Vec<FieldError>) {
    let listed = match fields::text_list(section, "fetchHosts") {
        Ok(listed) => listed.unwrap_or_default(),
        Err(error) => return (Vec::new(), vec![error]),
    };
    let (mut hosts, mut errors) = (Vec::new(), Vec::new());
    for text in listed {
        match FetchHost::parse(&text) {
            Some(host) if hosts.contains(&host) => {}
            Some(host) => hosts.push(host),
            None => errors.push(format!(
                "`fetchHosts` contains `{}`, expected a host and port such as `192.168.1.5:8000`",
                fields::start_to_quote(&text)
            )),
        }
    }
    (hosts, errors)
}

impl Settings {
    /// The settings of the built-in tools. Values that `builtIn` omits have their defaults; the
    /// default Ollama model comes from `models`.
    pub fn built_in_tools(&self) -> BuiltInSettings {
        let section = &self.built_in;
        let default = BuiltInSettings::default();
        BuiltInSettings {
            geocoding_url: section
                .geocoding_url
                .clone()
                .unwrap_or(default.geocoding_url),
            forecast_url: section.forecast_url.clone().unwrap_or(default.forecast_url),
            cat_fact_url: section.cat_fact_url.clone().unwrap_or(default.cat_fact_url),
            ollama: self.ollama_target(),
            fetch_hosts: section.fetch_hosts.clone(),
            notes: self.notes(),
        }
    }

    pub(super) fn ollama_target(&self) -> OllamaTarget {
        let BuiltInSection {
            ollama_url,
            ollama_model,
            ..
        } = &self.built_in;
        let is_ollama = |model: &&ModelConfig| {
            let is_at_url = ollama_url.as_ref().is_none_or(|url| model.base_url == *url);
            model.provider == ProviderKind::Ollama && is_at_url
        };
        let active = self.active_model().filter(is_ollama);
        let entry = active.or_else(|| self.models.iter().find(is_ollama));
        let server = match (entry, ollama_url) {
            (Some(entry), _) => entry.clone(),
            (None, Some(url)) => plain_ollama(url.clone()),
            (None, None) if ollama_model.is_some() => default_ollama(),
            (None, None) => return OllamaTarget::Unconfigured,
        };
        match ollama_model {
            Some(name) => OllamaTarget::Model(Box::new(self.ollama_model(&server, name))),
            None if server.model.is_empty() => OllamaTarget::Server(Box::new(server)),
            None => OllamaTarget::Model(Box::new(server)),
        }
    }

    /// The entry for this model on the server, or else the server's entry with its model replaced.
    fn ollama_model(&self, server: &ModelConfig, name: &str) -> ModelConfig {
        let is_entry = |model: &&ModelConfig| {
            model.provider == ProviderKind::Ollama
                && model.base_url == server.base_url
                && (model.name == name || model.model == name)
        };
        match self.models.iter().find(is_entry) {
            Some(entry) => entry.clone(),
            None => server.with_model(name),
        }
    }
}

/// Ollama at its usual address on this machine, without a model.
pub(super) fn default_ollama() -> ModelConfig {
    plain_ollama(ProviderKind::Ollama.default_base_url().to_owned())
}

/// An Ollama server without a model. It gets no key from an entry of `models`.
fn plain_ollama(base_url: String) -> ModelConfig {
    ModelConfig {
        name: String::new(),
        model: String::new(),
        provider: ProviderKind::Ollama,
        base_url,
        api_key: ApiKey::NotNeeded,
        active: false,
        context_length: None,
        think: None,
        dialect: ProviderKind::Ollama.default_dialect(),
        tool_role: None,
        vision: None,
        keep_alive: None,
        options: serde_json::Map::new(),
        ca_file: None,
    }
}

//! New models: checked as if they were in `config.json`, and added to it without changing
//! any other byte. Also locates the model servers and the local Ollama.

use super::edits::edit_file;
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use super::variables::{VariableLookup, environment_variable};
use super::{ConfigError, Home, fields, models};
use crate::domain::{ModelConfig, ModelRef, NewModel, ProviderKind, ServerCatalog};
use serde_json::{Map, Value, json};
use url::{Host, Url};

const OLLAMA_PORT: u16 = 11434;

/// The configuration that a new model would have.
///
/// # Errors
/// What is wrong with it, as sentences.
pub fn parse_new_model(home: &Home, new: &NewModel) -> Result<ModelConfig, String> {
    let parsed = models::parse_model(&entry(new, false), home.root(), &environment_variable);
    let faults: Vec<String> = parsed
        .errors
        .iter()
        .map(|fault| fields::with_full_stop(fault))
        .collect();
    match parsed.model {
        Some(model) if faults.is_empty() => Ok(model),
        _ => Err(faults.join(" ")),
    }
}

/// Adds a model to `config.json` and makes it the active one.
///
/// # Errors
/// The file cannot be read, parsed or written, or already lists this model. The file is
/// unchanged then.
pub fn add_model(home: &Home, new: &NewModel) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let entries = match fields::get(document.root(), "models") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => entries.clone(),
            Some(_) => return Err(no_list(document)),
        };
        let wanted = ModelRef {
            name: new.name.clone(),
            provider: new.provider,
            model: new.model.clone(),
        };
        let is_there = entries.iter().any(|entry| {
            let entry = entry.as_object();
            entry
                .and_then(|entry| models::parse_reference(entry).ok())
                .as_ref()
                == Some(&wanted)
        });
        if is_there {
            return Err(ConfigError::DuplicateModel {
                path: document.path().to_owned(),
                name: new.name.clone(),
            });
        }
        for (index, other) in entries.iter().enumerate() {
            if other.get("active") == Some(&Value::Bool(true)) {
                let steps = [
                    PathStep::Key("models"),
                    PathStep::Index(index),
                    PathStep::Key("active"),
                ];
                document.set(&steps, &json!(false))?;
            }
        }
        let mut fresh = entry(new, true);
        let source = new.copy_from.as_ref().and_then(|source| {
            let mut objects = entries.iter().filter_map(Value::as_object);
            objects.find(|entry| models::parse_reference(entry).as_ref() == Ok(source))
        });
        for key in ["baseUrl", "apiKey", "caFile"] {
            if let Some(value) = source.and_then(|source| fields::get(source, key)) {
                fresh.insert(key.to_owned(), value.clone());
            }
        }
        let new = Value::from(fresh);
        // A null instead of the list is replaced by a list.
        if fields::get(document.root(), "models").is_none() {
            return document.set(&[PathStep::Key("models")], &json!([new]));
        }
        document.set(
            &[PathStep::Key("models"), PathStep::Index(entries.len())],
            &new,
        )
    })
}

fn no_list(document: &JsonDocument) -> ConfigError {
    ConfigError::WrongShape {
        path: document.path().to_owned(),
        line: document.line_of(&[PathStep::Key("models")]),
        fault: "`models` is not a list".to_owned(),
    }
}

/// The entry for the file, without default values.
fn entry(new: &NewModel, active: bool) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("name".into(), json!(new.name));
    if new.model != new.name {
        entry.insert("model".into(), json!(new.model));
    }
    entry.insert("provider".into(), json!(new.provider.name()));
    if let Some(url) = &new.base_url {
        entry.insert("baseUrl".into(), json!(url));
    }
    if let Some(key) = &new.api_key {
        entry.insert("apiKey".into(), json!(key.expose()));
    }
    if active {
        entry.insert("active".into(), json!(true));
    }
    entry
}

/// A model server, with a configuration to query it.
pub struct KnownServer {
    /// One of its models, preferably one with a usable key.
    pub config: ModelConfig,
    pub catalog: ServerCatalog,
}

impl KnownServer {
    fn new(config: ModelConfig, configured: Vec<ModelRef>) -> Self {
        Self {
            catalog: ServerCatalog::new(&config, configured),
            config,
        }
    }

    /// The local Ollama, which is not configured.
    pub fn local_ollama(home: &Home) -> Self {
        Self::new(local_ollama(home), Vec::new())
    }
}

/// The distinct servers of these models, in the order of the models.
pub fn model_servers(models: &[ModelConfig]) -> Vec<KnownServer> {
    let mut servers: Vec<KnownServer> = Vec::new();
    let listed = models
        .iter()
        .filter(|model| ProviderKind::ALL.contains(&model.provider));
    for model in listed {
        let server = model.server();
        match servers
            .iter_mut()
            .find(|known| known.catalog.server == server)
        {
            Some(known) => {
                known.catalog.configured.push(model.reference());
                if !known.config.api_key.is_usable() {
                    known.config = model.clone();
                }
            }
            None => servers.push(KnownServer::new(model.clone(), vec![model.reference()])),
        }
    }
    servers
}

/// The names of API key variables that are set.
pub fn key_variables() -> Vec<String> {
    let is_set =
        |name: &&str| environment_variable(name).is_some_and(|value| !value.trim().is_empty());
    let set = ProviderKind::key_variables().filter(is_set);
    set.map(str::to_owned).collect()
}

/// The first model on a server that can pull and remove models, else the local Ollama.
pub fn model_manager<'a>(
    home: &Home,
    candidates: impl IntoIterator<Item = &'a ModelConfig>,
) -> ModelConfig {
    let mut candidates = candidates.into_iter();
    let found = candidates.find(|model| model.provider.manages_models());
    found.cloned().unwrap_or_else(|| local_ollama(home))
}

/// The local Ollama, at the address in `OLLAMA_HOST` if set. The model is a placeholder.
pub fn local_ollama(home: &Home) -> ModelConfig {
    local_ollama_with(home, &environment_variable)
}

/// Like [`local_ollama`], with the given environment variables.
pub fn local_ollama_with(home: &Home, variables: VariableLookup<'_>) -> ModelConfig {
    let default = || ollama_at(home, None, variables);
    named_ollama(home, variables)
        .or_else(default)
        .expect("the default address is valid")
}

/// Whether `OLLAMA_HOST` is set but invalid. The default address is used then.
pub fn is_host_unread(home: &Home) -> bool {
    is_unread_with(home, &environment_variable)
}

fn is_unread_with(home: &Home, variables: VariableLookup<'_>) -> bool {
    let host = variables("OLLAMA_HOST").unwrap_or_default();
    !host.trim().is_empty() && named_ollama(home, variables).is_none()
}

fn named_ollama(home: &Home, variables: VariableLookup<'_>) -> Option<ModelConfig> {
    let url = ollama_url(&variables("OLLAMA_HOST")?)?;
    ollama_at(home, Some(url), variables)
}

fn ollama_at(
    home: &Home,
    url: Option<String>,
    variables: VariableLookup<'_>,
) -> Option<ModelConfig> {
    let new = NewModel {
        name: "ollama".to_owned(),
        model: "ollama".to_owned(),
        provider: ProviderKind::Ollama,
        base_url: url,
        api_key: None,
        copy_from: None,
    };
    models::parse_model(&entry(&new, false), home.root(), variables).model
}

/// Interprets `OLLAMA_HOST` like Ollama's own client: scheme and port are optional, and an
/// unspecified listen address means this machine. None if it is invalid.
fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim().trim_matches(['"', '\'']);
    if host.is_empty() {
        return None;
    }
    let (has_scheme, full) = match host.contains("://") {
        true => (true, host.to_owned()),
        false if host.starts_with(':') => (false, format!("http://127.0.0.1{host}")),
        false => (false, format!("http://{host}")),
    };
    let mut url = Url::parse(&full).ok()?;
    let is_unspecified = match url.host()? {
        Host::Ipv4(address) => address.is_unspecified(),
        Host::Ipv6(address) => address.is_unspecified(),
        Host::Domain(_) => false,
    };
    if is_unspecified {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    // The parser drops `:80` as the default port of http.
    let names_port = full.rsplit_once(':').is_some_and(|(_, port)| {
        let port = port.split('/').next().unwrap_or(port);
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !has_scheme && !names_port {
        url.set_port(Some(OLLAMA_PORT)).ok()?;
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_read_like_ollamas_own_client_does() {
        let cases = [
            ("", None),
            ("  ", None),
            ("127.0.0.1", Some("http://127.0.0.1:11434")),
            ("0.0.0.0", Some("http://127.0.0.1:11434")),
            ("0.0.0.0:5000", Some("http://127.0.0.1:5000")),
            ("[::]:5000", Some("http://127.0.0.1:5000")),
            ("[::1]", Some("http://[::1]:11434")),
            (":8080", Some("http://127.0.0.1:8080")),
            ("box.local", Some("http://box.local:11434")),
            ("http://box", Some("http://box")),
            ("https://box:443/ollama/", Some("https://box/ollama")),
            ("\"127.0.0.1:1\"", Some("http://127.0.0.1:1")),
            ("http://", None),
        ];
        for (given, expected) in cases {
            assert_eq!(ollama_url(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn an_invalid_ollama_host_falls_back_to_the_default_address() {
        let home = Home::at("/h");
        for given in ["ftp://x", "://", "\u{7f}"] {
            let found = local_ollama_with(&home, &|_| Some(given.to_owned()));
            assert_eq!(found.base_url, "http://localhost:11434", "{given}");
            let unread = is_unread_with(&home, &|_| Some(given.to_owned()));
            assert!(unread, "{given}");
        }
        for given in ["", " ", "127.0.0.1", ":8080"] {
            let unread = is_unread_with(&home, &|_| Some(given.to_owned()));
            assert!(!unread, "{given}");
        }
    }
}

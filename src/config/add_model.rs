//! New models: checked as if they were in `config.json`, and added to it; the only other edit
//! clears the previous model's `active` flag. Also locates the model servers and the local Ollama.

use super::edits::edit_file;
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use super::variables::{VariableLookup, environment_variable};
use super::{ConfigError, Home, fields, models};
use crate::domain::{
    HostScope, ModelConfig, ModelRef, NewModel, NewModelServer, ProviderKind, ServerCatalog,
};
use serde_json::{Map, Value, json};
use url::Url;

const OLLAMA_PORT: u16 = 11434;

/// The configuration that a new model would have.
///
/// # Errors
/// The problems with the model, as sentences.
pub fn parse_new_model(home: &Home, new: &NewModel) -> Result<ModelConfig, String> {
    let parsed = models::parse_model(
        &entry_to_json(new, false),
        home.root(),
        &environment_variable,
    );
    let errors: Vec<String> = parsed
        .errors
        .iter()
        .map(|error| fields::with_period(error))
        .collect();
    match parsed.model {
        Some(model) if errors.is_empty() => Ok(model),
        _ => Err(errors.join(" ")),
    }
}

/// A configuration for querying a server that has no entry yet. The model is a placeholder.
///
/// # Errors
/// The problems with the address, as sentences that call it `the address`: the user typed it into
/// a field, so the key `baseUrl` would mean nothing to them.
pub fn parse_new_server(home: &Home, server: &NewModelServer) -> Result<ModelConfig, String> {
    let label = server.provider.label().to_owned();
    let new = NewModel {
        name: label.clone(),
        model: label,
        provider: server.provider,
        base_url: server.base_url.clone(),
        api_key: server.api_key.clone(),
        copy_from: None,
    };
    parse_new_model(home, &new).map_err(|errors| errors.replace("`baseUrl`", "The address"))
}

/// Adds a model to `config.json` and makes it the active one. Its `toolCalls` stays unset, so the
/// provider's default applies.
///
/// # Errors
/// The file cannot be read, parsed or written, or already lists this model. In that case,
/// the file is unchanged.
pub fn add_model(home: &Home, new: &NewModel) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let entries = match fields::get(document.root(), "models") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => entries.clone(),
            Some(_) => return Err(models_not_a_list(document)),
        };
        let objects = || entries.iter().filter_map(Value::as_object);
        let mut new_entry = entry_to_json(new, true);
        let copied_entry = new.copy_from.as_ref().and_then(|source| {
            objects().find(|entry| models::parse_reference(entry).as_ref() == Ok(source))
        });
        for key in ["baseUrl", "apiKey", "caFile"] {
            if let Some(value) = copied_entry.and_then(|copied| fields::get(copied, key)) {
                new_entry.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(name) = listed_name(home, objects(), &new_entry) {
            let path = document.path().to_owned();
            return Err(ConfigError::DuplicateModel { path, name });
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
        let new_entry = Value::from(new_entry);
        // The list is missing or `null`.
        if fields::get(document.root(), "models").is_none() {
            return document.set(&[PathStep::Key("models")], &json!([new_entry]));
        }
        document.set(
            &[PathStep::Key("models"), PathStep::Index(entries.len())],
            &new_entry,
        )
    })
}

/// The name of the entry that is the same model as `new`: by its names, or under another name with
/// the same server and key.
fn listed_name<'a>(
    home: &Home,
    mut entries: impl Iterator<Item = &'a Map<String, Value>>,
    new: &Map<String, Value>,
) -> Option<String> {
    let parse = |entry: &Map<String, Value>| {
        models::parse_model(entry, home.root(), &environment_variable).model
    };
    let new_model = parse(new);
    let is_same_model = |entry: &Map<String, Value>| {
        let models = parse(entry).zip(new_model.as_ref());
        models.is_some_and(|(listed, new)| {
            listed.is_listed_as(&new.server(), &new.model) && listed.api_key == new.api_key
        })
    };
    let reference = models::parse_reference(new);
    let is_listed = |entry: &&Map<String, Value>| {
        let has_same_names = reference.is_ok() && models::parse_reference(entry) == reference;
        has_same_names || is_same_model(entry)
    };
    let listed = models::parse_reference(entries.find(is_listed)?).ok()?;
    Some(listed.name)
}

fn models_not_a_list(document: &JsonDocument) -> ConfigError {
    ConfigError::WrongShape {
        path: document.path().to_owned(),
        line: document.line_of(&[PathStep::Key("models")]),
        problem: "`models` is not a list".to_owned(),
    }
}

/// Without default values.
fn entry_to_json(new: &NewModel, is_active: bool) -> Map<String, Value> {
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
    if is_active {
        entry.insert("active".into(), json!(true));
    }
    entry
}

/// A model server, with a configuration for querying it.
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

    /// The local Ollama, when no configured model uses it.
    pub fn local_ollama(home: &Home) -> Self {
        Self::new(local_ollama(home), Vec::new())
    }
}

/// The distinct servers of these models, in the order of the models, without that of the demo.
pub fn model_servers(models: &[ModelConfig]) -> Vec<KnownServer> {
    let mut servers: Vec<KnownServer> = Vec::new();
    let supported = models
        .iter()
        .filter(|model| ProviderKind::ALL.contains(&model.provider));
    for model in supported {
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
    ProviderKind::key_variables()
        .filter(is_set)
        .map(str::to_owned)
        .collect()
}

/// The first model on a server that can pull and remove models, or else the local Ollama.
pub fn server_for_pulls<'a>(
    home: &Home,
    candidates: impl IntoIterator<Item = &'a ModelConfig>,
) -> ModelConfig {
    let mut candidates = candidates.into_iter();
    let managed = candidates.find(|model| model.provider.manages_models());
    managed.cloned().unwrap_or_else(|| local_ollama(home))
}

/// The local Ollama, at the address in `OLLAMA_HOST` if that is valid. The model is a placeholder.
pub fn local_ollama(home: &Home) -> ModelConfig {
    local_ollama_with(home, &environment_variable)
}

/// Like [`local_ollama`], with the given environment variables.
pub fn local_ollama_with(home: &Home, variables: VariableLookup<'_>) -> ModelConfig {
    let default_ollama = || ollama_at(home, None, variables);
    ollama_from_variable(home, variables)
        .or_else(default_ollama)
        .expect("the default address is valid")
}

/// Whether `OLLAMA_HOST` is set but invalid, so that the default address is used.
pub fn is_ollama_host_invalid(home: &Home) -> bool {
    is_ollama_host_invalid_with(home, &environment_variable)
}

fn is_ollama_host_invalid_with(home: &Home, variables: VariableLookup<'_>) -> bool {
    let host = variables("OLLAMA_HOST").unwrap_or_default();
    !host.trim().is_empty() && ollama_from_variable(home, variables).is_none()
}

fn ollama_from_variable(home: &Home, variables: VariableLookup<'_>) -> Option<ModelConfig> {
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
    models::parse_model(&entry_to_json(&new, false), home.root(), variables).model
}

/// Interprets `OLLAMA_HOST` like Ollama's own client: scheme and port are optional, and an
/// unspecified listen address means this machine. `None` if it is invalid.
fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim().trim_matches(['"', '\'']);
    if host.is_empty() {
        return None;
    }
    let (has_scheme, with_scheme) = match host.contains("://") {
        true => (true, host.to_owned()),
        false if host.starts_with(':') => (false, format!("http://127.0.0.1{host}")),
        false => (false, format!("http://{host}")),
    };
    let mut url = Url::parse(&with_scheme).ok()?;
    url.host()?;
    if HostScope::of_url(&url) == Some(HostScope::Unspecified) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    // The parser drops `:80` as the default port of http.
    let has_port = with_scheme.rsplit_once(':').is_some_and(|(_, port)| {
        let port = port.split('/').next().unwrap_or(port);
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !has_scheme && !has_port {
        url.set_port(Some(OLLAMA_PORT)).ok()?;
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_parsed_as_in_ollamas_own_client() {
        let cases = [
            ("", None),
            ("  ", None),
            ("127.0.0.1", Some("http://127.0.0.1:11434")),
            ("0.0.0.0", Some("http://127.0.0.1:11434")),
            ("0.0.0.0:5000", Some("http://127.0.0.1:5000")),
            ("[::]:5000", Some("http://127.0.0.1:5000")),
            ("[::ffff:0.0.0.0]", Some("http://127.0.0.1:11434")),
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
            let model = local_ollama_with(&home, &|_| Some(given.to_owned()));
            assert_eq!(model.base_url, "http://localhost:11434", "{given}");
            let is_invalid = is_ollama_host_invalid_with(&home, &|_| Some(given.to_owned()));
            assert!(is_invalid, "{given}");
        }
        for given in ["", " ", "127.0.0.1", ":8080"] {
            let is_invalid = is_ollama_host_invalid_with(&home, &|_| Some(given.to_owned()));
            assert!(!is_invalid, "{given}");
        }
    }
}

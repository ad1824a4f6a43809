//! The catalog of models: every known server with what it lists, and the changes a user makes
//! to it (adding and pulling a model).

use super::model::Secret;
use super::model_info::ModelList;
use super::{ModelConfig, ModelRef, Notice, ProviderKind};
use serde::Serialize;
use std::sync::Arc;
use url::Url;

/// A server of models, as a user tells it from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ModelServer {
    pub provider: ProviderKind,
    /// The base URL without credentials.
    pub url: String,
}

impl ModelServer {
    /// Host and port, for a name beside others: `192.168.0.7:11434`.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.url).ok();
        let host = url.as_ref().and_then(|url| {
            let host = url.host_str()?;
            Some(match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            })
        });
        host.unwrap_or_else(|| self.url.clone())
    }
}

/// One server, the models that are configured for it, and the models it lists.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerCatalog {
    pub server: ModelServer,
    /// Entries of `config.json`; none if the server was only found.
    pub configured: Vec<ModelRef>,
    pub state: CatalogState,
}

impl ServerCatalog {
    /// The server of `model`, before it was asked what it has.
    pub fn new(model: &ModelConfig, configured: Vec<ModelRef>) -> Self {
        Self {
            server: model.server(),
            configured,
            state: CatalogState::Asking,
        }
    }

    /// None until the server has answered.
    pub fn listed(&self) -> Option<&ModelList> {
        match &self.state {
            CatalogState::Listed(catalogue) => Some(catalogue),
            CatalogState::Asking | CatalogState::Failed(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum CatalogState {
    Asking,
    Listed(Arc<ModelList>),
    Failed(Notice),
}

/// All models that can be chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelCatalog {
    pub servers: Vec<ServerCatalog>,
    /// The names (never the values) of the variables with keys that are set.
    pub key_variables: Vec<String>,
    /// `OLLAMA_HOST` is not a usable address; the default address is used instead.
    pub is_host_unread: bool,
    /// No model is configured yet: the first screen offers those that were found.
    pub offers: bool,
}

/// A model that a server is downloading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pull {
    pub server: ModelServer,
    pub name: String,
    /// What the server is doing, in its own words.
    pub status: String,
    /// Bytes of all layers named so far.
    pub done: u64,
    pub total: u64,
}

impl Pull {
    /// Between 0 and 1; None while the size is unknown.
    pub fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.done as f64 / self.total as f64).min(1.0))
    }
}

/// What is wrong with the name of a model to pull, if anything.
pub fn no_name(name: &str) -> Option<Notice> {
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if !name.is_empty() && !name.contains(is_odd) {
        return None;
    }
    let why = match name.is_empty() {
        true => "It is empty.",
        false => "It has a space or a control character in it.",
    };
    let shown: String = name.escape_debug().take(80).collect();
    let notice = Notice::warning(format!("`{shown}` is no name of a model.")).with_reason(why);
    Some(notice.with_advice("A name is like qwen3:4b; ollama.com/library lists them."))
}

/// A model that the user adds to `config.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModel {
    pub name: String,
    pub model: String,
    pub provider: ProviderKind,
    /// None means the provider's default.
    pub base_url: Option<String>,
    /// A key, or `${NAME}`.
    pub api_key: Option<Secret>,
    /// Address, key and certificate are copied from this entry of `config.json`.
    pub like: Option<ModelRef>,
}

/// A size in words: `2.6 GB`.
pub fn size_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit / 10 * 9);
    match unit {
        Some((unit, "GB")) => format!("{:.1} GB", bytes as f64 / unit as f64),
        Some((unit, name)) => format!("{:.0} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_the_unit_that_fits() {
        let cases = [
            (0, "0 B"),
            (899, "899 B"),
            (45_960_996, "46 MB"),
            (899_999_999, "900 MB"),
            (950_000_000, "0.9 GB"),
            (2_497_293_931, "2.5 GB"),
            (142_000_000_000, "142.0 GB"),
        ];
        for (bytes, words) in cases {
            assert_eq!(size_words(bytes), words, "{bytes}");
        }
    }

    #[test]
    fn a_server_is_named_by_host_and_port() {
        let host = |url: &str| {
            let provider = ProviderKind::Ollama;
            let url = url.to_owned();
            ModelServer { provider, url }.host()
        };
        assert_eq!(host("http://192.168.0.7:11434/x"), "192.168.0.7:11434");
        assert_eq!(host("https://api.openai.com/v1"), "api.openai.com");
        assert_eq!(host("what"), "what");
    }
}

//! The catalog of every known model server and its models, and types for adding and pulling
//! models.

use super::model::Secret;
use super::model_info::{ModelList, is_same_model};
use super::{ModelConfig, ModelRef, Notice, ProviderKind};
use serde::Serialize;
use std::sync::Arc;
use url::Url;

/// The identity of a model server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ModelServer {
    pub provider: ProviderKind,
    /// The base URL without credentials.
    pub url: String,
}

impl ModelServer {
    /// Host and port as a short name: `192.168.0.7:11434`.
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

/// One server, its configured models, and the models it lists.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerCatalog {
    pub server: ModelServer,
    /// Entries of `config.json`; empty if the server was only discovered.
    pub configured: Vec<ModelRef>,
    pub state: CatalogState,
}

impl ServerCatalog {
    /// The catalog of `model`'s server before the first query.
    pub fn new(model: &ModelConfig, configured: Vec<ModelRef>) -> Self {
        Self {
            server: model.server(),
            configured,
            state: CatalogState::Loading,
        }
    }

    /// The models listed by the server; `None` while loading and after a failure.
    pub fn listed(&self) -> Option<&ModelList> {
        match &self.state {
            CatalogState::Listed(list) => Some(list),
            CatalogState::Loading | CatalogState::Failed(_) => None,
        }
    }
}

impl ModelCatalog {
    /// The first server that lists a model of this name.
    pub fn server_with(&self, name: &str) -> Option<&ModelServer> {
        let has_model = |server: &&ServerCatalog| {
            let mut listed = server.listed().into_iter().flat_map(|list| &list.models);
            listed.any(|model| is_same_model(&model.name, name))
        };
        let server = self.servers.iter().find(has_model)?;
        Some(&server.server)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum CatalogState {
    Loading,
    Listed(Arc<ModelList>),
    Failed(Notice),
}

/// The models of all known servers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelCatalog {
    pub servers: Vec<ServerCatalog>,
    /// The names (never the values) of the API key variables that are set.
    pub key_variables: Vec<String>,
    /// `OLLAMA_HOST` is invalid, so the default address is used instead.
    pub is_ollama_host_invalid: bool,
    /// No model is configured yet; the first screen offers the discovered ones.
    pub offers_discovered: bool,
}

/// A download in progress on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pull {
    pub server: ModelServer,
    pub name: String,
    /// The current step, as worded by the server.
    pub status: String,
    /// Bytes downloaded.
    pub done: u64,
    /// Bytes of all layers announced so far.
    pub total: u64,
}

impl Pull {
    /// Between 0 and 1; `None` while the size is unknown.
    pub fn fraction(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.done as f64 / self.total as f64).min(1.0))
    }
}

/// A notice if `name` cannot be the name of a model to pull.
pub fn invalid_name_notice(name: &str) -> Option<Notice> {
    let is_invalid = |c: char| c.is_whitespace() || c.is_control();
    if !name.is_empty() && !name.contains(is_invalid) {
        return None;
    }
    let why = match name.is_empty() {
        true => "It is empty.",
        false => "It contains a space or a control character.",
    };
    let escaped_name: String = name.escape_debug().take(80).collect();
    let notice = Notice::warning(format!("`{escaped_name}` is not a model name.")).with_reason(why);
    Some(notice.with_advice("Use a name such as qwen3:4b; ollama.com/library lists them."))
}

/// A model to be added to `config.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModel {
    pub name: String,
    pub model: String,
    pub provider: ProviderKind,
    /// `None` means the provider's default.
    pub base_url: Option<String>,
    /// A key, or `${NAME}` for an environment variable.
    pub api_key: Option<Secret>,
    /// Copy the address, key and certificate from this entry of `config.json`.
    pub copy_from: Option<ModelRef>,
}

/// A model server that is not configured yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModelServer {
    pub provider: ProviderKind,
    /// `None` means the provider's default.
    pub base_url: Option<String>,
    /// A key, or `${NAME}` for an environment variable.
    pub api_key: Option<Secret>,
}

/// The part of a [`NewModelServer`] that the user has to correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewServerField {
    Address,
    Key,
}

/// Why a [`NewModelServer`] did not list its models. The notice does not mention `config.json`,
/// because the server is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewServerError {
    pub field: NewServerField,
    pub notice: Notice,
}

/// A notice if the server lists models, but not `name`. An empty or truncated list does not show
/// that the model is missing.
pub fn unlisted_model_notice(list: &ModelList, name: &str) -> Option<Notice> {
    let names = list.models.iter().map(|listed| listed.name.as_str());
    let is_listed = names.clone().any(|listed| is_same_model(listed, name));
    if list.models.is_empty() || list.is_truncated || is_listed {
        return None;
    }
    let shown: Vec<&str> = names.take(8).collect();
    let more = match list.models.len() - shown.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let notice = Notice::failure(format!("The server lists no model `{name}`."));
    Some(notice.with_reason(format!("It lists: {}{more}.", shown.join(", "))))
}

/// Formats a size for display, such as `2.6 GB`.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS.into_iter().find(|(size, _)| bytes >= *size / 10 * 9);
    match unit {
        Some((size, "GB")) => format!("{:.1} GB", bytes as f64 / size as f64),
        Some((size, name)) => format!("{:.0} {name}", bytes as f64 / size as f64),
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
        for (bytes, text) in cases {
            assert_eq!(format_size(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn a_model_server_is_named_by_host_and_port() {
        let host = |url: &str| {
            let provider = ProviderKind::Ollama;
            let url = url.to_owned();
            ModelServer { provider, url }.host()
        };
        assert_eq!(host("http://192.168.0.7:11434/x"), "192.168.0.7:11434");
        assert_eq!(host("https://api.openai.com/v1"), "api.openai.com");
        assert_eq!(host("not a URL"), "not a URL");
    }
}

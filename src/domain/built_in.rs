//! Settings of the built-in tools.

use super::{ModelConfig, NotesSettings};
use url::Url;

/// Can reach any web page, so it is off until the user switches it on.
pub const FETCH_TOOL: &str = "fetch_page";
/// The names of the built-in tools, in the order in which they are listed.
pub const BUILT_IN_TOOLS: [&str; 9] = [
    "get_time",
    "get_weather",
    "ollama_chat",
    "say_hello",
    "get_cat_fact",
    FETCH_TOOL,
    "create_note",
    "search_notes",
    "summarize_notes",
];

/// The `builtIn` and `notes` sections of `config.json`, with defaults filled in. The URLs are complete
/// up to the query.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltInSettings {
    /// The service that finds places by name.
    pub geocoding_url: Url,
    pub forecast_url: Url,
    pub cat_fact_url: Url,
    pub ollama: OllamaTarget,
    /// Hosts that `fetch_page` may reach even if their addresses are not public.
    pub fetch_hosts: Vec<FetchHost>,
    pub notes: NotesSettings,
}

impl Default for BuiltInSettings {
    fn default() -> Self {
        let url = |text| Url::parse(text).expect("a valid URL");
        Self {
            geocoding_url: url("https://geocoding-api.open-meteo.com/v1/search"),
            forecast_url: url("https://api.open-meteo.com/v1/forecast"),
            cat_fact_url: url("https://catfact.ninja/fact"),
            ollama: OllamaTarget::Unconfigured,
            fetch_hosts: Vec::new(),
            notes: NotesSettings::default(),
        }
    }
}

/// The model that `ollama_chat` uses.
#[derive(Debug, Clone, PartialEq)]
pub enum OllamaTarget {
    Model(Box<ModelConfig>),
    /// A server without a model: each call must name one. The name of this configuration is empty.
    Server(Box<ModelConfig>),
    Unconfigured,
}

/// A host and port, such as `192.168.1.5:8000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchHost {
    /// As in a URL: lowercase, and an IPv6 address in brackets.
    pub host: String,
    pub port: u16,
}

impl FetchHost {
    /// Parses `host:port`. Addresses are normalized as in URLs.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.trim().rsplit_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| is_port && *port != 0)?;
        let host = url::Host::parse(host).ok()?;
        let host = host.to_string();
        Some(Self { host, port })
    }

    /// Whether a URL points to this host and port.
    pub fn matches(&self, url: &Url) -> bool {
        url.host_str() == Some(self.host.as_str()) && url.port_or_known_default() == Some(self.port)
    }
}

impl std::fmt::Display for FetchHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_host_matches_every_spelling_of_its_address_but_only_its_port() {
        let matches = |host: &str, url: &str| {
            let host = FetchHost::parse(host).expect(host);
            host.matches(&Url::parse(url).expect(url))
        };
        assert!(matches("192.168.1.5:8000", "http://192.168.1.5:8000/a"));
        assert!(matches("127.1:80", "http://0x7f.0.0.1/"));
        assert!(matches("[::1]:443", "https://[0:0::1]/"));
        assert!(matches("NAS.local:5000", "http://nas.LOCAL:5000/"));
        assert!(!matches("192.168.1.5:8000", "http://192.168.1.5/"));
        assert!(!matches("192.168.1.5:8000", "http://192.168.1.50:8000/"));
        assert!(!matches("nas.local:80", "http://a.nas.local/"));
    }

    #[test]
    fn malformed_fetch_hosts_are_rejected() {
        for text in [
            "",
            "nas",
            "nas:",
            "nas:0",
            "nas:+80",
            "nas:70000",
            "a b:80",
            "http://nas:80",
            ":80",
            "::1:80",
        ] {
            assert_eq!(FetchHost::parse(text), None, "{text}");
        }
    }
}

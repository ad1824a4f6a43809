//! The `builtIn` section: addresses of the built-in tools' services.

use super::*;
use humble::domain::{BuiltInSettings, OllamaTarget};

fn built_in(section: &Value) -> ConfigFixture {
    with_config(json!({ "builtIn": section }).to_string())
}

fn tools(fixture: &ConfigFixture) -> BuiltInSettings {
    fixture.settings().built_in_tools()
}

#[test]
fn without_settings_the_public_services_are_used() {
    let tools = tools(&config_fixture());
    assert_eq!(tools, BuiltInSettings::default());
    let urls = [
        &tools.geocoding_url,
        &tools.forecast_url,
        &tools.cat_fact_url,
    ];
    let expected = [
        "https://geocoding-api.open-meteo.com/v1/search",
        "https://api.open-meteo.com/v1/forecast",
        "https://catfact.ninja/fact",
    ];
    assert_eq!(urls.map(|url| url.as_str()), expected);
    assert_eq!(tools.ollama, OllamaTarget::Unconfigured);
}

#[test]
fn addresses_and_hosts_are_read_and_an_address_without_a_scheme_is_reported() {
    let fixture = built_in(&json!({
        "geocodingUrl": " http://localhost:9/search ",
        "forecastUrl": "https://weather.example/a/b",
        "catFactUrl": "http://[::1]:8/fact/",
        "ollamaUrl": "gpu.example:11434",
        "fetchHosts": ["192.168.1.5:8000", "NAS.local:80", "192.168.1.5:8000"],
    }));
    let problem = "config.json, line 1: `ollamaUrl` has no scheme; start it with `https://` or \
        `http://`. Correct it in the file; the rest of the file is used.";
    assert_eq!(
        fixture.banners(),
        [(
            "config.json: builtIn.ollamaUrl".to_owned(),
            problem.to_owned()
        )]
    );
    let tools = tools(&fixture);
    let urls = [
        &tools.geocoding_url,
        &tools.forecast_url,
        &tools.cat_fact_url,
    ];
    let expected = [
        "http://localhost:9/search",
        "https://weather.example/a/b",
        "http://[::1]:8/fact/",
    ];
    assert_eq!(urls.map(|url| url.as_str()), expected);
    let hosts: Vec<String> = tools.fetch_hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["192.168.1.5:8000", "nas.local:80"]);
}

#[test]
fn invalid_built_in_settings_are_reported_and_the_defaults_are_used() {
    let cases = [
        (
            json!({ "geocodingUrl": 7 }),
            "geocodingUrl",
            "`geocodingUrl` is 7, expected a string.",
        ),
        (
            json!({ "forecastUrl": "" }),
            "forecastUrl",
            "`forecastUrl` is empty.",
        ),
        (
            json!({ "forecastUrl": "api.open-meteo.com/v1" }),
            "forecastUrl",
            "`forecastUrl` has no scheme; expected a complete URL such as `https://example.com/v1/search`.",
        ),
        (
            json!({ "forecastUrl": "ftp://x.example/" }),
            "forecastUrl",
            "`forecastUrl` begins with `ftp:`, expected `http://` or `https://`.",
        ),
        (
            json!({ "catFactUrl": "https://x.example/fact?max_length=9" }),
            "catFactUrl",
            "`catFactUrl` contains a `?` or `#`; it must end with the path, since the tool adds the query.",
        ),
        (
            json!({ "ollamaModel": " " }),
            "ollamaModel",
            "`ollamaModel` is empty.",
        ),
        (
            json!({ "fetchHosts": "a:1" }),
            "fetchHosts",
            "`fetchHosts` is a string, expected a list of strings.",
        ),
        (
            json!({ "fetchHosts": ["http://192.168.1.5"] }),
            "fetchHosts",
            "`fetchHosts` contains `http://192.168.1.5`, expected a host and port such as `192.168.1.5:8000`.",
        ),
    ];
    for (section, key, problem) in cases {
        let fixture = built_in(&section);
        let text = format!(
            "config.json, line 1: {problem} Correct it in the file; the rest of the file is used."
        );
        assert_eq!(
            fixture.banners(),
            [(format!("config.json: builtIn.{key}"), text)]
        );
        assert_eq!(tools(&fixture), BuiltInSettings::default());
    }
    let fixture = with_config(r#"{ "builtIn": [] }"#);
    assert!(
        fixture.banners()[0]
            .1
            .contains("`builtIn` is a list, expected an object.")
    );
}

#[test]
fn passwords_in_addresses_of_services_are_secrets() {
    let fixture = built_in(&json!({ "forecastUrl": "https://me:swordfish9@weather.example/v1" }));
    let secrets = fixture.settings().config_secrets().into_credentials();
    assert!(secrets.iter().any(|secret| secret.expose() == "swordfish9"));
}

/// The address and model that `ollama_chat` uses; the model is empty if each call names one.
fn ollama(config: &Value) -> Option<(String, String)> {
    let fixture = with_config(config.to_string());
    assert_eq!(fixture.banners(), []);
    match tools(&fixture).ollama {
        OllamaTarget::Model(model) => Some((model.base_url, model.model)),
        OllamaTarget::Server(model) => {
            assert_eq!(model.model, "");
            Some((model.base_url, String::new()))
        }
        OllamaTarget::Unconfigured => None,
    }
}

#[test]
fn ollama_defaults_to_the_active_or_first_entry() {
    let hosted = json!({ "name": "h", "provider": "openai", "apiKey": "k" });
    let one = json!({ "name": "one", "provider": "ollama" });
    let two = json!({ "name": "2", "model": "two", "provider": "ollama", "baseUrl": "http://b:1" });
    let mut active = two.clone();
    active["active"] = json!(true);
    let target = |url: &str, model: &str| Some((url.to_owned(), model.to_owned()));
    let local = "http://localhost:11434";
    assert_eq!(ollama(&json!({ "models": [hosted] })), None);
    assert_eq!(
        ollama(&json!({ "models": [hosted, one, two] })),
        target(local, "one")
    );
    assert_eq!(
        ollama(&json!({ "models": [one, active] })),
        target("http://b:1", "two")
    );
    for (built_in, expected) in [
        (json!({ "ollamaModel": "m" }), target(local, "m")),
        (
            json!({ "ollamaUrl": "http://b:1/" }),
            target("http://b:1", "two"),
        ),
        (
            json!({ "ollamaUrl": "http://c:1/api/chat" }),
            target("http://c:1", ""),
        ),
        (
            json!({ "ollamaUrl": "http://c:1", "ollamaModel": "m" }),
            target("http://c:1", "m"),
        ),
    ] {
        let config = json!({ "models": [one, two], "builtIn": built_in });
        assert_eq!(ollama(&config), expected, "{config}");
    }
    let only_model = json!({ "builtIn": { "ollamaModel": "m" } });
    assert_eq!(ollama(&only_model), target(local, "m"));
}

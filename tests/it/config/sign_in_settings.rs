//! The sign-in settings of a server: how they are read, and why some are refused.

use super::*;
use humble::domain::LaunchConfig;
use humble::domain::model::Secret;
use humble::domain::server::OAuthSettings;

fn with_settings(settings: &Value) -> ServerConfig {
    let mut entry = json!({ "url": "https://docs.example/mcp" });
    for (key, value) in settings.as_object().expect("an object") {
        entry[key] = value.clone();
    }
    with_servers(json!({ "mcpServers": { "docs": entry } }).to_string()).server("docs")
}

#[test]
fn all_settings_are_read_and_the_secret_is_known_for_redaction() {
    let server = with_settings(&json!({ "clientId": "me", "clientSecret": "literal-secret",
        "callbackPort": 9000, "scopes": ["read"], "issuer": "https://as.example",
        "clientMetadataUrl": "https://me.example/client.json",
        "grantType": "client_credentials" }));
    let expected = OAuthSettings {
        client_id: Some("me".to_owned()),
        client_secret: Some(Secret::new("literal-secret")),
        private_key: None,
        client_metadata_url: Some("https://me.example/client.json".to_owned()),
        issuer: Some("https://as.example".to_owned()),
        callback_port: Some(9000),
        scopes: vec!["read".to_owned()],
        uses_client_credentials: true,
    };
    assert_eq!(server.oauth, expected);
    let secrets = server.config_secrets().into_credentials();
    assert!(secrets.contains(&Secret::new("literal-secret")));
}

#[test]
fn sign_in_settings_that_cannot_work_are_explained() {
    for (settings, expected) in [
        (
            json!({ "callbackPort": 70_000 }),
            "`callbackPort` must be at most 65535",
        ),
        (json!({ "clientSecret": "x" }), "need a `clientId`"),
        (
            json!({ "grantType": "client_credentials", "clientId": "me" }),
            "which needs `clientId`",
        ),
        (
            json!({ "clientMetadataUrl": "http://me.example/x" }),
            "must be an `https://` URL",
        ),
        (json!({ "scopes": ["a b"] }), "without spaces"),
    ] {
        match with_settings(&settings).launch {
            LaunchConfig::Misconfigured { why } => assert!(why.contains(expected), "{why}"),
            other => panic!("{settings} was accepted: {other:?}"),
        }
    }
}

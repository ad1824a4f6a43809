//! The sign-in settings of a remote server in `mcp-servers.json`.

use super::fields::{self, ConfigObject, FieldError};
use super::servers::expand;
use super::variables::VariableLookup;
use crate::domain::LaunchConfig;
use crate::domain::model::Secret;
use crate::domain::server::OAuthSettings;
use url::Url;

const SCOPES_MAX: usize = 100;

/// The settings of a server without a URL have no effect.
pub(super) fn parse_oauth(
    entry: &ConfigObject,
    launch: &LaunchConfig,
    variables: VariableLookup<'_>,
) -> Result<OAuthSettings, FieldError> {
    if !matches!(launch, LaunchConfig::Remote { .. }) {
        return Ok(OAuthSettings::default());
    }
    let grant = fields::one_of(
        entry,
        "grantType",
        &["authorization_code", "client_credentials"],
    )?;
    let settings = OAuthSettings {
        client_id: expanded(entry, "clientId", variables)?,
        client_secret: secret(entry, "clientSecret", variables)?,
        private_key: secret(entry, "privateKey", variables)?,
        client_metadata_url: expanded(entry, "clientMetadataUrl", variables)?
            .map(check_https)
            .transpose()?,
        issuer: expanded(entry, "issuer", variables)?,
        callback_port: callback_port(entry)?,
        scopes: scopes(entry)?,
        uses_client_credentials: grant == Some("client_credentials"),
    };
    let has_secret = settings.client_secret.is_some() || settings.private_key.is_some();
    if settings.client_id.is_none() && has_secret {
        return Err("`clientSecret` and `privateKey` need a `clientId`".to_owned());
    }
    if settings.uses_client_credentials && !has_secret {
        let why = "`grantType` is `client_credentials`, which needs `clientId` and `clientSecret` or `privateKey`";
        return Err(why.to_owned());
    }
    Ok(settings)
}

fn expanded(
    entry: &ConfigObject,
    key: &str,
    variables: VariableLookup<'_>,
) -> Result<Option<String>, FieldError> {
    match fields::non_empty_text(entry, key)? {
        Some(text) => expand(text, key, variables).map(Some),
        None => Ok(None),
    }
}

fn secret(
    entry: &ConfigObject,
    key: &str,
    variables: VariableLookup<'_>,
) -> Result<Option<Secret>, FieldError> {
    Ok(expanded(entry, key, variables)?.map(Secret::new))
}

/// The id of a client metadata document must be an https URL with a path.
fn check_https(text: String) -> Result<String, FieldError> {
    let is_valid =
        Url::parse(&text).is_ok_and(|url| url.scheme() == "https" && url.path().len() > 1);
    match is_valid {
        true => Ok(text),
        false => Err("`clientMetadataUrl` must be an `https://` URL with a path".to_owned()),
    }
}

fn callback_port(entry: &ConfigObject) -> Result<Option<u16>, FieldError> {
    match fields::count(entry, "callbackPort")?.map(u16::try_from) {
        None => Ok(None),
        Some(Ok(port)) => Ok(Some(port)),
        Some(Err(_)) => Err("`callbackPort` must be at most 65535".to_owned()),
    }
}

fn scopes(entry: &ConfigObject) -> Result<Vec<String>, FieldError> {
    let scopes = fields::text_list(entry, "scopes")?.unwrap_or_default();
    let is_valid = |scope: &String| {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        !scope.is_empty() && scope.bytes().all(is_allowed)
    };
    if scopes.len() > SCOPES_MAX || !scopes.iter().all(is_valid) {
        return Err(
            "`scopes` must list at most 100 scopes, each without spaces or quotes".to_owned(),
        );
    }
    Ok(scopes)
}

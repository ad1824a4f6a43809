//! Makes this program a client of an authorization server: with the client id in the settings of
//! the MCP server, a client metadata document, or dynamic registration (RFC 7591).

use super::client_auth::{ClientIdentity, TokenAuthMethod};
use super::credential_file::{CredentialFile, RegisteredClient};
use super::discovery::Discovered;
use super::error::OAuthError;
use super::http::OAuthHttp;
use super::metadata::AuthorizationServer;
use crate::domain::model::Secret;
use crate::domain::server::OAuthSettings;
use serde_json::{Value, json};
use url::Url;

const CLIENT_NAME: &str = "humble";
/// Longer client ids are rejected, and longer secrets are ignored.
const VALUE_BYTES_MAX: usize = 4 << 10;

/// Finds or registers the client identity for a sign-in that ends with a redirect to one of
/// `redirect_uris`.
///
/// # Errors
/// No client id is known and the server does not let programs register, the registration fails, or
/// the credential file cannot be read or written.
pub async fn client_identity(
    http: &OAuthHttp,
    file: &CredentialFile,
    settings: &OAuthSettings,
    discovered: &Discovered,
    redirect_uris: &[Url],
) -> Result<ClientIdentity, OAuthError> {
    let server = &discovered.server;
    if let Some(identity) = configured_identity(settings, server) {
        return Ok(identity);
    }
    if let Some(document) = settings
        .client_metadata_url
        .as_ref()
        .filter(|_| server.supports_metadata_url)
    {
        return Ok(ClientIdentity {
            id: document.clone(),
            secret: None,
            method: TokenAuthMethod::PublicClient,
        });
    }
    let stored = file.registration(&server.issuer).await?;
    if let Some(client) = stored.filter(|client| client.is_valid_for(redirect_uris)) {
        return Ok(client.identity());
    }
    let client = match register(http, server, redirect_uris).await {
        // The endpoints were only assumed, so there is no authorization server at all.
        Err(_) if !discovered.has_metadata => return Err(OAuthError::NoAuthorizationServer),
        registered => registered?,
    };
    file.save_registration(&server.issuer, client.clone())
        .await?;
    Ok(client.identity())
}

/// The identity configured in the server's entry.
pub fn configured_identity(
    settings: &OAuthSettings,
    server: &AuthorizationServer,
) -> Option<ClientIdentity> {
    let id = settings.client_id.clone()?;
    let (secret, method) = match (&settings.private_key, &settings.client_secret) {
        (Some(key), _) => (Some(key.clone()), TokenAuthMethod::PrivateKey),
        (None, Some(secret)) => (Some(secret.clone()), TokenAuthMethod::choose(server, true)),
        (None, None) => (None, TokenAuthMethod::PublicClient),
    };
    Some(ClientIdentity { id, secret, method })
}

async fn register(
    http: &OAuthHttp,
    server: &AuthorizationServer,
    redirect_uris: &[Url],
) -> Result<RegisteredClient, OAuthError> {
    let endpoint = server.registration_endpoint.as_ref();
    let endpoint = endpoint.ok_or(OAuthError::NoRegistration)?;
    let method = TokenAuthMethod::to_register(server);
    let body = json!({
        "client_name": CLIENT_NAME,
        "application_type": "native",
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    let answer = http.post_json(endpoint, &body).await?;
    if !answer.is_success() {
        return Err(super::token_request::refusal(
            endpoint,
            &answer,
            &http.secrets,
        ));
    }
    let invalid = |why: &str| OAuthError::InvalidDocument {
        url: super::addresses::display_url(endpoint),
        why: why.to_owned(),
    };
    let is_usable = |text: &&str| !text.is_empty() && text.len() <= VALUE_BYTES_MAX;
    let id = answer.text("client_id").filter(is_usable);
    let id = id.ok_or_else(|| invalid("`client_id` is missing"))?;
    // Some servers send an empty secret to public clients.
    let secret = answer.text("client_secret").filter(is_usable);
    let granted = answer.text("token_endpoint_auth_method");
    let expires_at = answer
        .json
        .as_ref()
        .and_then(|json| json.get("client_secret_expires_at"))
        .and_then(Value::as_i64)
        // Zero means never.
        .filter(|seconds| *seconds > 0);
    Ok(RegisteredClient {
        client_id: id.to_owned(),
        client_secret: secret.map(Secret::new),
        method: TokenAuthMethod::granted(granted, server, secret.is_some()),
        redirect_uris: redirect_uris.iter().map(Url::to_string).collect(),
        secret_expires_at: expires_at,
    })
}

//! Finds the authorization server of an MCP server. Falls back to what older revisions allow: no
//! protected resource metadata, and no metadata at all.

use super::challenge::BearerChallenge;
use super::error::OAuthError;
use super::http::OAuthHttp;
use super::metadata::{
    AuthorizationServer, ProtectedResource, issuer_metadata_urls, origin, resource_identifier,
    resource_metadata_urls,
};
use serde_json::Value;
use url::Url;

/// Where to sign in, and for what.
pub struct Discovered {
    pub server: AuthorizationServer,
    /// The value of the `resource` parameter.
    pub resource: String,
    /// All scopes of the resource.
    pub resource_scopes: Vec<String>,
    /// Whether the server has metadata; otherwise its endpoints are only assumed.
    pub has_metadata: bool,
}

/// Finds the authorization server of the MCP server at `server_url`.
///
/// # Errors
/// There is no usable authorization server, or a document must not be trusted.
pub async fn discover(
    http: &OAuthHttp,
    server_url: &Url,
    challenge: Option<&BearerChallenge>,
) -> Result<Discovered, OAuthError> {
    let Some(resource) = find_resource(http, server_url, challenge).await? else {
        return discover_without_resource(http, server_url).await;
    };
    let mut last_error = OAuthError::NoAuthorizationServer;
    for issuer in &resource.authorization_servers {
        match find_authorization_server(http, issuer).await {
            Ok(Some(server)) => {
                return Ok(Discovered {
                    server,
                    resource: resource.resource,
                    resource_scopes: resource.scopes,
                    has_metadata: true,
                });
            }
            Ok(None) => {}
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

async fn find_resource(
    http: &OAuthHttp,
    server_url: &Url,
    challenge: Option<&BearerChallenge>,
) -> Result<Option<ProtectedResource>, OAuthError> {
    let named = challenge.and_then(|challenge| challenge.resource_metadata.as_deref());
    let named = named.and_then(|named| server_url.join(named).ok());
    if let Some(url) = &named {
        // The server names this document, so an error matters.
        if let Some(document) = fetch(http, url).await? {
            return ProtectedResource::parse(&document, server_url).map(Some);
        }
    }
    for url in resource_metadata_urls(server_url) {
        if Some(&url) == named.as_ref() {
            continue;
        }
        if let Some(document) = fetch(http, &url).await?
            && document.get("authorization_servers").is_some()
        {
            return ProtectedResource::parse(&document, server_url).map(Some);
        }
    }
    Ok(None)
}

/// The metadata of an issuer; `None` if there is none.
async fn find_authorization_server(
    http: &OAuthHttp,
    issuer: &Url,
) -> Result<Option<AuthorizationServer>, OAuthError> {
    for url in issuer_metadata_urls(issuer) {
        if let Some(document) = fetch(http, &url).await? {
            return AuthorizationServer::parse(&document, issuer, &url, http.policy).map(Some);
        }
    }
    Ok(None)
}

/// The 2025-03-26 revision: the server is its own authorization server.
async fn discover_without_resource(
    http: &OAuthHttp,
    server_url: &Url,
) -> Result<Discovered, OAuthError> {
    let origin = origin(server_url).ok_or(OAuthError::NoAuthorizationServer)?;
    http.policy.check(&origin)?;
    let found = find_authorization_server(http, &origin).await?;
    let has_metadata = found.is_some();
    let server = found.or_else(|| AuthorizationServer::without_metadata(server_url));
    Ok(Discovered {
        server: server.ok_or(OAuthError::NoAuthorizationServer)?,
        has_metadata,
        resource: resource_identifier(server_url),
        resource_scopes: Vec::new(),
    })
}

/// A JSON object, or `None` if the server has no such document.
async fn fetch(http: &OAuthHttp, url: &Url) -> Result<Option<Value>, OAuthError> {
    let answer = http.get(url).await?;
    let document = answer.json.filter(|json| json.is_object());
    // Some servers answer every unknown path with status 200 and a page.
    Ok(document.filter(|_| answer.status == 200))
}

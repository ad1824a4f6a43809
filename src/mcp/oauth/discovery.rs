//! Finds the authorization server of an MCP server. Older revisions allow a server without
//! protected resource metadata, or without any metadata.

use super::addresses::display_url;
use super::challenge::BearerChallenge;
use super::error::OAuthError;
use super::http::OAuthHttp;
use super::metadata::{
    AuthorizationServer, ProtectedResource, issuer_metadata_urls, origin, resource_identifier,
    resource_metadata_urls,
};
use serde_json::Value;
use url::Url;

/// Where to sign in, and the resource to request access to.
pub struct Discovered {
    pub server: AuthorizationServer,
    /// The value of the `resource` parameter.
    pub resource: String,
    pub resource_scopes: Vec<String>,
    /// Whether the authorization server has metadata. If not, its endpoints are only assumed.
    pub has_metadata: bool,
}

/// Finds the authorization server of the MCP server at `server_url`.
///
/// # Errors
/// There is no usable authorization server, or a document could not be read or must not be trusted.
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
    let mut named_error = None;
    if let Some(url) = &named {
        // The server names this document, so its error is reported if no other document is found.
        match fetch(http, url).await? {
            Fetched::Document(document) => {
                return ProtectedResource::parse(&document, server_url).map(Some);
            }
            Fetched::Unusable(error) => named_error = Some(error),
            Fetched::Missing => {}
        }
    }
    for url in resource_metadata_urls(server_url) {
        if Some(&url) == named.as_ref() {
            continue;
        }
        if let Fetched::Document(document) = fetch(http, &url).await?
            && document.get("authorization_servers").is_some()
        {
            return ProtectedResource::parse(&document, server_url).map(Some);
        }
    }
    named_error.map_or(Ok(None), Err)
}

/// The metadata of an issuer; `None` if there is none.
///
/// # Errors
/// There was no complete answer, or it is not metadata or must not be trusted.
async fn find_authorization_server(
    http: &OAuthHttp,
    issuer: &Url,
) -> Result<Option<AuthorizationServer>, OAuthError> {
    let mut unusable = None;
    for url in issuer_metadata_urls(issuer) {
        match fetch(http, &url).await? {
            Fetched::Document(document) => {
                return AuthorizationServer::parse(&document, issuer, &url, http.policy).map(Some);
            }
            // Report the error of the first URL, which is the one in the current specification.
            Fetched::Unusable(error) => unusable = unusable.or(Some(error)),
            Fetched::Missing => {}
        }
    }
    unusable.map_or(Ok(None), Err)
}

/// The 2025-03-26 revision: the server is its own authorization server.
async fn discover_without_resource(
    http: &OAuthHttp,
    server_url: &Url,
) -> Result<Discovered, OAuthError> {
    let origin = origin(server_url).ok_or(OAuthError::NoAuthorizationServer)?;
    http.policy.check(&origin)?;
    let found = match find_authorization_server(http, &origin).await {
        // Nothing announces this document, and some servers answer every unknown path with a page.
        Err(OAuthError::NoMetadata { .. }) => None,
        found => found?,
    };
    let has_metadata = found.is_some();
    let server = found.or_else(|| AuthorizationServer::without_metadata(server_url));
    Ok(Discovered {
        server: server.ok_or(OAuthError::NoAuthorizationServer)?,
        has_metadata,
        resource: resource_identifier(server_url),
        resource_scopes: Vec::new(),
    })
}

enum Fetched {
    /// A JSON object.
    Document(Value),
    Missing,
    /// Something else, with the error that describes it.
    Unusable(OAuthError),
}

async fn fetch(http: &OAuthHttp, url: &Url) -> Result<Fetched, OAuthError> {
    let answer = http.get(url).await?;
    let received = match (answer.status, answer.json) {
        (200, Some(document)) if document.is_object() => return Ok(Fetched::Document(document)),
        (200, Some(_)) => "JSON that is not an object".to_owned(),
        (200, None) => answer.body_kind,
        (status @ 500.., _) => format!("HTTP status {status}"),
        _ => return Ok(Fetched::Missing),
    };
    let url = display_url(url);
    Ok(Fetched::Unusable(OAuthError::NoMetadata { url, received }))
}

//! The two metadata documents of a sign-in, parsed and checked. Pure.

use super::addresses::{AddressPolicy, display_text, display_url};
use super::challenge::split_scopes;
use super::error::OAuthError;
use serde_json::Value;
use url::Url;

/// Further authorization servers of a document are ignored.
const AUTHORIZATION_SERVERS_MAX: usize = 5;

/// The metadata of an MCP server (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    /// The value for the `resource` parameter (RFC 8707), as the server writes it, or else the
    /// server's URL.
    pub resource: String,
    pub authorization_servers: Vec<Url>,
    pub scopes: Vec<String>,
}

/// The metadata of an authorization server (RFC 8414 or OpenID Connect Discovery).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationServer {
    /// Exactly as the server writes it: the `iss` of a callback is compared byte for byte.
    pub issuer: String,
    pub authorization_endpoint: Option<Url>,
    pub token_endpoint: Url,
    pub registration_endpoint: Option<Url>,
    pub revocation_endpoint: Option<Url>,
    pub scopes: Vec<String>,
    /// `None` if the document does not list them.
    pub token_auth_methods: Option<Vec<String>>,
    /// Whether each callback must contain `iss` (RFC 9207).
    pub sends_issuer: bool,
    /// Whether the URL of a client metadata document can serve as the client id.
    pub supports_metadata_url: bool,
    /// Whether PKCE with S256 is supported, which we require.
    pub supports_s256: bool,
}

impl ProtectedResource {
    /// Parses the metadata of the server at `server_url`.
    ///
    /// # Errors
    /// The document is for a different server.
    pub fn parse(document: &Value, server_url: &Url) -> Result<Self, OAuthError> {
        let resource = match document.get("resource").and_then(Value::as_str) {
            Some(resource) if covers(resource, server_url) => resource.to_owned(),
            Some(other) => {
                let named = display_text(other);
                return Err(OAuthError::ResourceMismatch { named });
            }
            None => resource_identifier(server_url),
        };
        Ok(Self {
            resource,
            authorization_servers: texts(document, "authorization_servers")
                .unwrap_or_default()
                .iter()
                .filter_map(|text| Url::parse(text).ok())
                .take(AUTHORIZATION_SERVERS_MAX)
                .collect(),
            scopes: scopes(document),
        })
    }
}

/// The URL of a server as a resource identifier: without fragment, and without the slash that URL
/// parsing adds to an origin.
pub fn resource_identifier(server_url: &Url) -> String {
    let mut url = server_url.clone();
    url.set_fragment(None);
    let text = url.as_str();
    match url.path() {
        "/" if url.query().is_none() => text.trim_end_matches('/').to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a resource identifier is the server's URL or a path above it.
fn covers(resource: &str, server_url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let path = resource.path().trim_end_matches('/');
    let is_above = match server_url.path().strip_prefix(path) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    };
    resource.origin() == server_url.origin()
        && resource.fragment().is_none()
        && is_above
        && (resource.query().is_none() || resource.query() == server_url.query())
}

impl AuthorizationServer {
    /// Parses the metadata of `issuer`, which was fetched from `source`.
    ///
    /// # Errors
    /// The document names no issuer or a different one, lacks a token endpoint, or names a URL that
    /// is not allowed.
    pub fn parse(
        document: &Value,
        issuer: &Url,
        source: &Url,
        policy: AddressPolicy,
    ) -> Result<Self, OAuthError> {
        let invalid = |why: &str| OAuthError::InvalidDocument {
            url: display_url(source),
            why: why.to_owned(),
        };
        let named = document.get("issuer").and_then(Value::as_str);
        let named = named.ok_or_else(|| invalid("`issuer` is missing"))?;
        if named.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
            return Err(OAuthError::IssuerMismatch {
                named: display_text(named),
                expected: display_url(issuer),
            });
        }
        let endpoint = |key: &str| -> Result<Option<Url>, OAuthError> {
            let Some(text) = document.get(key).and_then(Value::as_str) else {
                return Ok(None);
            };
            let url = Url::parse(text).map_err(|_| invalid(&format!("`{key}` is not a URL")))?;
            policy.check(&url)?;
            Ok(Some(url))
        };
        let flag = |key: &str| document.get(key).and_then(Value::as_bool) == Some(true);
        let methods = texts(document, "code_challenge_methods_supported").unwrap_or_default();
        Ok(Self {
            issuer: named.to_owned(),
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?
                .ok_or_else(|| invalid("`token_endpoint` is missing"))?,
            registration_endpoint: endpoint("registration_endpoint")?,
            revocation_endpoint: endpoint("revocation_endpoint")?,
            scopes: scopes(document),
            token_auth_methods: texts(document, "token_endpoint_auth_methods_supported"),
            sends_issuer: flag("authorization_response_iss_parameter_supported"),
            supports_metadata_url: flag("client_id_metadata_document_supported"),
            supports_s256: methods.iter().any(|method| method == "S256"),
        })
    }

    /// The endpoints that the 2025-03-26 revision prescribes for servers without metadata.
    pub fn without_metadata(server_url: &Url) -> Option<Self> {
        let origin = origin(server_url)?;
        let endpoint = |path: &str| origin.join(path).ok();
        Some(Self {
            issuer: origin.as_str().trim_end_matches('/').to_owned(),
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token")?,
            registration_endpoint: endpoint("/register"),
            revocation_endpoint: None,
            scopes: Vec::new(),
            token_auth_methods: None,
            sends_issuer: false,
            supports_metadata_url: false,
            // That revision requires every server to support PKCE.
            supports_s256: true,
        })
    }
}

/// The URL without path, query and fragment.
pub fn origin(url: &Url) -> Option<Url> {
    let mut origin = url.clone();
    origin.set_path("/");
    origin.set_query(None);
    origin.set_fragment(None);
    origin.host().is_some().then_some(origin)
}

/// Where the metadata of a protected resource may be, most specific first.
pub fn resource_metadata_urls(server_url: &Url) -> Vec<Url> {
    let name = "/.well-known/oauth-protected-resource";
    let path = server_url.path().trim_end_matches('/');
    let mut urls: Vec<Url> = Vec::new();
    for path in [format!("{name}{path}"), name.to_owned()] {
        urls.extend(origin(server_url).map(|mut url| {
            url.set_path(&path);
            url
        }));
    }
    urls.dedup();
    urls
}

/// Where the metadata of an issuer may be, in the order of the specification.
pub fn issuer_metadata_urls(issuer: &Url) -> Vec<Url> {
    let (oauth, openid) = (
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    );
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
    if !path.is_empty() {
        paths.push(format!("{path}{openid}"));
    }
    let with_path = |path: String| {
        origin(issuer).map(|mut url| {
            url.set_path(&path);
            url
        })
    };
    paths.into_iter().filter_map(with_path).collect()
}

fn texts(document: &Value, key: &str) -> Option<Vec<String>> {
    let items = document.get(key)?.as_array()?;
    let texts = items.iter().filter_map(Value::as_str).map(str::to_owned);
    Some(texts.collect())
}

fn scopes(document: &Value) -> Vec<String> {
    split_scopes(
        &texts(document, "scopes_supported")
            .unwrap_or_default()
            .join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn strings(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    #[test]
    fn metadata_urls_are_in_the_order_of_the_specifications() {
        assert_eq!(
            strings(resource_metadata_urls(&url("https://a.example/b/mcp?x=1"))),
            [
                "https://a.example/.well-known/oauth-protected-resource/b/mcp",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            strings(resource_metadata_urls(&url("https://a.example"))),
            ["https://a.example/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            strings(issuer_metadata_urls(&url("https://a.example/t/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/t",
                "https://a.example/.well-known/openid-configuration/t",
                "https://a.example/t/.well-known/openid-configuration"
            ]
        );
        assert_eq!(issuer_metadata_urls(&url("https://a.example")).len(), 2);
    }

    #[test]
    fn a_resource_must_be_the_server_or_a_path_above_it() {
        let server = url("https://a.example/b/mcp");
        for resource in [
            "https://a.example/b/mcp",
            "https://a.example/b/",
            "https://a.example",
        ] {
            assert!(covers(resource, &server), "{resource}");
        }
        for resource in [
            "https://evil.example/b/mcp",
            "http://a.example/b/mcp",
            "https://a.example/b/mc",
            "https://a.example/b/mcp/x",
            "https://a.example:444/",
            "https://a.example/#x",
            "a.example",
        ] {
            assert!(!covers(resource, &server), "{resource}");
        }
    }

    #[test]
    fn issuers_may_differ_only_in_a_trailing_slash() {
        let parse = |issuer: &str| {
            let document = json!({ "issuer": issuer, "token_endpoint": "https://a.example/token" });
            let looked_up = url("https://a.example/t");
            AuthorizationServer::parse(&document, &looked_up, &looked_up, AddressPolicy::PublicOnly)
                .map(|server| server.issuer)
        };
        assert_eq!(
            parse("https://a.example/t"),
            Ok("https://a.example/t".to_owned())
        );
        assert_eq!(
            parse("https://a.example/t/"),
            Ok("https://a.example/t/".to_owned())
        );
        for other in [
            "https://a.example",
            "https://evil.example/t",
            "https://A.example/t",
        ] {
            let error = parse(other);
            assert!(
                matches!(error, Err(OAuthError::IssuerMismatch { .. })),
                "{other}"
            );
        }
    }

    #[test]
    fn endpoints_must_be_allowed_urls() {
        let issuer = url("https://a.example");
        for endpoint in [
            "http://a.example/t",
            "javascript:alert(1)",
            "https://10.0.0.1/t",
            "x",
        ] {
            let document = json!({ "issuer": "https://a.example", "token_endpoint": "https://a.example/t",
                "authorization_endpoint": endpoint });
            let parsed =
                AuthorizationServer::parse(&document, &issuer, &issuer, AddressPolicy::PublicOnly);
            assert!(parsed.is_err(), "{endpoint}");
        }
    }
}

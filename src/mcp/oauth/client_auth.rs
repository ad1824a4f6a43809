//! Identifies this program at a token endpoint: client id, secret and method.

use super::client_assertion;
use super::error::OAuthError;
use super::metadata::AuthorizationServer;
use crate::domain::model::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;

/// A way to authenticate at the token endpoint (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TokenAuthMethod {
    /// A public client sends only its id.
    #[default]
    #[serde(rename = "none")]
    PublicClient,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "private_key_jwt")]
    PrivateKey,
}

/// The identity of this program at one authorization server.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    pub id: String,
    /// A client secret, or a private key in PEM.
    pub secret: Option<Secret>,
    pub method: TokenAuthMethod,
}

impl TokenAuthMethod {
    fn from_name(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }

    /// Chooses a method that the server supports, for a client with or without a secret. If the
    /// server lists none, RFC 8414 prescribes `client_secret_basic`.
    pub fn choose(server: &AuthorizationServer, has_secret: bool) -> Self {
        let Some(supported) = &server.token_auth_methods else {
            return if has_secret {
                Self::Basic
            } else {
                Self::PublicClient
            };
        };
        let supports = |method: Self| {
            supported
                .iter()
                .any(|name| Self::from_name(name) == Some(method))
        };
        match has_secret {
            true if supports(Self::Basic) => Self::Basic,
            true if supports(Self::Post) => Self::Post,
            true if !supports(Self::PublicClient) => Self::Basic,
            _ => Self::PublicClient,
        }
    }

    /// The method to request at registration: a public client if the server allows one.
    pub fn to_register(server: &AuthorizationServer) -> Self {
        let supported = server.token_auth_methods.as_deref().unwrap_or_default();
        let supports = |name: &str| supported.iter().any(|method| method == name);
        if supported.is_empty() || supports("none") {
            Self::PublicClient
        } else if supports("client_secret_basic") {
            Self::Basic
        } else if supports("client_secret_post") {
            Self::Post
        } else {
            Self::PublicClient
        }
    }

    /// The method that a registration response grants.
    pub fn granted(name: Option<&str>, server: &AuthorizationServer, has_secret: bool) -> Self {
        match name.and_then(Self::from_name) {
            Some(method @ (Self::Basic | Self::Post)) if has_secret => method,
            Some(Self::PublicClient) => Self::PublicClient,
            _ => Self::choose(server, has_secret),
        }
    }
}

impl ClientIdentity {
    /// Adds the identity to the form of a token request. `audience` is the issuer that receives it.
    /// Returns the `Authorization` header, if the method needs one.
    ///
    /// # Errors
    /// An unusable private key.
    pub fn authenticate(
        &self,
        audience: &str,
        form: &mut Vec<(&'static str, String)>,
    ) -> Result<Option<HeaderValue>, OAuthError> {
        let secret = self.secret.as_ref().map(Secret::expose);
        match (self.method, secret) {
            (TokenAuthMethod::Basic, Some(secret)) => {
                return Ok(Some(basic_header(&self.id, secret)));
            }
            (TokenAuthMethod::Post, Some(secret)) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.to_owned()));
            }
            (TokenAuthMethod::PrivateKey, Some(pem)) => {
                let assertion = client_assertion::sign(&self.id, audience, pem)?;
                form.push(("client_id", self.id.clone()));
                form.push(("client_assertion_type", client_assertion::TYPE.to_owned()));
                form.push(("client_assertion", assertion));
            }
            _ => form.push(("client_id", self.id.clone())),
        }
        Ok(None)
    }
}

/// RFC 6749, section 2.3.1: id and secret are form-encoded first.
fn basic_header(id: &str, secret: &str) -> HeaderValue {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let credentials = STANDARD.encode(format!("{}:{}", encode(id), encode(secret)));
    let mut header =
        HeaderValue::try_from(format!("Basic {credentials}")).expect("base64 is valid in a header");
    header.set_sensitive(true);
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn server(methods: Option<&[&str]>) -> AuthorizationServer {
        let url = Url::parse("https://a.example").expect("a URL");
        let mut server = AuthorizationServer::without_metadata(&url).expect("an origin");
        server.token_auth_methods =
            methods.map(|methods| methods.iter().map(|&name| name.to_owned()).collect());
        server
    }

    #[test]
    fn the_auth_method_depends_on_the_server_and_the_secret() {
        use TokenAuthMethod::{Basic, Post, PublicClient};
        for (methods, has_secret, expected) in [
            (None, true, Basic),
            (None, false, PublicClient),
            (Some(["client_secret_post"].as_slice()), true, Post),
            (
                Some(&["client_secret_post", "client_secret_basic"]),
                true,
                Basic,
            ),
            (Some(&["none"]), true, PublicClient),
            (Some(&["private_key_jwt"]), true, Basic),
        ] {
            let chosen = TokenAuthMethod::choose(&server(methods), has_secret);
            assert_eq!(chosen, expected, "{methods:?} {has_secret}");
        }
    }

    #[test]
    fn a_basic_header_encodes_id_and_secret_as_forms_do() {
        let header = basic_header("a b", "c:d/é");
        let encoded = header.to_str().expect("ASCII").strip_prefix("Basic ");
        let decoded = STANDARD.decode(encoded.expect("a scheme")).expect("base64");
        assert_eq!(String::from_utf8_lossy(&decoded), "a+b:c%3Ad%2F%C3%A9");
        assert!(header.is_sensitive());
    }
}

//! Requests to a token or revocation endpoint.

use super::addresses::display_url;
use super::callback::refusal_text;
use super::challenge::split_scopes;
use super::client_auth::ClientIdentity;
use super::error::OAuthError;
use super::http::{OAuthAnswer, OAuthHttp};
use crate::domain::SecretRegistry;
use crate::domain::model::Secret;
use jiff::Timestamp;
use reqwest::header::HeaderValue;
use serde_json::Value;
use url::Url;

/// Longer access tokens are rejected, and longer refresh tokens are ignored.
const TOKEN_BYTES_MAX: usize = 64 << 10;
/// Longer lifetimes are capped at this, in seconds: ten years.
const LIFETIME_SECONDS_MAX: i64 = 10 * 365 * 86_400;

/// The grant that entitles the client to a token.
pub enum Grant<'a> {
    AuthorizationCode {
        code: &'a Secret,
        verifier: &'a Secret,
        redirect_uri: &'a Url,
    },
    RefreshToken(&'a Secret),
    ClientCredentials {
        scopes: &'a [String],
    },
}

/// A successful answer of a token endpoint.
#[derive(Debug, Clone)]
pub struct GrantedTokens {
    pub access_token: Secret,
    pub refresh_token: Option<Secret>,
    /// When the access token expires, in seconds since 1970; `None` if the server sent no lifetime.
    pub expires_at: Option<i64>,
    /// `None` if the server granted exactly the requested scopes.
    pub scopes: Option<Vec<String>>,
}

/// A token endpoint, and the issuer and the resource of the tokens to request.
pub struct TokenEndpoint<'a> {
    pub url: &'a Url,
    pub issuer: &'a str,
    pub resource: &'a str,
}

/// Requests tokens for a grant.
///
/// # Errors
/// The endpoint could not be reached, refused, or sent no usable token.
pub async fn request_tokens(
    http: &OAuthHttp,
    endpoint: &TokenEndpoint<'_>,
    client: &ClientIdentity,
    grant: Grant<'_>,
) -> Result<GrantedTokens, OAuthError> {
    let mut form: Vec<(&'static str, String)> = match grant {
        Grant::AuthorizationCode {
            code,
            verifier,
            redirect_uri,
        } => vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.expose().to_owned()),
            ("code_verifier", verifier.expose().to_owned()),
            ("redirect_uri", redirect_uri.to_string()),
        ],
        Grant::RefreshToken(token) => vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", token.expose().to_owned()),
        ],
        Grant::ClientCredentials { scopes } => {
            let mut form = vec![("grant_type", "client_credentials".to_owned())];
            if !scopes.is_empty() {
                form.push(("scope", scopes.join(" ")));
            }
            form
        }
    };
    form.push(("resource", endpoint.resource.to_owned()));
    http.secrets.add_tokens(client.secret.clone());
    let authorization = client.authenticate(endpoint.issuer, &mut form)?;
    let answer = http.post_form(endpoint.url, &form, authorization).await?;
    if !answer.is_success() {
        return Err(refusal(endpoint.url, &answer, &http.secrets));
    }
    parse_tokens(&answer)
}

/// Asks the authorization server to revoke a token (RFC 7009). The outcome changes nothing here:
/// the token is removed from this machine anyway.
pub async fn revoke(
    http: &OAuthHttp,
    url: &Url,
    client: &ClientIdentity,
    issuer: &str,
    token: &Secret,
) {
    let mut form = vec![("token", token.expose().to_owned())];
    let Ok(authorization) = client.authenticate(issuer, &mut form) else {
        return;
    };
    if let Err(error) = http.post_form(url, &form, authorization).await {
        tracing::debug!("a token could not be revoked: {error}");
    }
}

fn parse_tokens(answer: &OAuthAnswer) -> Result<GrantedTokens, OAuthError> {
    let unusable = OAuthError::UnusableToken;
    let token = answer.text("access_token").unwrap_or_default();
    if token.is_empty() || token.len() > TOKEN_BYTES_MAX || HeaderValue::from_str(token).is_err() {
        return Err(unusable("`access_token` is missing or malformed"));
    }
    let is_bearer = answer
        .text("token_type")
        .is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if !is_bearer {
        return Err(unusable("its type is not `Bearer`"));
    }
    let refresh_token = answer
        .text("refresh_token")
        .filter(|token| !token.is_empty() && token.len() <= TOKEN_BYTES_MAX);
    let lifetime = answer.json.as_ref().and_then(|json| json.get("expires_in"));
    // Some servers send the number as a string.
    let lifetime = lifetime.and_then(|value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64().map(|seconds| seconds as i64),
    });
    Ok(GrantedTokens {
        access_token: Secret::new(token),
        refresh_token: refresh_token.map(Secret::new),
        expires_at: lifetime.map(|seconds| now_seconds() + seconds.clamp(0, LIFETIME_SECONDS_MAX)),
        scopes: answer.text("scope").map(split_scopes),
    })
}

/// The error of an unsuccessful answer. `secrets` hides those that we sent. An OAuth error is
/// final, except in a 5xx answer or if it is `temporarily_unavailable`; other failures may be
/// temporary.
pub fn refusal(url: &Url, answer: &OAuthAnswer, secrets: &SecretRegistry) -> OAuthError {
    match answer.text("error") {
        Some(error) if answer.status < 500 && error != "temporarily_unavailable" => {
            let description = answer.text("error_description").unwrap_or_default();
            OAuthError::Refused(refusal_text(secrets, error, description))
        }
        error => OAuthError::Status {
            url: display_url(url),
            status: answer.status,
            reason: error.map_or_else(String::new, |error| {
                format!(": {}", refusal_text(secrets, error, ""))
            }),
        },
    }
}

pub fn now_seconds() -> i64 {
    Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::super::http::request_secrets;
    use super::*;
    use crate::mcp::oauth::client_auth::TokenAuthMethod;
    use serde_json::json;

    fn answer(status: u16, json: Value) -> OAuthAnswer {
        OAuthAnswer {
            status,
            body_kind: String::new(),
            json: Some(json),
        }
    }

    #[test]
    fn only_a_bearer_token_that_fits_in_a_header_is_usable() {
        for json in [
            json!({}),
            json!({ "access_token": "" }),
            json!({ "access_token": "a\nb" }),
            json!({ "access_token": "a", "token_type": "DPoP" }),
            json!({ "access_token": "a".repeat(70_000) }),
        ] {
            assert!(parse_tokens(&answer(200, json)).is_err());
        }
        let tokens = parse_tokens(&answer(
            200,
            json!({ "access_token": "a", "token_type": "bearer", "expires_in": "60", "scope": "x y" }),
        ));
        let tokens = tokens.expect("a usable token");
        let lifetime = tokens.expires_at.map(|time| time - now_seconds());
        assert!(matches!(lifetime, Some(59..=60)), "{lifetime:?}");
        assert_eq!(tokens.scopes, Some(vec!["x".to_owned(), "y".to_owned()]));
    }

    #[test]
    fn a_refused_token_request_does_not_repeat_what_was_sent() {
        let url = Url::parse("https://a.example/token").expect("a URL");
        let client = ClientIdentity {
            id: "humble".to_owned(),
            secret: Some(Secret::new("s3cr%t+ value")),
            method: TokenAuthMethod::Basic,
        };
        let mut form = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", "RT859ba58c2458".to_owned()),
            ("code", "ac/8d2".to_owned()),
            ("code_verifier", "vErifier43".to_owned()),
            ("client_assertion", "eyJhbGciOi.x.y".to_owned()),
        ];
        let header = client.authenticate("https://a.example", &mut form);
        let header = header.expect("a secret").expect("a header");
        let secrets = SecretRegistry::default();
        secrets.add_tokens(client.secret.clone());
        secrets.add_tokens(request_secrets(&form, Some(&header)));
        let basic = header.to_str().expect("ASCII").trim_start_matches("Basic ");
        let sent = [
            "RT859ba58c2458",
            "ac/8d2",
            "ac%2F8d2",
            "vErifier43",
            "eyJhbGciOi.x.y",
            "s3cr%t+ value",
            basic,
        ];
        for secret in sent {
            for (status, json) in [
                (
                    400,
                    json!({ "error": "invalid_grant", "error_description": format!("no {secret}") }),
                ),
                (400, json!({ "error": secret })),
                (
                    503,
                    json!({ "error": format!("temporarily_unavailable {secret}") }),
                ),
            ] {
                let error = refusal(&url, &answer(status, json), &secrets).to_string();
                assert!(!error.contains(secret), "{error}");
                assert!(error.contains("[hidden]"), "{error}");
            }
        }
        let json = json!({ "error": "invalid_grant", "error_description": "refresh_token is old" });
        let error = refusal(&url, &answer(400, json), &secrets).to_string();
        assert!(
            error.contains("refresh_token is old (invalid_grant)"),
            "{error}"
        );
    }

    #[test]
    fn an_error_of_a_busy_server_is_not_final() {
        let url = Url::parse("https://a.example/token").expect("a URL");
        let error = |status, json| refusal(&url, &answer(status, json), &SecretRegistry::default());
        assert!(error(400, json!({ "error": "invalid_grant" })).is_final_refusal());
        assert!(!error(503, json!({ "error": "server_error" })).is_final_refusal());
        assert!(!error(429, json!({})).is_final_refusal());
    }
}

//! The access token of one server: provides it for requests, refreshes it, and prepares a sign-in.

use super::addresses::{display_text, display_url};
use super::challenge::BearerChallenge;
use super::credential_file::{CredentialFile, ServerCredentials};
use super::discovery::{Discovered, discover};
use super::error::OAuthError;
use super::http::OAuthHttp;
use super::registration::client_identity;
use super::scopes::{StepUps, select_scopes};
use super::sign_in::{CallbackAddress, SaveTokens, SignIn};
use super::token_request::{now_seconds, revoke};
use crate::domain::model::Secret;
use crate::domain::server::OAuthSettings;
use crate::domain::{SecretRegistry, ServerId, SignInRequest};
use crate::sync::lock_ignoring_poison;
use reqwest::header::HeaderMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{Mutex as AsyncMutex, OnceCell};
use url::Url;

/// A token is refreshed this many seconds before it expires.
const REFRESH_AHEAD_SECONDS: i64 = 30;

/// How to continue after a response with status 401 or 403.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenRejection {
    /// There is a new token: send the request again.
    Retry,
    SignInNeeded,
    /// The user has to sign in again, with more scopes.
    MoreScopesNeeded(Vec<String>),
    /// A new token could not be obtained.
    Failed(OAuthError),
    /// The response has nothing to do with tokens.
    Unrelated,
}

/// The sign-in state of one server. Cheap to clone.
#[derive(Clone)]
pub struct Authorizer(pub(super) Arc<AuthorizerInner>);

pub(super) struct AuthorizerInner {
    pub(super) server: ServerId,
    url: Url,
    pub(super) settings: OAuthSettings,
    pub(super) file: CredentialFile,
    /// Receives the tokens, however they are obtained.
    secrets: SecretRegistry,
    http: OnceCell<OAuthHttp>,
    pub(super) state: Mutex<AuthorizerState>,
    /// Held while a token is requested, so that only one request is made at a time.
    pub(super) request_lock: AsyncMutex<()>,
}

#[derive(Default)]
pub(super) struct AuthorizerState {
    is_loaded: bool,
    credentials: Option<ServerCredentials>,
    pub(super) challenge: Option<BearerChallenge>,
    step_ups: StepUps,
}

impl Authorizer {
    pub fn new(
        server: ServerId,
        url: Url,
        settings: OAuthSettings,
        file: CredentialFile,
        secrets: SecretRegistry,
    ) -> Self {
        Self(Arc::new(AuthorizerInner {
            server,
            url,
            settings,
            file,
            secrets,
            http: OnceCell::new(),
            state: Mutex::default(),
            request_lock: AsyncMutex::default(),
        }))
    }

    /// The token for the next request, refreshed if it is about to expire. `None` if the user has
    /// not signed in.
    pub async fn token(&self) -> Option<Secret> {
        let is_loaded = lock_ignoring_poison(&self.0.state).is_loaded;
        let known = match is_loaded {
            true => lock_ignoring_poison(&self.0.state).credentials.clone(),
            false => self.reload().await,
        }?;
        let expires_soon = known
            .expires_at
            .is_some_and(|time| time <= now_seconds() + REFRESH_AHEAD_SECONDS);
        if expires_soon && self.can_renew(&known) {
            // If this fails, the server rejects the old token, and that is reported.
            if let Ok(true) = self.renew(&known.access_token).await {
                let state = lock_ignoring_poison(&self.0.state);
                return state
                    .credentials
                    .as_ref()
                    .map(|new| new.access_token.clone());
            }
        }
        Some(known.access_token)
    }

    /// Handles a response with status 401 or 403 to a request with `used_token`. Obtains a new
    /// token if that is possible without the user.
    pub async fn handle_rejection(
        &self,
        status: u16,
        headers: &HeaderMap,
        used_token: Option<&Secret>,
    ) -> TokenRejection {
        let challenge = BearerChallenge::from_headers(headers);
        if status == 403 {
            return match challenge {
                Some(challenge) if challenge.is_insufficient_scope() => {
                    let scopes = challenge.scopes.clone();
                    lock_ignoring_poison(&self.0.state).challenge = Some(challenge);
                    TokenRejection::MoreScopesNeeded(scopes)
                }
                _ => TokenRejection::Unrelated,
            };
        }
        lock_ignoring_poison(&self.0.state).challenge = challenge;
        let none = Secret::new("");
        match self.renew(used_token.unwrap_or(&none)).await {
            Ok(true) => TokenRejection::Retry,
            Ok(false) => TokenRejection::SignInNeeded,
            Err(error) if error.is_final_refusal() && !self.0.settings.uses_client_credentials => {
                TokenRejection::SignInNeeded
            }
            Err(error) => TokenRejection::Failed(error),
        }
    }

    /// Finds the authorization server and opens the callback port.
    ///
    /// # Errors
    /// The reason why signing in is not possible.
    pub async fn prepare_sign_in(&self) -> Result<SignIn, OAuthError> {
        let inner = &self.0;
        let challenge = lock_ignoring_poison(&inner.state).challenge.clone();
        let http = self.http().await?;
        let discovered = self.discover(&http, challenge.as_ref()).await?;
        let scopes = self
            .scopes_to_request(&discovered, challenge.as_ref())
            .await?;
        let address = CallbackAddress::open(inner.settings.callback_port).await;
        let client = client_identity(
            &http,
            &inner.file,
            &inner.settings,
            &discovered,
            &address.all,
        )
        .await?;
        let request = SignInRequest {
            server: inner.server.clone(),
            server_url: display_url(&inner.url),
            host: String::new(),
            scopes: Vec::new(),
            url: String::new(),
            callback: String::new(),
            is_listening: false,
        };
        let this = self.clone();
        let save: SaveTokens = Box::new(move |new| Box::pin(async move { this.store(new).await }));
        SignIn::new((http, discovered, client), address, scopes, request, save)
    }

    /// Removes the tokens from this machine and asks the authorization server to revoke them.
    /// Returns whether there were any.
    ///
    /// # Errors
    /// The credential file cannot be read or changed.
    pub async fn sign_out(&self) -> Result<bool, OAuthError> {
        let inner = &self.0;
        let Some(old) = inner.file.credentials(&inner.server, &inner.url).await? else {
            return Ok(false);
        };
        inner.file.remove_credentials(&inner.server).await?;
        self.set_credentials(None);
        if let (Some(url), Ok(http)) = (&old.revocation_endpoint, self.http().await) {
            let client = self.identity_for(&old).await?;
            for token in [old.refresh_token.as_ref(), Some(&old.access_token)]
                .into_iter()
                .flatten()
            {
                revoke(&http, url, &client, &old.issuer, token).await;
            }
        }
        Ok(true)
    }

    /// Finds the authorization server. It must be the configured one. If none is configured but the
    /// entry has a secret, it must be the same as at an earlier sign-in, if there was one: the MCP
    /// server must not be able to redirect the secret.
    pub(super) async fn discover(
        &self,
        http: &OAuthHttp,
        challenge: Option<&BearerChallenge>,
    ) -> Result<Discovered, OAuthError> {
        let settings = &self.0.settings;
        let discovered = discover(http, &self.0.url, challenge).await?;
        let has_secret = settings.client_secret.is_some() || settings.private_key.is_some();
        let expected = match &settings.issuer {
            Some(issuer) => Some(issuer.clone()),
            None if has_secret => self.reload().await.map(|known| known.issuer),
            None => None,
        };
        let named = &discovered.server.issuer;
        match expected {
            Some(expected) if expected.trim_end_matches('/') != named.trim_end_matches('/') => {
                Err(OAuthError::UnexpectedIssuer {
                    named: display_text(named),
                    expected: display_text(&expected),
                })
            }
            _ => Ok(discovered),
        }
    }

    async fn scopes_to_request(
        &self,
        discovered: &Discovered,
        challenge: Option<&BearerChallenge>,
    ) -> Result<Vec<String>, OAuthError> {
        let granted = match self.reload().await {
            Some(known) if known.issuer == discovered.server.issuer => known.scopes,
            _ => Vec::new(),
        };
        let mut state = lock_ignoring_poison(&self.0.state);
        if let Some(challenge) = challenge.filter(|challenge| challenge.is_insufficient_scope()) {
            state.step_ups.count_sign_in(&challenge.scopes)?;
        }
        let configured = &self.0.settings.scopes;
        Ok(select_scopes(configured, challenge, granted, discovered))
    }

    pub(super) async fn store(&self, new: ServerCredentials) -> Result<(), OAuthError> {
        let inner = &self.0;
        let new = ServerCredentials {
            url: inner.url.to_string(),
            ..new
        };
        inner.file.save_credentials(&inner.server, &new).await?;
        self.set_credentials(Some(new));
        Ok(())
    }

    /// Reads the credentials, which another running instance may have changed.
    pub(super) async fn reload(&self) -> Option<ServerCredentials> {
        let inner = &self.0;
        let found = match inner.file.credentials(&inner.server, &inner.url).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!("{error}");
                None
            }
        };
        self.set_credentials(found.clone());
        found
    }

    fn set_credentials(&self, credentials: Option<ServerCredentials>) {
        if let Some(new) = &credentials {
            let tokens = [Some(&new.access_token), new.refresh_token.as_ref()];
            let secrets = &self.0.secrets;
            secrets.add_tokens(tokens.into_iter().flatten().cloned());
        }
        let mut state = lock_ignoring_poison(&self.0.state);
        state.is_loaded = true;
        state.credentials = credentials;
    }

    pub(super) async fn http(&self) -> Result<OAuthHttp, OAuthError> {
        let build = || OAuthHttp::for_server(&self.0.url, &self.0.secrets);
        self.0.http.get_or_try_init(build).await.cloned()
    }
}

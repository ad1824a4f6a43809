//! Obtains a new access token without the user: by refreshing, or with the client's own credentials.
//! Only one request runs at a time, even across running instances.

use super::authorizer::Authorizer;
use super::client_auth::ClientIdentity;
use super::credential_file::ServerCredentials;
use super::error::OAuthError;
use super::registration::configured_identity;
use super::sign_in::credentials;
use super::token_request::{Grant, TokenEndpoint, request_tokens};
use crate::domain::model::Secret;
use crate::sync::lock_ignoring_poison;
use crate::text::Clean;

impl Authorizer {
    pub(super) fn can_renew(&self, known: &ServerCredentials) -> bool {
        known.refresh_token.is_some() || self.0.settings.uses_client_credentials
    }

    /// Replaces a rejected or expiring token without the user. Returns whether there is a new one.
    pub(super) async fn renew(&self, old: &Secret) -> Result<bool, OAuthError> {
        let inner = &self.0;
        let _request_guard = inner.request_lock.lock().await;
        let _guard = inner.file.lock_refresh().await;
        // Another request or running instance may have renewed it in the meantime.
        let known = self.reload().await;
        if known
            .as_ref()
            .is_some_and(|known| known.access_token != *old)
        {
            return Ok(true);
        }
        if inner.settings.uses_client_credentials {
            return self.request_client_credentials().await.map(|()| true);
        }
        let Some((known, refresh_token)) =
            known.and_then(|known| Some((known.clone(), known.refresh_token?)))
        else {
            return Ok(false);
        };
        let http = self.http().await?;
        let client = self.identity_for(&known).await?;
        let endpoint = TokenEndpoint {
            url: &known.token_endpoint,
            issuer: &known.issuer,
            resource: &known.resource,
        };
        let grant = Grant::RefreshToken(&refresh_token);
        match request_tokens(&http, &endpoint, &client, grant).await {
            Ok(tokens) => {
                let renewed = ServerCredentials {
                    access_token: tokens.access_token,
                    refresh_token: tokens.refresh_token.or(Some(refresh_token)),
                    expires_at: tokens.expires_at,
                    scopes: tokens.scopes.unwrap_or_else(|| known.scopes.clone()),
                    ..known
                };
                self.store(renewed).await.map(|()| true)
            }
            Err(error) => {
                tracing::info!(
                    "the token of MCP server `{}` could not be refreshed: {error}",
                    Clean::name(inner.server.as_str())
                );
                if error.is_final_refusal() {
                    // Keep the scopes, which the next sign-in asks for again, but not the refresh
                    // token.
                    let spent = ServerCredentials {
                        refresh_token: None,
                        ..known
                    };
                    self.store(spent).await?;
                }
                Err(error)
            }
        }
    }

    async fn request_client_credentials(&self) -> Result<(), OAuthError> {
        let inner = &self.0;
        let challenge = lock_ignoring_poison(&inner.state).challenge.clone();
        let http = self.http().await?;
        let discovered = self.discover(&http, challenge.as_ref()).await?;
        let identity = configured_identity(&inner.settings, &discovered.server);
        let identity = identity.ok_or(OAuthError::NoRegistration)?;
        let scopes = match (&inner.settings.scopes, challenge) {
            (configured, _) if !configured.is_empty() => configured.clone(),
            (_, Some(challenge)) if !challenge.scopes.is_empty() => challenge.scopes,
            _ => discovered.resource_scopes.clone(),
        };
        let endpoint = TokenEndpoint {
            url: &discovered.server.token_endpoint,
            issuer: &discovered.server.issuer,
            resource: &discovered.resource,
        };
        let grant = Grant::ClientCredentials { scopes: &scopes };
        let tokens = request_tokens(&http, &endpoint, &identity, grant).await?;
        self.store(credentials(&discovered, &identity, &scopes, tokens))
            .await
    }

    /// The client that the tokens were issued to, with the secret of the registered or configured
    /// client of the same id, if there is one.
    pub(super) async fn identity_for(
        &self,
        known: &ServerCredentials,
    ) -> Result<ClientIdentity, OAuthError> {
        let inner = &self.0;
        let registered = inner.file.registration(&known.issuer).await?;
        if let Some(client) = registered.filter(|client| client.client_id == known.client_id) {
            return Ok(client.identity());
        }
        let secret = match inner.settings.client_id.as_ref() {
            Some(id) if *id == known.client_id => inner
                .settings
                .private_key
                .clone()
                .or_else(|| inner.settings.client_secret.clone()),
            _ => None,
        };
        Ok(ClientIdentity {
            id: known.client_id.clone(),
            method: known.auth_method,
            secret,
        })
    }
}

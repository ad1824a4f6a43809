//! One sign-in with a browser: the authorization code flow with PKCE. The callback comes from the
//! listener or from an address that the user pastes, whichever is first.

use super::callback::ExpectedCallback;
use super::client_auth::ClientIdentity;
use super::credential_file::ServerCredentials;
use super::discovery::Discovered;
use super::error::OAuthError;
use super::http::OAuthHttp;
use super::listener::{BrowserVisit, CALLBACK_PORTS, CallbackListener, CallbackPage, redirect_uri};
use super::random::{code_challenge, random_token};
use super::token_request::{Grant, GrantedTokens, TokenEndpoint, request_tokens};
use crate::domain::SignInRequest;
use crate::domain::model::Secret;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

/// How long the user has for the whole sign-in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(600);

/// A prepared sign-in, waiting for the user. Dropping it closes the callback port.
pub struct SignIn {
    pub(super) http: OAuthHttp,
    pub(super) discovered: Discovered,
    pub(super) client: ClientIdentity,
    pub(super) scopes: Vec<String>,
    pub(super) request: SignInRequest,
    expected: ExpectedCallback,
    verifier: Secret,
    listener: Option<CallbackListener>,
    pub(super) save: SaveTokens,
}

/// What is reported while a sign-in is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInProgress {
    /// A pasted address is not the callback. The sign-in continues.
    AddressRejected(OAuthError),
    /// The callback was right. The code is being exchanged for tokens.
    ExchangingCode,
}

pub(super) type SaveTokens =
    Box<dyn FnOnce(ServerCredentials) -> BoxFuture<'static, Result<(), OAuthError>> + Send + Sync>;

/// Where the browser is sent after the sign-in.
pub(super) struct CallbackAddress {
    listener: Option<CallbackListener>,
    uri: Url,
    /// All addresses that this program uses, for the registration.
    pub all: Vec<Url>,
}

impl CallbackAddress {
    pub async fn open(configured_port: Option<u16>) -> Self {
        let ports = match configured_port {
            Some(port) => vec![port],
            None => CALLBACK_PORTS.to_vec(),
        };
        let listener = CallbackListener::open(&ports).await;
        let all: Vec<Url> = ports.iter().map(|&port| redirect_uri(port)).collect();
        let uri = match &listener {
            Some(listener) => listener.redirect_uri.clone(),
            None => redirect_uri(ports[0]),
        };
        Self { listener, uri, all }
    }
}

impl SignIn {
    /// Builds the authorization URL. `request` is completed with its details.
    ///
    /// # Errors
    /// The authorization server supports no code flow, or no PKCE.
    pub(super) fn new(
        (http, discovered, client): (OAuthHttp, Discovered, ClientIdentity),
        address: CallbackAddress,
        scopes: Vec<String>,
        mut request: SignInRequest,
        save: SaveTokens,
    ) -> Result<Self, OAuthError> {
        let endpoint = discovered.server.authorization_endpoint.clone();
        let mut url = endpoint.ok_or(OAuthError::NoCodeFlow)?;
        if !discovered.server.supports_s256 {
            return Err(OAuthError::NoPkce);
        }
        let (state, verifier) = (random_token(), random_token());
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client.id)
                .append_pair("redirect_uri", address.uri.as_str())
                .append_pair("state", &state)
                .append_pair("code_challenge", &code_challenge(&verifier))
                .append_pair("code_challenge_method", "S256")
                .append_pair("resource", &discovered.resource);
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
            if scopes.iter().any(|scope| scope == "offline_access") {
                // OpenID Connect grants `offline_access` only with consent.
                query.append_pair("prompt", "consent");
            }
        }
        request.host = url.host_str().unwrap_or_default().to_owned();
        request.url = url.into();
        request.scopes.clone_from(&scopes);
        request.callback = address.uri.to_string();
        request.is_listening = address.listener.is_some();
        Ok(Self {
            expected: ExpectedCallback {
                redirect_uri: address.uri,
                state,
                issuer: discovered.server.issuer.clone(),
                needs_issuer: discovered.server.sends_issuer,
                secrets: http.secrets.clone(),
            },
            verifier: Secret::new(verifier),
            listener: address.listener,
            http,
            discovered,
            client,
            scopes,
            request,
            save,
        })
    }

    /// The request to show to the user, with the URL to open.
    pub fn request(&self) -> &SignInRequest {
        &self.request
    }

    /// Waits for the callback, exchanges the code and saves the tokens. An address from `pasted`
    /// that is not the callback is reported and does not end the sign-in.
    ///
    /// # Errors
    /// The authorization server refused, nobody signed in in time, or the tokens could not be
    /// requested or saved.
    pub async fn finish(
        self,
        pasted: mpsc::Receiver<String>,
        report: impl FnMut(SignInProgress) + Send,
    ) -> Result<(), OAuthError> {
        let waiting = self.wait_and_exchange(pasted, report);
        timeout(SIGN_IN_TIMEOUT, waiting)
            .await
            .unwrap_or(Err(OAuthError::SignInTimeout(SIGN_IN_TIMEOUT)))
    }

    async fn wait_and_exchange(
        mut self,
        mut pasted: mpsc::Receiver<String>,
        mut report: impl FnMut(SignInProgress) + Send,
    ) -> Result<(), OAuthError> {
        let (visits, mut visited) = mpsc::channel::<BrowserVisit>(4);
        let listening = match self.listener.take() {
            Some(listener) => listener.run(visits.clone()).boxed(),
            None => futures::future::pending().boxed(),
        };
        let mut listening = listening.fuse();
        loop {
            let (text, reply) = tokio::select! {
                () = &mut listening => continue,
                Some(visit) = visited.recv() => (visit.url, Some(visit.reply)),
                Some(text) = pasted.recv() => (text, None),
            };
            let code = match self.expected.authorization_code(&text) {
                Ok(code) => code,
                Err(error) if error.is_wrong_callback() => {
                    match reply {
                        Some(reply) => drop(reply.send(CallbackPage::Stale)),
                        None => report(SignInProgress::AddressRejected(error)),
                    }
                    continue;
                }
                Err(error) => {
                    answer_browser(&mut listening, reply, CallbackPage::Failed).await;
                    return Err(error);
                }
            };
            report(SignInProgress::ExchangingCode);
            let outcome = self.exchange(&code).await;
            let page = match &outcome {
                Ok(_) => CallbackPage::SignedIn,
                Err(_) => CallbackPage::Failed,
            };
            answer_browser(&mut listening, reply, page).await;
            let credentials = outcome?;
            return (self.save)(credentials).await;
        }
    }

    async fn exchange(&self, code: &Secret) -> Result<ServerCredentials, OAuthError> {
        let server = &self.discovered.server;
        let endpoint = TokenEndpoint {
            url: &server.token_endpoint,
            issuer: &server.issuer,
            resource: &self.discovered.resource,
        };
        let grant = Grant::AuthorizationCode {
            code,
            verifier: &self.verifier,
            redirect_uri: &self.expected.redirect_uri,
        };
        let tokens = request_tokens(&self.http, &endpoint, &self.client, grant).await?;
        Ok(credentials(
            &self.discovered,
            &self.client,
            &self.scopes,
            tokens,
        ))
    }
}

/// Shows a page in the browser. Waits briefly for it to be sent, because the listener ends with the
/// sign-in.
async fn answer_browser(
    listening: &mut (impl Future<Output = ()> + Unpin),
    reply: Option<tokio::sync::oneshot::Sender<CallbackPage>>,
    page: CallbackPage,
) {
    const PAGE_TIMEOUT: Duration = Duration::from_millis(300);
    if let Some(reply) = reply {
        let _ = reply.send(page);
        let _ = timeout(PAGE_TIMEOUT, listening).await;
    }
}

/// The credentials to save after a token request, without the URL of the server.
pub(super) fn credentials(
    discovered: &Discovered,
    client: &ClientIdentity,
    requested_scopes: &[String],
    tokens: GrantedTokens,
) -> ServerCredentials {
    let server = &discovered.server;
    ServerCredentials {
        url: String::new(),
        issuer: server.issuer.clone(),
        client_id: client.id.clone(),
        auth_method: client.method,
        token_endpoint: server.token_endpoint.clone(),
        revocation_endpoint: server.revocation_endpoint.clone(),
        resource: discovered.resource.clone(),
        scopes: tokens.scopes.unwrap_or_else(|| requested_scopes.to_vec()),
        access_token: tokens.access_token,
        refresh_token: tokens.refresh_token,
        expires_at: tokens.expires_at,
    }
}

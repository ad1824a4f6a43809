//! Signing in to remote servers, against a strict authorization server and a hostile one.

mod flow;
mod refusals;
mod tokens;

use crate::support::auth_server::AuthServer;
use crate::support::fixtures;
use crate::support::hub_harness::HubHarness;
use humble::domain::server::{OAuthSettings, ProtocolMode, RemoteTransport};
use humble::domain::{ServerConfig, ServerId, ServerStatus};
use humble::mcp::{OAuthError, SignIn, SignInProgress};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

struct SignInHarness {
    server: AuthServer,
    mcp: HubHarness,
    folder: TempDir,
}

/// A free port for the callback, so that tests do not compete for the fixed ports of the program.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound port").port()
}

fn config(server: &AuthServer, oauth: OAuthSettings) -> ServerConfig {
    let launch = fixtures::remote(&server.mcp_url(), RemoteTransport::Http, &[]);
    ServerConfig {
        protocol: ProtocolMode::Legacy,
        oauth,
        ..fixtures::server_config("guarded", launch)
    }
}

fn free_port_settings() -> OAuthSettings {
    OAuthSettings {
        callback_port: Some(free_port()),
        ..OAuthSettings::default()
    }
}

impl SignInHarness {
    /// Starts the hub and waits until the server requires sign-in.
    async fn start() -> Self {
        Self::start_with(free_port_settings()).await
    }

    async fn start_with(oauth: OAuthSettings) -> Self {
        let server = AuthServer::start().await;
        let folder = tempfile::tempdir().expect("a folder");
        let mut mcp = HubHarness::start(Vec::new());
        mcp.hub.set_credential_file(folder.path().join("auth.json"));
        mcp.configure(vec![config(&server, oauth)]);
        let mut harness = Self {
            server,
            mcp,
            folder,
        };
        harness.wait_for_needed_sign_in().await;
        harness
    }

    async fn wait_for_needed_sign_in(&mut self) {
        let needs_sign_in = |status: &ServerStatus| matches!(status, ServerStatus::NeedsSignIn(_));
        self.mcp
            .wait_for(|server| needs_sign_in(&server.status))
            .await;
    }

    async fn wait_until_connected(&mut self) {
        self.mcp
            .wait_for(|server| server.status == ServerStatus::Connected)
            .await;
    }

    fn auth_file(&self) -> PathBuf {
        self.folder.path().join("auth.json")
    }

    async fn prepare(&self) -> Result<SignIn, OAuthError> {
        let preparing = self.mcp.hub.prepare_sign_in(&ServerId::new("guarded"));
        timeout(WAIT_TIMEOUT, preparing).await.expect("in time")
    }

    /// Signs in by pasting the callback.
    async fn sign_in(&self) -> Result<(), OAuthError> {
        let sign_in = self.prepare().await?;
        let callback = AuthServer::visit(&sign_in.request().url).await;
        finish_with(sign_in, &[&callback]).await.0
    }

    async fn sign_in_and_connect(&mut self) {
        self.sign_in().await.expect("a successful sign-in");
        self.mcp.hub.reconnect(&ServerId::new("guarded"));
        self.wait_until_connected().await;
    }
}

/// Finishes the sign-in with these pasted addresses. Returns the outcome, and an error for each
/// rejected address.
async fn finish_with(
    sign_in: SignIn,
    addresses: &[&str],
) -> (Result<(), OAuthError>, Vec<OAuthError>) {
    let (paste, pasted) = mpsc::channel(8);
    for address in addresses {
        let sent = paste.send((*address).to_owned()).await;
        sent.expect("the receiver exists");
    }
    let mut rejected = Vec::new();
    let finishing = sign_in.finish(pasted, |progress| {
        if let SignInProgress::AddressRejected(error) = progress {
            rejected.push(error);
        }
    });
    let outcome = timeout(WAIT_TIMEOUT, finishing).await.expect("in time");
    (outcome, rejected)
}

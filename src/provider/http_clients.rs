//! HTTP clients: what they trust, which proxy they use, which redirects they
//! follow. None is built before it is needed: loading certificates takes time.

use super::error::Cause;
use crate::http_util::{CONNECT_TIMEOUT_SECONDS, is_loopback, root_cause};
use crate::sync::lock_ignoring_poison;
use reqwest::{Certificate, Client, StatusCode, redirect};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use url::Url;

const CA_FILE_BYTES_MAX: u64 = 4 << 20;
const REDIRECTS_MAX: usize = 5;

/// The clients that were needed so far.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<HashMap<ClientKind, Client>>);

/// Clients differ in what they trust and whether they use a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ClientKind {
    is_loopback: bool,
    is_secure: bool,
    ca_file: Option<PathBuf>,
}

impl Clients {
    /// The client for an address. Its connections are reused.
    pub fn get(&self, url: &Url, ca_file: Option<&Path>) -> Result<Client, Cause> {
        let kind = ClientKind {
            is_loopback: is_loopback(url),
            is_secure: url.scheme() == "https",
            ca_file: ca_file.map(Path::to_owned),
        };
        let mut clients = lock_ignoring_poison(&self.0);
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let client = build_client(&kind)?;
        clients.insert(kind, client.clone());
        Ok(client)
    }
}

fn build_client(kind: &ClientKind) -> Result<Client, Cause> {
    let builder = || {
        let mut builder = Client::builder()
            .user_agent(concat!("humble/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
            .redirect(redirect::Policy::custom(follow));
        if kind.is_loopback {
            builder = builder.no_proxy();
        }
        builder
    };
    let mut trusting = builder();
    if let Some(path) = &kind.ca_file {
        trusting = trusting.tls_certs_merge(certificates(path)?);
    }
    if kind.is_secure {
        return trusting.build().map_err(|fault| Cause::NoClient {
            why: root_cause(&fault),
        });
    }
    // Without TLS no certificate is needed: loading the system's would cost time
    // here, and fail where there are none. A proxy may itself be secure.
    let plain = || builder().tls_certs_only([]).build();
    if kind.is_loopback {
        plain()
    } else {
        trusting.build().or_else(|_| plain())
    }
    .map_err(|fault| Cause::NoClient {
        why: root_cause(&fault),
    })
}

/// Follows a redirect that keeps method, body and origin, and no other: it would
/// carry the conversation, and perhaps a key, to where nobody sent it.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_request = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let previous = attempt.previous();
    let keeps_origin = previous
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_request && keeps_origin && previous.len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, Cause> {
    let bad = |why: String| Cause::BadCaFile {
        path: path.to_owned(),
        why,
    };
    let size = std::fs::metadata(path).map_err(|fault| bad(fault.to_string()))?;
    if !size.is_file() || size.len() > CA_FILE_BYTES_MAX {
        return Err(bad("it is no file of certificates".to_owned()));
    }
    let pem = std::fs::read(path).map_err(|fault| bad(fault.to_string()))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(bad("no certificate is in it".to_owned())),
        Err(fault) => Err(bad(root_cause(&fault))),
    }
}

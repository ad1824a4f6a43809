//! HTTP clients: trusted certificates, proxy use and redirects. Each is built on first use,
//! because loading certificates takes time.

use super::error::FailureCause;
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

/// The clients built so far.
#[derive(Debug, Default)]
pub(super) struct HttpClients(Mutex<HashMap<ClientKind, Client>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ClientKind {
    is_loopback: bool,
    is_secure: bool,
    ca_file: Option<PathBuf>,
}

impl HttpClients {
    /// The client for an address; connections are reused.
    pub fn get(&self, url: &Url, ca_file: Option<&Path>) -> Result<Client, FailureCause> {
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

fn build_client(kind: &ClientKind) -> Result<Client, FailureCause> {
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
        return trusting
            .build()
            .map_err(|error| FailureCause::TlsUnavailable {
                why: root_cause(&error),
            });
    }
    // Plain HTTP needs no certificates. Loading the system's would take time and fail on a system
    // that has none, but an HTTPS proxy may need them.
    let plain = || builder().tls_certs_only([]).build();
    if kind.is_loopback {
        plain()
    } else {
        trusting.build().or_else(|_| plain())
    }
    .map_err(|error| FailureCause::TlsUnavailable {
        why: root_cause(&error),
    })
}

/// Follows a redirect only if it keeps method, body and origin. Any other would send the
/// conversation, and perhaps a key, to a server that the user did not configure.
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

fn certificates(path: &Path) -> Result<Vec<Certificate>, FailureCause> {
    let bad = |why: String| FailureCause::InvalidCaFile {
        path: path.to_owned(),
        why,
    };
    let size = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?;
    if !size.is_file() || size.len() > CA_FILE_BYTES_MAX {
        return Err(bad("it is not a certificate file".to_owned()));
    }
    let pem = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(bad("it contains no certificates".to_owned())),
        Err(error) => Err(bad(root_cause(&error))),
    }
}

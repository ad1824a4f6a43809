//! Builds HTTP clients with their trusted certificates, proxy settings and redirect policy. Each
//! is built on first use, because loading certificates takes time.

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

#[derive(Debug, Default)]
pub(super) struct HttpClients(Mutex<HashMap<ClientKind, Client>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ClientKind {
    is_loopback: bool,
    uses_tls: bool,
    ca_file: Option<PathBuf>,
}

impl HttpClients {
    /// The client for a URL. Requests of the same kind share a client and its connections.
    pub fn get(&self, url: &Url, ca_file: Option<&Path>) -> Result<Client, FailureCause> {
        let kind = ClientKind {
            is_loopback: is_loopback(url),
            uses_tls: url.scheme() == "https",
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
            .redirect(redirect::Policy::custom(follow_within_origin));
        if kind.is_loopback {
            builder = builder.no_proxy();
        }
        builder
    };
    let mut with_certificates = builder();
    if let Some(path) = &kind.ca_file {
        with_certificates = with_certificates.tls_certs_merge(read_certificates(path)?);
    }
    if kind.uses_tls {
        return with_certificates
            .build()
            .map_err(|error| FailureCause::TlsUnavailable {
                why: root_cause(&error),
            });
    }
    // Plain HTTP needs certificates only for an HTTPS proxy. Loading the system's certificates
    // takes time, and fails on a system without any.
    let without_certificates = || builder().tls_certs_only([]).build();
    if kind.is_loopback {
        without_certificates()
    } else {
        with_certificates
            .build()
            .or_else(|_| without_certificates())
    }
    .map_err(|error| FailureCause::TlsUnavailable {
        why: root_cause(&error),
    })
}

/// Follows a redirect only if it keeps method, body and origin. A redirect to a different origin
/// would send the conversation, and perhaps a key, to a server that the user did not configure.
fn follow_within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
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

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, FailureCause> {
    let invalid = |why: String| FailureCause::InvalidCaFile {
        path: path.to_owned(),
        why,
    };
    let metadata = std::fs::metadata(path).map_err(|error| invalid(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > CA_FILE_BYTES_MAX {
        return Err(invalid("it is not a certificate file".to_owned()));
    }
    let pem = std::fs::read(path).map_err(|error| invalid(error.to_string()))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(invalid("it contains no certificates".to_owned())),
        Err(error) => Err(invalid(root_cause(&error))),
    }
}

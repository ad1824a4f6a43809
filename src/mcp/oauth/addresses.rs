//! Which addresses a server may send us to. A public server must not make this program send
//! requests to this machine or into a private network.

use super::error::{OAuthError, ShortenedUrl};
use crate::domain::HostScope;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::net::lookup_host;
use url::{Host, Url};

const DISPLAY_TEXT_CHARS_MAX: usize = 200;

/// The networks that requests may go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    PublicOnly,
    /// For a server that is itself on this machine or in a private network.
    AnyNetwork,
}

impl AddressPolicy {
    /// The policy for a server at `url`. Looks up its host.
    pub async fn for_server(url: &Url) -> Self {
        let is_private = match (HostScope::of_url(url), url.host()) {
            (Some(HostScope::LikelyLoopback) | None, Some(Host::Domain(name))) => {
                lookup_host((name, 0)).await.is_ok_and(|mut addresses| {
                    addresses.any(|address| destination(address.ip()) != HostScope::Public)
                })
            }
            (Some(scope), _) => scope.destination() != HostScope::Public,
            (None, _) => false,
        };
        if is_private {
            Self::AnyNetwork
        } else {
            Self::PublicOnly
        }
    }

    /// Checks a URL before a request: https, or http on this machine.
    ///
    /// # Errors
    /// [`OAuthError::NotHttps`], [`OAuthError::LinkLocalAddress`] or [`OAuthError::PrivateAddress`].
    /// The addresses of a host name are checked when it is resolved.
    pub fn check(self, url: &Url) -> Result<(), OAuthError> {
        let scope = HostScope::of_url(url);
        let is_here = scope == Some(HostScope::Loopback);
        if url.scheme() != "https" && !(url.scheme() == "http" && is_here) {
            return Err(OAuthError::NotHttps(display_url(url)));
        }
        let is_allowed = match scope.map(HostScope::destination) {
            Some(HostScope::LinkLocal) => {
                return Err(OAuthError::LinkLocalAddress(display_url(url)));
            }
            Some(scope) => self.allows(scope),
            None => url.has_host(),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(OAuthError::PrivateAddress(display_url(url))),
        }
    }

    fn allows(self, scope: HostScope) -> bool {
        match self {
            Self::PublicOnly => scope == HostScope::Public,
            // Cloud providers offer credentials at link-local addresses.
            Self::AnyNetwork => scope != HostScope::LinkLocal,
        }
    }
}

impl Resolve for AddressPolicy {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = *self;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = lookup_host((host.as_str(), 0)).await?.collect();
            let is_allowed = |address: &SocketAddr| policy.allows(destination(address.ip()));
            let addresses: Vec<SocketAddr> = found.iter().copied().filter(is_allowed).collect();
            if addresses.is_empty() {
                let kind = match found
                    .iter()
                    .any(|address| destination(address.ip()) == HostScope::LinkLocal)
                {
                    true => "link-local",
                    false => "private",
                };
                let why =
                    format!("its name resolves to a {kind} address, which is not allowed here");
                return Err(io::Error::other(why).into());
            }
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

/// A URL that is safe to show: scheme, host and path, shortened.
pub fn display_url(url: &Url) -> ShortenedUrl {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    let _ = shown
        .set_username("")
        .and_then(|()| shown.set_password(None));
    display_text(shown.as_str())
}

/// Truncates text from a server for an error message.
pub fn display_text(text: &str) -> String {
    match text.char_indices().nth(DISPLAY_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Where a connection to the address ends.
fn destination(address: IpAddr) -> HostScope {
    HostScope::of_address(address).destination()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(policy: AddressPolicy, url: &str) -> Result<(), OAuthError> {
        policy.check(&Url::parse(url).expect("a URL"))
    }

    #[test]
    fn a_public_server_may_not_lead_to_a_private_address() {
        for url in [
            "https://127.0.0.1/",
            "http://localhost:8080/",
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[64:ff9b:1::1]/",
            "https://[2002:7f00:1::1]/",
            "https://[::127.0.0.1]/",
            "https://[fec0::1]/",
            "https://app.localhost/",
            "https://localhost../",
            "https://100.64.0.1/",
        ] {
            let error = check(AddressPolicy::PublicOnly, url);
            assert!(
                matches!(error, Err(OAuthError::PrivateAddress(_))),
                "{url}: {error:?}"
            );
        }
        assert_eq!(
            check(AddressPolicy::PublicOnly, "https://example.com/x"),
            Ok(())
        );
    }

    #[test]
    fn only_this_machine_may_use_http() {
        for url in [
            "http://example.com/",
            "http://10.0.0.1/",
            "http://app.localhost/",
            "http://[64:ff9b::7f00:1]/",
            "file:///etc/passwd",
            "javascript:1",
        ] {
            let error = check(AddressPolicy::AnyNetwork, url);
            assert!(
                matches!(error, Err(OAuthError::NotHttps(_))),
                "{url}: {error:?}"
            );
        }
        assert_eq!(
            check(AddressPolicy::AnyNetwork, "http://127.0.0.1:9/"),
            Ok(())
        );
        assert_eq!(
            check(AddressPolicy::AnyNetwork, "https://10.0.0.1/"),
            Ok(())
        );
    }

    #[test]
    fn a_link_local_address_is_refused_as_link_local_under_every_policy() {
        for url in [
            "https://169.254.169.254/latest/",
            "https://[fe80::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://[64:ff9b::169.254.169.254]/",
        ] {
            for policy in [AddressPolicy::PublicOnly, AddressPolicy::AnyNetwork] {
                let error = check(policy, url).expect_err("a refusal").to_string();
                assert!(error.contains("is a link-local address"), "{url}: {error}");
            }
        }
    }

    #[tokio::test]
    async fn names_of_this_machine_are_refused_when_resolved_for_a_public_server() {
        let name = |text: &str| text.parse::<Name>().expect("a host name");
        assert!(
            AddressPolicy::PublicOnly
                .resolve(name("localhost"))
                .await
                .is_err()
        );
        assert!(
            AddressPolicy::AnyNetwork
                .resolve(name("localhost"))
                .await
                .is_ok()
        );
    }
}

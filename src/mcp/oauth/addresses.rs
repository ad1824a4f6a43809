//! Which addresses a server may send us to. A public server must not make this program send
//! requests to this machine or into a private network.

use super::error::{OAuthError, ShortenedUrl};
use crate::http_util;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
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
        let is_private = match url.host() {
            Some(Host::Ipv4(address)) => is_private(address.into()),
            Some(Host::Ipv6(address)) => is_private(address.into()),
            Some(Host::Domain(_)) if http_util::is_loopback(url) => true,
            Some(Host::Domain(name)) => lookup_host((name, 0))
                .await
                .is_ok_and(|mut addresses| addresses.any(|address| is_private(address.ip()))),
            None => false,
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
        let is_loopback = http_util::is_loopback(url);
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback) {
            return Err(OAuthError::NotHttps(display_url(url)));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
            Some(Host::Domain(_)) | None => None,
        };
        let is_allowed = match address {
            Some(address) if is_link_local(address) => {
                return Err(OAuthError::LinkLocalAddress(display_url(url)));
            }
            Some(address) => self.allows(address),
            None => url.has_host() && (!is_loopback || self == Self::AnyNetwork),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(OAuthError::PrivateAddress(display_url(url))),
        }
    }

    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::PublicOnly => !is_private(address),
            // Cloud providers offer credentials at link-local addresses.
            Self::AnyNetwork => !is_link_local(address),
        }
    }
}

impl Resolve for AddressPolicy {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = *self;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = lookup_host((host.as_str(), 0)).await?.collect();
            let is_allowed = |address: &SocketAddr| policy.allows(address.ip());
            let addresses: Vec<SocketAddr> = found.iter().copied().filter(is_allowed).collect();
            if addresses.is_empty() {
                let kind = match found.iter().any(|address| is_link_local(address.ip())) {
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

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => is_private_v4(address),
            None => is_private_v6(address),
        },
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || a == 0
        // Shared address space (RFC 6598) and benchmarking (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => address.is_link_local(),
            None => address.is_unicast_link_local(),
        },
    }
}

/// The IPv4 address inside a mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056) address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let from_halves =
        |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(from_halves(g, h)),
        [0x2002, ..] => Some(from_halves(b, c)),
        _ => None,
    }
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

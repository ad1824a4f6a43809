//! Controls access to the HTTP server: checks `Host`, `Origin` and the access token. Pure.

use crate::domain::HostScope;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use subtle::ConstantTimeEq;
use url::{Host, Url};

/// Stands for all host names.
pub const ANY_HOST: &str = "*";

/// The rules by which requests are served or refused.
#[derive(Debug, Clone, Default)]
pub struct AccessPolicy {
    /// Names and addresses that clients may use for the server, besides the loopback ones.
    hosts: Vec<Host<String>>,
    /// Any IP address is acceptable as `Host` and in `Origin`. A web page can only make a *name*
    /// point to this server (DNS rebinding).
    accepts_any_address: bool,
    /// Any name is acceptable as `Host`, though not as `Origin`.
    accepts_any_host: bool,
    token: Option<TokenHash>,
}

/// Comparing hashes takes the same time for every guess, whatever its length.
#[derive(Clone)]
struct TokenHash([u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash")
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    ForeignHost,
    ForeignOrigin,
    MissingToken,
    WrongToken,
}

impl AccessPolicy {
    /// Accepts the address that the server listens on as `Host`, and pages from there as `Origin`.
    /// If it is unspecified, accepts every address.
    #[must_use]
    pub fn listening_on(mut self, address: IpAddr) -> Self {
        if HostScope::of_address(address) == HostScope::Unspecified {
            self.accepts_any_address = true;
        } else {
            self.hosts.push(host_of(address));
        }
        self
    }

    /// Also accepts `name` as `Host`, and pages from there as `Origin`; [`ANY_HOST`] accepts every
    /// `Host`. Returns `None` if it is not a host name.
    #[must_use]
    pub fn with_host(mut self, name: &str) -> Option<Self> {
        match name {
            ANY_HOST => self.accepts_any_host = true,
            _ => self.hosts.push(parse_host(name)?),
        }
        Some(self)
    }

    /// Requires `token` in each request.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(TokenHash(Sha256::digest(token).into()));
        self
    }

    /// Checks the `Host`, `Origin` and access token of a request.
    ///
    /// # Errors
    /// The first reason to refuse the request.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_host_known = match exactly_one(headers, &HOST) {
            Some(Some(host)) => self.is_known_authority(host),
            _ => false,
        };
        // The request target may contain a host as well (RFC 9112, section 3.2.2).
        let is_target_known = uri
            .authority()
            .is_none_or(|authority| self.is_known_authority(authority.as_str()));
        if !is_host_known || !is_target_known {
            return Err(Refusal::ForeignHost);
        }
        match exactly_one(headers, &ORIGIN) {
            None => {}
            Some(Some(origin)) if self.is_known_origin(origin) => {}
            Some(_) => return Err(Refusal::ForeignOrigin),
        }
        self.check_token(headers)
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(TokenHash(expected)) = &self.token else {
            return Ok(());
        };
        let value = match exactly_one(headers, &AUTHORIZATION) {
            None => return Err(Refusal::MissingToken),
            Some(value) => value.ok_or(Refusal::WrongToken)?,
        };
        let given = match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => return Err(Refusal::WrongToken),
        };
        let given: [u8; 32] = Sha256::digest(given).into();
        if bool::from(given.ct_eq(expected)) {
            Ok(())
        } else {
            Err(Refusal::WrongToken)
        }
    }

    fn is_known_authority(&self, authority: &str) -> bool {
        let Ok(authority) = Authority::try_from(authority) else {
            return false;
        };
        !authority.as_str().contains('@')
            && parse_host(authority.host())
                .is_some_and(|host| self.accepts_any_host || self.is_known_host(&host))
    }

    /// `null` and schemes other than HTTP are foreign.
    fn is_known_origin(&self, origin: &str) -> bool {
        let Ok(url) = Url::parse(origin) else {
            return false;
        };
        let is_web = matches!(url.scheme(), "http" | "https");
        let host = url.host_str().and_then(parse_host);
        is_web && host.is_some_and(|host| self.is_known_host(&host))
    }

    fn is_known_host(&self, host: &Host<String>) -> bool {
        let is_loopback = HostScope::of_host(host) == Some(HostScope::Loopback);
        let is_address = !matches!(host, Host::Domain(_));
        is_loopback || self.hosts.contains(host) || (self.accepts_any_address && is_address)
    }
}

/// A host as in a URL: lowercase, an IPv6 address with or without brackets. Spellings of the same
/// host are equal: an IPv4-mapped address is the IPv4 address, and the trailing dot of a fully
/// qualified name (RFC 1034, section 3.1) is dropped.
fn parse_host(text: &str) -> Option<Host<String>> {
    if let Ok(address) = text.parse() {
        return Some(host_of(IpAddr::V6(address)));
    }
    Some(match Host::parse(text).ok()? {
        Host::Domain(name) => {
            // Only one dot: a name with two is no spelling of the same host.
            let qualified = name.strip_suffix('.').filter(|name| !name.ends_with('.'));
            Host::Domain(qualified.unwrap_or(&name).to_owned())
        }
        Host::Ipv4(address) => Host::Ipv4(address),
        Host::Ipv6(address) => host_of(IpAddr::V6(address)),
    })
}

fn host_of(address: IpAddr) -> Host<String> {
    match address.to_canonical() {
        IpAddr::V4(address) => Host::Ipv4(address),
        IpAddr::V6(address) => Host::Ipv6(address),
    }
}

/// `None` without the header; `Some(None)` if it is repeated or not text.
fn exactly_one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let text = first.to_str().ok().filter(|_| values.next().is_none());
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is `name: value`.
    fn check(policy: &AccessPolicy, lines: &[&str]) -> Result<(), Refusal> {
        check_target(policy, "/mcp", lines)
    }

    fn check_target(policy: &AccessPolicy, target: &str, lines: &[&str]) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").expect("a header line");
            let name: HeaderName = name.parse().expect("a header name");
            headers.append(name, value.parse().expect("a header value"));
        }
        policy.check(&target.parse().expect("a URI"), &headers)
    }

    fn local() -> AccessPolicy {
        AccessPolicy::default().listening_on("127.0.0.1".parse().expect("an address"))
    }

    fn open() -> AccessPolicy {
        AccessPolicy::default().listening_on("0.0.0.0".parse().expect("an address"))
    }

    #[test]
    fn names_of_this_machine_are_accepted_as_host() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "127.0.0.9",
            "0x7f.1",
            "2130706433:8080",
            "[::1]:9",
            "localhost.",
            "localhost.:8080",
            "[::ffff:127.0.0.1]:8080",
            "[::ffff:7f00:1]",
        ] {
            assert_eq!(
                check(&local(), &[&format!("host: {host}")]),
                Ok(()),
                "{host}"
            );
        }
    }

    #[test]
    fn foreign_or_ambiguous_host_is_refused() {
        let foreign = [
            vec![],
            vec!["host: evil.example"],
            vec!["host: localhost.evil.example"],
            vec!["host: localhost.evil.com"],
            vec!["host: 127.0.0.1.nip.io"],
            vec!["host: localhost..:8080"],
            vec!["host: .localhost"],
            vec!["host: app.localhost"],
            vec!["host: [64:ff9b::7f00:1]"],
            vec!["host: [::127.0.0.1]"],
            vec!["host: [::ffff:192.168.1.5]"],
            vec!["host: localhost@evil.example"],
            vec!["host: evil.example@localhost"],
            vec!["host: 192.168.1.5:8080"],
            vec!["host: 0.0.0.0:8080"],
            vec!["host: localhost", "host: evil.example"],
            vec!["host: localhost", "host: localhost"],
            vec!["host: a b"],
        ];
        for lines in foreign {
            assert_eq!(
                check(&local(), &lines),
                Err(Refusal::ForeignHost),
                "{lines:?}"
            );
        }
        let target = "http://evil.example/mcp";
        let result = check_target(&local(), target, &["host: localhost"]);
        assert_eq!(result, Err(Refusal::ForeignHost));
    }

    #[test]
    fn an_open_server_accepts_addresses_and_configured_names() {
        assert_eq!(check(&open(), &["host: 192.168.1.5:8080"]), Ok(()));
        assert_eq!(check(&open(), &["host: [fe80::5]:8080"]), Ok(()));
        let mapped = "::ffff:0.0.0.0".parse().expect("an address");
        let mapped = AccessPolicy::default().listening_on(mapped);
        assert_eq!(check(&mapped, &["host: 192.168.1.5:8080"]), Ok(()));
        let unknown = check(&open(), &["host: nas.local"]);
        assert_eq!(unknown, Err(Refusal::ForeignHost));
        let named = open().with_host("NAS.local").expect("a name");
        let headers = ["host: nas.local:80", "origin: https://nas.local"];
        assert_eq!(check(&named, &headers), Ok(()));
        assert!(open().with_host("not a name").is_none());
    }

    #[test]
    fn a_star_accepts_every_host_but_no_other_origin() {
        let any = local().with_host("*").expect("a star");
        assert_eq!(check(&any, &["host: nas.local:80"]), Ok(()));
        assert_eq!(check(&any, &[]), Err(Refusal::ForeignHost));
        let page = ["host: nas.local", "origin: http://nas.local"];
        assert_eq!(check(&any, &page), Err(Refusal::ForeignOrigin));
    }

    #[test]
    fn only_local_pages_are_accepted_as_origin() {
        for origin in [
            "http://localhost:6274",
            "https://127.0.0.1",
            "http://[::1]:80",
            "http://localhost.:6274",
            "http://[::ffff:127.0.0.1]:6274",
        ] {
            let lines = ["host: localhost", &format!("origin: {origin}")];
            assert_eq!(check(&local(), &lines), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost.evil.com",
            "http://127.0.0.1.nip.io",
            "http://evil.example/@localhost",
            "file://localhost",
            "chrome-extension://localhost",
            "http://192.168.1.5",
        ] {
            let lines = ["host: localhost", &format!("origin: {origin}")];
            assert_eq!(
                check(&local(), &lines),
                Err(Refusal::ForeignOrigin),
                "{origin}"
            );
        }
        let two = [
            "host: localhost",
            "origin: http://localhost",
            "origin: null",
        ];
        assert_eq!(check(&local(), &two), Err(Refusal::ForeignOrigin));
    }

    #[test]
    fn the_whole_token_must_match() {
        let policy = local().with_token("correct horse");
        let check = |value: &str| {
            let line = format!("authorization: {value}");
            check(&policy, &["host: localhost", &line])
        };
        assert_eq!(check("Bearer correct horse"), Ok(()));
        assert_eq!(check("bearer  correct horse"), Ok(()));
        for wrong in [
            "Bearer correct hors",
            "Bearer correct horses",
            "Bearer CORRECT HORSE",
            "Bearer",
            "Bearer ",
            "Basic correct horse",
            "correct horse",
        ] {
            assert_eq!(check(wrong), Err(Refusal::WrongToken), "{wrong}");
        }
    }

    #[test]
    fn a_configured_token_is_required() {
        let policy = local().with_token("secret");
        let none = check(&policy, &["host: localhost"]);
        assert_eq!(none, Err(Refusal::MissingToken));
        let two = [
            "host: localhost",
            "authorization: Bearer secret",
            "authorization: Bearer secret",
        ];
        assert_eq!(check(&policy, &two), Err(Refusal::WrongToken));
        assert!(!format!("{policy:?}").contains("secret"));
    }
}

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
    /// Missing, repeated, or no host with an optional port (RFC 9112, section 3.2).
    InvalidHost,
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
        let host = exactly_one(headers, &HOST).flatten();
        self.check_authority(host.ok_or(Refusal::InvalidHost)?)?;
        // The request target may contain a host as well (RFC 9112, section 3.2.2).
        if let Some(authority) = uri.authority() {
            self.check_authority(authority.as_str())?;
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

    fn check_authority(&self, text: &str) -> Result<(), Refusal> {
        let authority = Authority::try_from(text).map_err(|_| Refusal::InvalidHost)?;
        // The parser accepts any text as port. A user name before the host is not valid here.
        let port = text.strip_prefix(authority.host());
        if !port.is_some_and(is_optional_port) {
            return Err(Refusal::InvalidHost);
        }
        match parse_host(authority.host()) {
            Some(host) if self.accepts_any_host || self.is_known_host(&host) => Ok(()),
            _ => Err(Refusal::ForeignHost),
        }
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

/// Whether `text` is empty, or a colon and a port; the number may be missing (RFC 3986, section 3.2.3).
fn is_optional_port(text: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok() && !port.starts_with('+');
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.is_empty() || is_port(port))
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
            vec!["host: 192.168.1.5:8080"],
            vec!["host: 0.0.0.0:8080"],
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
    fn invalid_host_is_refused_even_if_it_begins_with_a_known_one() {
        let any = || local().with_host("*").expect("a star");
        for lines in [
            vec![],
            vec!["host: "],
            vec!["host: a b"],
            vec!["host: localhost:evil.example"],
            vec!["host: localhost:8080x"],
            vec!["host: localhost:+80"],
            vec!["host: localhost:-1"],
            vec!["host: localhost:65536"],
            vec!["host: [::1]:8080x"],
            vec!["host: [::1]evil.example"],
            vec!["host: localhost@evil.example"],
            vec!["host: evil.example@localhost"],
            vec!["host: localhost", "host: evil.example"],
            vec!["host: localhost", "host: localhost"],
        ] {
            for policy in [local(), any()] {
                let result = check(&policy, &lines);
                assert_eq!(result, Err(Refusal::InvalidHost), "{lines:?}");
            }
        }
        assert_eq!(check(&local(), &["host: localhost:"]), Ok(()));
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

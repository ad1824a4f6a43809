//! The address of a model server as the user types it.

use url::{Host, Url};

/// Endings of host names that exist only in a local network.
const LOCAL_ENDINGS: [&str; 6] = [
    ".localhost",
    ".local",
    ".lan",
    ".home",
    ".internal",
    ".home.arpa",
];

/// Adds the scheme that an address lacks: `http://` for this machine and local networks, whose
/// servers rarely have a certificate, and `https://` otherwise, because a request may carry a key.
/// `None` if the address has a scheme or is not one.
pub fn with_scheme(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let is_address = !typed.is_empty() && !typed.contains(|c: char| c.is_whitespace());
    if !is_address || typed.contains("://") || typed.starts_with(['/', '$']) {
        return None;
    }
    let url = Url::parse(&format!("http://{typed}")).ok()?;
    let scheme = match is_local(&url.host()?) {
        true => "http",
        false => "https",
    };
    Some(format!("{scheme}://{typed}"))
}

fn is_local(host: &Host<&str>) -> bool {
    match host {
        // Only a local network resolves a name without a dot.
        Host::Domain(name) => {
            !name.contains('.') || LOCAL_ENDINGS.iter().any(|ending| name.ends_with(ending))
        }
        Host::Ipv4(address) => is_local_ipv4(address.octets()),
        Host::Ipv6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_local_ipv4(address.octets()),
            None => is_local_ipv6(address.segments()),
        },
    }
}

/// Loopback, private (RFC 1918), link-local, unspecified, and shared addresses (RFC 6598), which VPNs
/// such as Tailscale use.
fn is_local_ipv4(octets: [u8; 4]) -> bool {
    matches!(
        octets,
        [127 | 10, ..]
            | [192, 168, ..]
            | [172, 16..=31, ..]
            | [169, 254, ..]
            | [100, 64..=127, ..]
            | [0, 0, 0, 0]
    )
}

/// Loopback, unspecified, unique local (RFC 4193), and link-local addresses.
fn is_local_ipv6(segments: [u16; 8]) -> bool {
    matches!(
        segments,
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] | [0xfc00..=0xfdff, ..] | [0xfe80..=0xfebf, ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_hosts_get_http_and_others_https() {
        for (typed, expected) in [
            ("localhost:1234", Some("http://localhost:1234")),
            ("  localhost:1234/v1/ ", Some("http://localhost:1234/v1/")),
            ("192.168.1.5:11434", Some("http://192.168.1.5:11434")),
            ("10.0.0.1", Some("http://10.0.0.1")),
            ("172.16.0.1", Some("http://172.16.0.1")),
            ("172.32.0.1", Some("https://172.32.0.1")),
            ("100.100.1.1:80", Some("http://100.100.1.1:80")),
            ("0.0.0.0:8080", Some("http://0.0.0.0:8080")),
            ("[::1]:8080", Some("http://[::1]:8080")),
            ("[fd00::1]", Some("http://[fd00::1]")),
            ("[2001:db8::1]", Some("https://[2001:db8::1]")),
            ("nas:11434", Some("http://nas:11434")),
            ("Studio.local:1234", Some("http://Studio.local:1234")),
            ("api.example.com/v1", Some("https://api.example.com/v1")),
            ("8.8.8.8:80", Some("https://8.8.8.8:80")),
            ("https://example.com", None),
            ("ftp://example.com", None),
            ("", None),
            ("not an address", None),
            ("${BASE_URL}", None),
            ("a:b:c", None),
        ] {
            assert_eq!(with_scheme(typed).as_deref(), expected, "{typed:?}");
        }
    }
}

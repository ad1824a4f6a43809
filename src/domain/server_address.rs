//! The address of a model server as the user types it.

use super::HostScope;
use url::{Host, Url};

/// Endings of host names that exist only in a local network.
const LOCAL_ENDINGS: [&str; 5] = [".local", ".lan", ".home", ".internal", ".home.arpa"];

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
    use HostScope::{CarrierGradeNat, LikelyLoopback, LinkLocal, Loopback, Private, Unspecified};
    match (HostScope::of_host(host), host) {
        (Some(scope), _) => matches!(
            scope,
            Loopback | LikelyLoopback | Private | LinkLocal | CarrierGradeNat | Unspecified
        ),
        // Only a local network resolves a name without a dot.
        (None, Host::Domain(name)) => {
            let qualified = name.strip_suffix('.').unwrap_or(name);
            !name.contains('.')
                || LOCAL_ENDINGS
                    .iter()
                    .any(|ending| qualified.ends_with(ending))
        }
        (None, _) => false,
    }
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
            ("studio.local.", Some("http://studio.local.")),
            ("localhost.:1234", Some("http://localhost.:1234")),
            ("app.localhost", Some("http://app.localhost")),
            ("[::ffff:10.0.0.1]", Some("http://[::ffff:10.0.0.1]")),
            ("[64:ff9b::a00:1]", Some("https://[64:ff9b::a00:1]")),
            ("nas.", Some("https://nas.")),
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

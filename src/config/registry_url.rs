//! Checks `registryUrl` in `config.json`.

use super::fields::FieldError;
use url::{Host, Url};

/// The address of an MCP registry: `https`, or `http` on this machine, without credentials.
pub(super) fn parse(text: &str) -> Result<Url, FieldError> {
    let example = "expected a URL such as `https://registry.example.com`";
    let url = Url::parse(text.trim())
        .map_err(|error| format!("`registryUrl` is not a URL: {error}; {example}"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Err("`registryUrl` must begin with `https://`, except on this machine".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`registryUrl` contains credentials, which are not accepted".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("`registryUrl` contains a `?` or `#`; give only the address".to_owned());
    }
    Ok(url)
}

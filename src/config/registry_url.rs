//! Checks `registryUrl` in `config.json`.

use super::fields::FieldError;
use crate::domain::HostScope;
use url::Url;

/// The address of an MCP registry: `https`, or `http` on this machine, without credentials.
pub(super) fn parse(text: &str) -> Result<Url, FieldError> {
    let example = "expected a URL such as `https://registry.example.com`";
    let url = Url::parse(text.trim())
        .map_err(|error| format!("`registryUrl` is not a URL: {error}; {example}"))?;
    let is_local = HostScope::of_url(&url) == Some(HostScope::Loopback);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_may_serve_the_registry_unencrypted() {
        for url in [
            "http://localhost:8080",
            "http://LOCALHOST./",
            "http://127.1",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "https://registry.example.com/v0",
            "https://10.0.0.1/",
        ] {
            assert!(parse(url).is_ok(), "{url}");
        }
        for url in [
            "http://registry.example.com",
            "http://10.0.0.1",
            "http://0.0.0.0",
            "http://app.localhost",
            "http://localhost..",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "ftp://localhost",
        ] {
            let error = parse(url).expect_err(url);
            assert!(error.contains("must begin with `https://`"), "{error}");
        }
    }
}

//! Remote endpoints of an entry, turned into URLs with headers.

use super::template::Input;
use crate::domain::server::RemoteTransport;
use crate::domain::{HostScope, NewServerLaunch};
use serde::Deserialize;
use std::collections::BTreeMap;
use url::Url;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Remote {
    #[serde(rename = "type")]
    kind: String,
    url: String,
    headers: Option<Vec<Header>>,
    variables: Option<BTreeMap<String, Input>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Header {
    name: String,
    #[serde(flatten)]
    input: Input,
}

impl Remote {
    pub(super) fn transport(&self) -> Option<RemoteTransport> {
        match self.kind.as_str() {
            "streamable-http" => Some(RemoteTransport::Http),
            "sse" => Some(RemoteTransport::Sse),
            _ => None,
        }
    }

    /// Such as `http`.
    pub(super) fn kind(&self) -> &str {
        match self.kind.as_str() {
            "streamable-http" => "http",
            other => other,
        }
    }

    /// The launch and remarks about it, or why the remote cannot be used.
    pub(super) fn launch(&self) -> Result<(NewServerLaunch, Vec<String>), String> {
        let transport = self.transport();
        let transport = transport.ok_or_else(|| format!("transport `{}` is unknown", self.kind))?;
        let template = Input {
            variables: self.variables.clone(),
            ..Input::default()
        };
        let url = template.expand(self.url.trim())?;
        check_url(&url)?;
        let (mut headers, mut optional) = (Vec::new(), Vec::new());
        for Header { name, input } in self.headers.iter().flatten() {
            match input.resolve(name)? {
                Some(value) => headers.push((name.clone(), value)),
                None => optional.push(format!("`{name}`")),
            }
        }
        let mut remarks = Vec::new();
        if !optional.is_empty() {
            remarks.push(format!("Optional headers: {}.", optional.join(", ")));
        }
        let launch = NewServerLaunch::Url {
            url,
            transport,
            headers,
        };
        Ok((launch, remarks))
    }
}

/// Refuses URLs that are neither encrypted nor on this machine, link-local addresses, and URLs with
/// credentials.
fn check_url(url: &str) -> Result<(), String> {
    let with_values = url.replace("${", "").replace('}', "");
    let parsed = Url::parse(&with_values).map_err(|_| "its URL is not valid".to_owned())?;
    let scope = HostScope::of_url(&parsed);
    let is_here = scope == Some(HostScope::Loopback);
    let is_safe = parsed.scheme() == "https" || parsed.scheme() == "http" && is_here;
    if !is_safe {
        return Err("its URL does not begin with `https://`".to_owned());
    }
    if scope.map(HostScope::destination) == Some(HostScope::LinkLocal) {
        return Err(
            "its URL is a link-local address, where cloud machines serve their credentials"
                .to_owned(),
        );
    }
    match parsed.username().is_empty() && parsed.password().is_none() {
        true => Ok(()),
        false => Err("its URL contains credentials".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_are_refused() {
        for url in [
            "https://169.254.169.254/latest/",
            "https://0xa9fea9fe/",
            "https://[fe80::1]/mcp",
            "https://[::ffff:169.254.169.254]/",
            "https://[64:ff9b::169.254.169.254]/",
            "https://[2002:a9fe:a9fe::1]/",
        ] {
            let refusal = check_url(url).expect_err(url);
            assert!(refusal.contains("link-local"), "{refusal}");
        }
        assert_eq!(check_url("https://192.0.2.1/mcp"), Ok(()));
    }
}

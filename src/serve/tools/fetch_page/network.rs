//! Connects to hosts whose addresses were checked. Without a proxy, a name is resolved once, and
//! the connection goes to the addresses that were checked; a second lookup could give others (DNS
//! rebinding). With a proxy, the proxy resolves names, so only addresses in URLs can be checked.

use super::address::refusal;
use crate::domain::{FetchHost, HostScope};
use crate::http_util::{CONNECT_TIMEOUT_SECONDS, is_loopback, root_cause};
use crate::serve::tools::http_service::USER_AGENT;
use futures::future::BoxFuture;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::{Client, ClientBuilder, Proxy, redirect};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::{Host, Url};

const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Resolves host names.
pub trait NameResolver: Send + Sync {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'_, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the operating system.
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'_, io::Result<Vec<SocketAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

/// Resolves names and selects proxies for outgoing requests.
#[derive(Clone)]
pub struct Network {
    resolver: Arc<dyn NameResolver>,
    proxies: Arc<Matcher>,
}

impl Network {
    /// Proxies come from the environment and the system's settings.
    pub fn system() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            proxies: Arc::new(Matcher::from_system()),
        }
    }

    #[cfg(test)]
    pub fn scripted(resolver: Arc<dyn NameResolver>, proxies: Matcher) -> Self {
        let proxies = Arc::new(proxies);
        Self { resolver, proxies }
    }

    /// A client for requests to the host of `url`, and to no other. It follows no redirects.
    ///
    /// # Errors
    /// The host is missing, not found or not public, or the client cannot be built: a text for the
    /// model.
    pub async fn client_for(&self, url: &Url, allowed: &[FetchHost]) -> Result<Client, String> {
        let is_allowed = allowed.iter().any(|host| host.matches(url));
        let host = url.host().ok_or("The URL has no host.")?;
        if !is_allowed {
            check_literal(&host, url)?;
        }
        let builder = match self.proxy_for(url) {
            Some(proxy) => client_builder(true).proxy(to_reqwest(&proxy)?),
            None => {
                let builder = client_builder(url.scheme() == "https").no_proxy();
                match host {
                    Host::Domain(name) => {
                        let addresses = self.resolve(name, url, is_allowed).await?;
                        builder.resolve_to_addrs(name, &addresses)
                    }
                    Host::Ipv4(_) | Host::Ipv6(_) => builder,
                }
            }
        };
        builder.build().map_err(|error| {
            let why = root_cause(&error);
            format!("The page cannot be fetched, because HTTPS is not available here: {why}.")
        })
    }

    /// Requests to this machine bypass proxies.
    fn proxy_for(&self, url: &Url) -> Option<Intercept> {
        let uri = url.as_str().parse().ok()?;
        let proxy = self.proxies.intercept(&uri);
        proxy.filter(|_| !is_loopback(url))
    }

    /// The addresses of a name, all checked unless the user allows the host.
    async fn resolve(
        &self,
        name: &str,
        url: &Url,
        is_allowed: bool,
    ) -> Result<Vec<SocketAddr>, String> {
        let port = url.port_or_known_default().unwrap_or(0);
        let lookup = timeout(RESOLVE_TIMEOUT, self.resolver.resolve(name, port)).await;
        let addresses = match lookup {
            Ok(Ok(addresses)) if !addresses.is_empty() => addresses,
            Ok(_) => {
                return Err(format!(
                    "The host `{name}` was not found. Check the spelling of the URL."
                ));
            }
            Err(_) => {
                return Err(format!(
                    "Looking up the host `{name}` took too long. Try again later."
                ));
            }
        };
        // If only some addresses are public, the name is not trustworthy.
        let refused = addresses.iter().find_map(|address| refusal(address.ip()));
        match refused.filter(|_| !is_allowed) {
            Some(kind) => Err(refused_text(&format!("`{name}` resolves to {kind}"), url)),
            None => Ok(addresses),
        }
    }
}

/// Checks the host without a lookup, because the lookup may be left to a proxy.
fn check_literal(host: &Host<&str>, url: &Url) -> Result<(), String> {
    let address = match host {
        Host::Ipv4(address) => IpAddr::V4(*address),
        Host::Ipv6(address) => IpAddr::V6(*address),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            return match HostScope::of_host(host) {
                Some(_) => Err(refused_text(&format!("`{name}` is this machine"), url)),
                None => Ok(()),
            };
        }
    };
    match refusal(address) {
        Some(kind) => Err(refused_text(&format!("`{address}` is {kind}"), url)),
        None => Ok(()),
    }
}

fn refused_text(why: &str, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(0);
    format!(
        "The page was not fetched: {why}, and only public addresses are allowed. If the user wants \
         this page, they can add \"{host}:{port}\" to `builtIn.fetchHosts` in config.json."
    )
}

fn client_builder(needs_certificates: bool) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
        .redirect(redirect::Policy::none());
    // Loading certificates takes time.
    match needs_certificates {
        true => builder,
        false => builder.tls_certs_only([]),
    }
}

fn to_reqwest(proxy: &Intercept) -> Result<Proxy, String> {
    let unusable = |error: reqwest::Error| {
        let why = root_cause(&error);
        format!("The page cannot be fetched: the configured proxy is not usable: {why}.")
    };
    let address = proxy.uri().to_string();
    let reqwest_proxy = Proxy::all(address).map_err(unusable)?;
    Ok(match proxy.basic_auth() {
        Some(authorization) => reqwest_proxy.custom_http_auth(authorization.clone()),
        None => reqwest_proxy,
    })
}

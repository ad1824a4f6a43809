//! Why a request to a registry failed.

use url::Url;

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("The registry {url} cannot be reached: {why}.")]
    Unreachable { url: Url, why: String },
    #[error("The registry {url} did not answer within {seconds} seconds.")]
    TimedOut { url: Url, seconds: u64 },
    #[error("The registry {url} answered with status {status}.")]
    Status { url: Url, status: u16 },
    #[error("The registry {url} redirects to a different address, which is not followed.")]
    Redirected { url: Url },
    #[error("The response of the registry {url} is larger than {} MiB.", bytes_max >> 20)]
    TooLarge { url: Url, bytes_max: usize },
    #[error("{url} does not respond like an MCP registry: {why}.")]
    Malformed { url: Url, why: String },
    #[error("The registry {url} lists no server `{name}`.")]
    UnknownServer { url: Url, name: String },
}

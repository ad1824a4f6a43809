//! A sign-in to a remote server, as the user sees it.

use super::ServerId;

/// A sign-in that waits for the user. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRequest {
    pub server: ServerId,
    /// The URL of the server, without credentials and query.
    pub server_url: String,
    /// The host that the browser is sent to. International names are in Punycode.
    pub host: String,
    pub scopes: Vec<String>,
    /// The complete address to open.
    pub url: String,
    /// The address to which the browser returns.
    pub callback: String,
    /// Whether this program listens for the callback. If not, all callback ports are taken, and the
    /// user has to paste the address.
    pub is_listening: bool,
}

impl SignInRequest {
    /// Whether the host contains letters outside ASCII, which may imitate another name.
    pub fn has_punycode(&self) -> bool {
        self.host.split('.').any(|label| label.starts_with("xn--"))
    }
}

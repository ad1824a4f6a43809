//! Why a sign-in or a token request failed. No message contains a token, code or secret.

use crate::domain::Notice;
use std::time::Duration;

/// A URL from a server, shortened, without query.
pub type ShortenedUrl = String;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    #[error("The HTTP client could not be set up: {0}.")]
    ClientSetup(String),
    #[error("`{url}` cannot be reached: {why}.")]
    Unreachable { url: ShortenedUrl, why: String },
    #[error("`{url}` did not answer within {} s.", .after.as_secs())]
    Timeout { url: ShortenedUrl, after: Duration },
    #[error("`{url}` sent more than {} KiB.", .bytes_max >> 10)]
    TooLarge { url: ShortenedUrl, bytes_max: usize },
    #[error("`{0}` redirects, which is not allowed here.")]
    Redirect(ShortenedUrl),
    #[error("`{0}` is not an https address, so nothing was sent to it.")]
    NotHttps(ShortenedUrl),
    #[error(
        "`{0}` is an address of this machine or of a private network, but the server is public."
    )]
    PrivateAddress(ShortenedUrl),
    #[error(
        "`{0}` is a link-local address, where cloud machines serve their credentials, so nothing \
         was sent to it."
    )]
    LinkLocalAddress(ShortenedUrl),
    #[error("`{url}` sent an answer that is not valid HTTP: {why}.")]
    InvalidResponse { url: ShortenedUrl, why: String },
    #[error("`{url}` answered with HTTP status {status}{reason}.")]
    Status {
        url: ShortenedUrl,
        status: u16,
        reason: String,
    },
    #[error("`{url}` did not send the expected JSON: {why}.")]
    InvalidDocument { url: ShortenedUrl, why: String },
    #[error("`{url}` should contain its metadata, but answered with {received}.")]
    NoMetadata { url: ShortenedUrl, received: String },
    #[error("Its metadata is for `{named}`, which is a different server.")]
    ResourceMismatch { named: ShortenedUrl },
    #[error("Its authorization server calls itself `{named}` instead of `{expected}`.")]
    IssuerMismatch {
        named: ShortenedUrl,
        expected: ShortenedUrl,
    },
    #[error("Its authorization server is `{named}`, but `{expected}` was expected.")]
    UnexpectedIssuer {
        named: ShortenedUrl,
        expected: ShortenedUrl,
    },
    #[error("It does not announce an authorization server.")]
    NoAuthorizationServer,
    #[error(
        "Its authorization server does not support PKCE with S256, so a stolen code could be used."
    )]
    NoPkce,
    #[error("Its authorization server does not support signing in with a code.")]
    NoCodeFlow,
    #[error("Its authorization server does not let programs register themselves.")]
    NoRegistration,
    #[error("The answer belongs to a different sign-in.")]
    WrongState,
    #[error("The address contains `{0}` twice, so it is not clear which one counts.")]
    RepeatedParameter(String),
    #[error("The answer does not come from the expected authorization server.")]
    WrongIssuer,
    #[error("This is not the address that the browser was sent to; it begins with `{0}`.")]
    NotTheCallback(String),
    #[error("The address contains no authorization code.")]
    NoCode,
    #[error("The authorization server refused: {0}.")]
    Refused(String),
    #[error("The authorization server sent no usable access token: {0}.")]
    UnusableToken(&'static str),
    #[error("It still asks for the scopes {scopes} after {attempts} sign-ins.")]
    ScopeNotGranted { scopes: String, attempts: u32 },
    #[error("Nobody signed in within {} minutes.", .0.as_secs() / 60)]
    SignInTimeout(Duration),
    #[error("`auth.json` {0}.")]
    CredentialFile(String),
    #[error("The private key cannot be used: {0}.")]
    PrivateKey(&'static str),
    #[error("It is a program on this machine, which has no URL to sign in to.")]
    NotRemote,
    #[error("It is switched off.")]
    SwitchedOff,
    #[error("Its entry sends an `Authorization` header, so it does not use sign-in.")]
    HasHeader,
}

impl OAuthError {
    /// Whether the grant will yield no usable token however often it is sent, so that only a new
    /// sign-in helps.
    pub fn is_final_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::UnusableToken(_))
    }

    /// Whether only the pasted or received callback was wrong, so that another one may succeed.
    pub fn is_wrong_callback(&self) -> bool {
        matches!(
            self,
            Self::WrongState | Self::RepeatedParameter(_) | Self::NotTheCallback(_) | Self::NoCode
        )
    }

    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoRegistration => {
                "Register a client with its provider and set `clientId` in mcp-servers.json."
            }
            Self::NoAuthorizationServer => {
                "If it needs an access token, set the header `Authorization` in `headers` of its \
                 entry in mcp-servers.json."
            }
            Self::ScopeNotGranted { .. } => "Check with its provider which scopes you may have.",
            Self::NotTheCallback(_) | Self::NoCode => {
                "Copy the whole address from the browser's address bar."
            }
            Self::Unreachable { .. } | Self::Timeout { .. } => "Check the network and try again.",
            Self::UnexpectedIssuer { .. } => {
                "If the provider has moved, set `issuer` in mcp-servers.json."
            }
            Self::HasHeader => "Remove the header from mcp-servers.json to sign in.",
            Self::SwitchedOff => "Switch it on first.",
            _ => return None,
        })
    }

    /// The notice of a failed sign-in to `server`, a sanitized name.
    pub fn notice(&self, server: &str) -> Notice {
        let notice = Notice::failure(format!("Signing in to server `{server}` failed."))
            .with_reason(self.to_string());
        match self.advice() {
            Some(advice) => notice.with_advice(advice.to_owned()),
            None => notice,
        }
    }
}

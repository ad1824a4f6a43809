//! Errors of remote servers. No message contains the query of a URL or the value of a header.

use reqwest::StatusCode;
use std::time::Duration;

/// JSON-RPC code of the errors that we create ourselves, for example from an HTTP status; servers
/// do not use it.
pub const SYNTHETIC_ERROR_CODE: i32 = 0;
/// In the data of such an error: whether the status was 404, 405 or 410.
pub const IS_NOT_FOUND_KEY: &str = "isNotFound";

/// The origin and path of a URL, without secrets.
pub type DisplayUrl = String;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("The HTTP client could not be set up: {0}.")]
    ClientSetup(String),
    #[error(
        "The header `{name}` of its entry cannot be sent: its {part} contains a character that \
         HTTP does not allow."
    )]
    InvalidHeader { name: String, part: &'static str },
    #[error("The host of `{0}` was not found.")]
    Unresolved(DisplayUrl),
    #[error("Nothing listens at `{0}`: the connection was refused.")]
    Refused(DisplayUrl),
    #[error("`{url}` did not accept a connection within {seconds} s.")]
    ConnectTimeout { url: DisplayUrl, seconds: u64 },
    #[error("The TLS connection to `{url}` failed: {why}.")]
    Tls { url: DisplayUrl, why: String },
    #[error("`{url}` cannot be reached: {why}.")]
    Unreachable { url: DisplayUrl, why: String },
    #[error("It closed the connection without an answer.")]
    Reset,
    #[error("Its answer is not valid HTTP: {0}.")]
    InvalidResponse(String),
    #[error("It did not answer within {} s.", .0.as_secs())]
    Timeout(Duration),
    #[error("Its answer was interrupted: {0}.")]
    BodyInterrupted(String),
    #[error(
        "It redirects to `{0}`, which is a different origin, so the redirect was not followed."
    )]
    CrossOriginRedirect(DisplayUrl),
    #[error("It redirects to `{0}` with HTTP status 303, which would drop the request.")]
    RedirectToGet(DisplayUrl),
    #[error("It redirects in a loop.")]
    RedirectLoop,
    #[error("It requires valid credentials (HTTP status 401{0}).")]
    Unauthorized(ServerMessage),
    #[error("It requires you to sign in (HTTP status 401).")]
    SignInRequired,
    #[error("It requires you to sign in again with more permissions: {0}.")]
    MoreScopesRequired(String),
    #[error("A new access token could not be obtained. {0}")]
    TokenRequestFailed(String),
    #[error("It denied access (HTTP status 403{0}).")]
    Forbidden(ServerMessage),
    #[error("There is no MCP server at `{url}` (HTTP status {status}{message}).")]
    NotFound {
        url: DisplayUrl,
        status: u16,
        message: ServerMessage,
    },
    #[error("It is limiting the rate of requests (HTTP status 429{message}{}).", retry_after_text(*.retry_after))]
    RateLimited {
        message: ServerMessage,
        retry_after: Option<Duration>,
    },
    #[error("It answered with HTTP status {status}{message}.")]
    Status {
        status: HttpStatus,
        message: ServerMessage,
    },
    #[error("It answered with a web page instead of MCP{0}.")]
    HtmlPage(ServerMessage),
    #[error("It answered with the content type `{0}`, which is not MCP.")]
    UnexpectedContentType(String),
    #[error("It did not answer with an event stream.")]
    NoEventStream,
    #[error("Its answer is not JSON{0}.")]
    NotJson(ServerMessage),
    #[error("Its answer is JSON, but not a JSON-RPC message: {0}.")]
    NotJsonRpc(String),
    #[error("It accepted the request, but did not answer it (HTTP status {0}).")]
    NoAnswer(HttpStatus),
    #[error("It sent a message of more than {} MB.", .0 >> 20)]
    MessageTooLong(usize),
    #[error("Its stream ended before the answer came.")]
    StreamEnded,
    #[error("Its answer belongs to a different request.")]
    MismatchedResponse,
    #[error("It sent no message endpoint within {} s.", .0.as_secs())]
    NoEndpoint(Duration),
    #[error("Its stream is one of streamable HTTP.")]
    StreamableStream,
    #[error("Its message endpoint `{0}` has a different origin, which is not allowed.")]
    ForeignEndpoint(DisplayUrl),
    #[error("Its message endpoint is not a valid URL.")]
    BadEndpoint,
    #[error("It closed its stream.")]
    StreamClosed,
    #[error("It no longer recognizes the session.")]
    SessionLost,
    #[error(
        "It supports neither HTTP+SSE nor streamable HTTP. Over HTTP+SSE: {sse} Over streamable HTTP: {http}"
    )]
    NeitherTransport {
        sse: Box<HttpError>,
        http: Box<HttpError>,
    },
}

/// Additional text from the server, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerMessage(pub String);

impl std::fmt::Display for ServerMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_str() {
            "" => Ok(()),
            text => write!(f, ": {text}"),
        }
    }
}

/// A status code, shown with its name if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpStatus(pub u16);

impl std::fmt::Display for HttpStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = StatusCode::from_u16(self.0).ok();
        match name.as_ref().and_then(StatusCode::canonical_reason) {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Describes the delay that the server requires (`Retry-After`), for the end of its message.
fn retry_after_text(retry_after: Option<Duration>) -> String {
    let Some(delay) = retry_after else {
        return String::new();
    };
    let text = match delay.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    };
    format!("; it asks to retry after {text}")
}

impl HttpError {
    /// Whether the error depends on the request; then a different handshake or transport may work.
    pub fn is_request_specific(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::HtmlPage(_)
            | Self::UnexpectedContentType(_)
            | Self::NoEventStream
            | Self::NotJson(_)
            | Self::NotJsonRpc(_)
            | Self::NoAnswer(_)
            | Self::NoEndpoint(_)
            | Self::StreamableStream
            | Self::BadEndpoint
            | Self::StreamEnded
            | Self::MismatchedResponse
            | Self::Timeout(_)
            | Self::BodyInterrupted(_)
            | Self::SessionLost
            | Self::Reset => true,
            Self::Status { status, .. } => status.0 != 503,
            _ => false,
        }
    }

    /// Whether the server failed (500), which some servers do for an unknown session, too.
    pub fn is_internal_error(&self) -> bool {
        matches!(self, Self::Status { status, .. } if status.0 == 500)
    }

    /// Whether the server could not be reached at all.
    pub fn is_connection_failure(&self) -> bool {
        matches!(
            self,
            Self::Unresolved(_)
                | Self::Refused(_)
                | Self::ConnectTimeout { .. }
                | Self::Tls { .. }
                | Self::Unreachable { .. }
        )
    }

    /// Whether the server requires a sign-in or other credentials.
    pub fn requires_sign_in(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized(_) | Self::SignInRequired | Self::MoreScopesRequired(_)
        )
    }

    /// Whether the server knows who asks but refuses access (403). Signing in would not help.
    pub fn is_access_denied(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }

    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unresolved(_)
            | Self::NotFound { .. }
            | Self::HtmlPage(_)
            | Self::NeitherTransport { .. } => {
                "Check `url` in mcp-servers.json. It must be the MCP endpoint itself, and \
                 often ends in `mcp` or `sse`."
            }
            Self::Refused(_) | Self::ConnectTimeout { .. } => {
                "Start the server, or correct `url` in mcp-servers.json."
            }
            Self::Tls { .. } => {
                "If the server does not use TLS, change `https://` to `http://` in `url` in mcp-servers.json. \
                 Otherwise this machine must trust its certificate."
            }
            Self::RedirectToGet(_) => {
                "If that is its endpoint, set it as `url` in mcp-servers.json."
            }
            Self::CrossOriginRedirect(_) => {
                "If you trust that address, set it as `url` in mcp-servers.json."
            }
            Self::Unauthorized(_) => {
                "Add the header it requires, such as `Authorization`, to `headers` of its \
                 entry in mcp-servers.json; `${NAME}` there inserts an environment variable."
            }
            Self::Forbidden(_) => {
                "Check the credentials in `headers` of its entry in mcp-servers.json, and whether \
                 you may use this server."
            }
            Self::NoEndpoint(_) => {
                "If it uses streamable HTTP, set `\"transport\": \"http\"` for it in \
                 mcp-servers.json."
            }
            Self::InvalidHeader { .. } => {
                "Correct `headers` in mcp-servers.json. A value must not contain line breaks or other \
                 control characters."
            }
            Self::RateLimited { .. } => "Try again later.",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_http_error_shows_status_name_and_server_message() {
        let error_text = |status, server_text: &str| {
            HttpError::Status {
                status: HttpStatus(status),
                message: ServerMessage(server_text.to_owned()),
            }
            .to_string()
        };
        assert_eq!(
            error_text(500, "boom"),
            "It answered with HTTP status 500 Internal Server Error: boom."
        );
        assert_eq!(error_text(599, ""), "It answered with HTTP status 599.");
    }
}

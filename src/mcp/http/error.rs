//! Errors of servers at a URL. No message contains the query of a URL or the value of a header.

use reqwest::StatusCode;
use std::time::Duration;

/// JSON-RPC code of errors that we create from an HTTP status; servers do not use it.
pub const SYNTHETIC_ERROR_CODE: i32 = 0;

/// Origin and path of a URL, without secrets.
pub type DisplayUrl = String;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("The HTTP client could not be set up: {0}.")]
    ClientSetup(String),
    #[error("The host of `{0}` is not known.")]
    Unresolved(DisplayUrl),
    #[error("Nothing listens at `{0}`: the connection was refused.")]
    Refused(DisplayUrl),
    #[error("`{at}` did not accept a connection within {seconds} s.")]
    ConnectTimeout { at: DisplayUrl, seconds: u64 },
    #[error("No secure connection to `{at}` could be made: {why}.")]
    Tls { at: DisplayUrl, why: String },
    #[error("`{at}` cannot be reached: {why}.")]
    Unreachable { at: DisplayUrl, why: String },
    #[error("It closed the connection without an answer.")]
    Reset,
    #[error("It did not begin to answer within {} s.", .0.as_secs())]
    Timeout(Duration),
    #[error("Its answer broke off: {0}.")]
    BodyInterrupted(String),
    #[error("It redirects to `{0}`, which is another origin and was not asked.")]
    CrossOriginRedirect(DisplayUrl),
    #[error("It redirects again and again.")]
    RedirectLoop,
    #[error("It does not know who is asking (HTTP status 401{0}).")]
    Unauthorized(ServerMessage),
    #[error("It refuses access (HTTP status 403{0}).")]
    Forbidden(ServerMessage),
    #[error("There is no MCP server at `{at}` (HTTP status {status}{message}).")]
    NotFound {
        at: DisplayUrl,
        status: u16,
        message: ServerMessage,
    },
    #[error("It has too much to do (HTTP status 429{message}{}).", retry_after_text(*.pause))]
    RateLimited {
        message: ServerMessage,
        pause: Option<Duration>,
    },
    #[error("It answered with HTTP status {status}{message}.")]
    Status {
        status: HttpStatus,
        message: ServerMessage,
    },
    #[error("It answered with a web page instead of MCP{0}.")]
    HtmlPage(ServerMessage),
    #[error("It answered with `{0}`, which is no MCP.")]
    UnexpectedContentType(String),
    #[error("It answered with what is no JSON{0}.")]
    NotJson(ServerMessage),
    #[error("It sent a message of more than {} MB.", .0 >> 20)]
    MessageTooLong(usize),
    #[error("Its stream ended before the answer came.")]
    StreamEnded,
    #[error("It answered another question than the one that was asked.")]
    MismatchedAnswer,
    #[error("It named no endpoint for messages within {} s.", .0.as_secs())]
    NoEndpoint(Duration),
    #[error("The endpoint that it names is at `{0}`, which is another origin and is refused.")]
    ForeignEndpoint(DisplayUrl),
    #[error("The endpoint that it names is no address.")]
    BadEndpoint,
    #[error("It closed its stream.")]
    StreamClosed,
    #[error("It no longer knows the session.")]
    SessionLost,
    #[error("It speaks neither HTTP+SSE ({sse}) nor streamable HTTP ({http}).")]
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

/// The delay that the server asks for (`Retry-After`), appended to its message.
fn retry_after_text(pause: Option<Duration>) -> String {
    let Some(pause) = pause else {
        return String::new();
    };
    let text = match pause.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    };
    format!("; it asks for a pause of {text}")
}

impl HttpError {
    /// Whether the error depends on the request; then another handshake or transport may work.
    pub fn is_request_specific(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::HtmlPage(_)
            | Self::UnexpectedContentType(_)
            | Self::NotJson(_)
            | Self::NoEndpoint(_)
            | Self::BadEndpoint
            | Self::StreamEnded
            | Self::MismatchedAnswer
            | Self::Timeout(_)
            | Self::BodyInterrupted(_)
            | Self::SessionLost
            | Self::Reset => true,
            Self::Status { status, .. } => status.0 != 503,
            _ => false,
        }
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

    /// Whether the server requires sign-in.
    pub fn wants_sign_in(&self) -> bool {
        matches!(self, Self::Unauthorized(_) | Self::Forbidden(_))
    }

    /// What the user can do.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unresolved(_)
            | Self::NotFound { .. }
            | Self::HtmlPage(_)
            | Self::NeitherTransport { .. } => {
                "Check `url` in mcp-servers.json: it is the address of the MCP endpoint itself, \
                 and often ends in `mcp` or `sse`."
            }
            Self::Refused(_) | Self::ConnectTimeout { .. } => {
                "Start it, or correct `url` in mcp-servers.json."
            }
            Self::Tls { .. } => {
                "If it speaks no TLS, `url` in mcp-servers.json begins with `http://`; otherwise \
                 its certificate has to be one that this computer trusts."
            }
            Self::CrossOriginRedirect(_) => {
                "If that address can be trusted, put it into `url` in mcp-servers.json."
            }
            Self::Unauthorized(_) => {
                "Put what it asks for, such as `Authorization`, into `headers` of its entry in \
                 mcp-servers.json; `${NAME}` there stands for a variable."
            }
            Self::Forbidden(_) => {
                "Check what `headers` of its entry in mcp-servers.json says of you, and whether \
                 you may use this server."
            }
            Self::NoEndpoint(_) => {
                "If it is a server of streamable HTTP, give it `\"transport\": \"http\"` in \
                 mcp-servers.json."
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
    fn status_name_and_server_message_are_shown() {
        let error_text = |status, said: &str| {
            HttpError::Status {
                status: HttpStatus(status),
                message: ServerMessage(said.to_owned()),
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

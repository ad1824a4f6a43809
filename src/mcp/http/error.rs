//! Why a server that is reached by URL cannot be talked to, in words. No URL in them
//! has its query, and no header its value.

use reqwest::StatusCode;
use std::time::Duration;

/// The JSON-RPC code of an error that is not the server's own: it was made from an HTTP status.
pub const NO_CODE: i32 = 0;

/// Where the request went, as far as it may be shown: origin and path.
pub type Place = String;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("The HTTP client could not be set up: {0}.")]
    NoClient(String),
    #[error("The host of `{0}` is not known.")]
    Unresolved(Place),
    #[error("Nothing listens at `{0}`: the connection was refused.")]
    Refused(Place),
    #[error("`{at}` did not accept a connection within {seconds} s.")]
    ConnectTimeout { at: Place, seconds: u64 },
    #[error("No secure connection to `{at}` could be made: {why}.")]
    Tls { at: Place, why: String },
    #[error("`{at}` cannot be reached: {why}.")]
    Unreachable { at: Place, why: String },
    #[error("It closed the connection without an answer.")]
    Reset,
    #[error("It did not begin to answer within {} s.", .0.as_secs())]
    Slow(Duration),
    #[error("Its answer broke off: {0}.")]
    BrokenOff(String),
    #[error("It redirects to `{0}`, which is another origin and was not asked.")]
    Redirected(Place),
    #[error("It redirects again and again.")]
    RedirectLoop,
    #[error("It does not know who is asking (HTTP status 401{0}).")]
    Unauthorized(Said),
    #[error("It refuses access (HTTP status 403{0}).")]
    Forbidden(Said),
    #[error("There is no MCP server at `{at}` (HTTP status {status}{said}).")]
    NotThere { at: Place, status: u16, said: Said },
    #[error("It has too much to do (HTTP status 429{said}{}).", asked_pause(*.pause))]
    Busy { said: Said, pause: Option<Duration> },
    #[error("It answered with HTTP status {status}{said}.")]
    Status { status: Status, said: Said },
    #[error("It answered with a web page instead of MCP{0}.")]
    WebPage(Said),
    #[error("It answered with `{0}`, which is no MCP.")]
    ContentType(String),
    #[error("It answered with what is no JSON{0}.")]
    NotJson(Said),
    #[error("It sent a message of more than {} MB.", .0 >> 20)]
    TooLong(usize),
    #[error("Its stream ended before the answer came.")]
    StreamEnded,
    #[error("It answered another question than the one that was asked.")]
    OtherAnswer,
    #[error("It named no endpoint for messages within {} s.", .0.as_secs())]
    NoEndpoint(Duration),
    #[error("The endpoint that it names is at `{0}`, which is another origin and is refused.")]
    ForeignEndpoint(Place),
    #[error("The endpoint that it names is no address.")]
    BadEndpoint,
    #[error("It closed its stream.")]
    StreamClosed,
    #[error("It no longer knows the session.")]
    SessionLost,
    #[error("It speaks neither HTTP+SSE ({sse}) nor streamable HTTP ({http}).")]
    Neither {
        sse: Box<HttpError>,
        http: Box<HttpError>,
    },
}

/// What a server said besides, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said(pub String);

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_str() {
            "" => Ok(()),
            words => write!(f, ": {words}"),
        }
    }
}

/// The number of a status, with its name where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u16);

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = StatusCode::from_u16(self.0).ok();
        match name.as_ref().and_then(StatusCode::canonical_reason) {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The pause that a server asks for, behind what it says (`Retry-After`).
fn asked_pause(pause: Option<Duration>) -> String {
    let Some(pause) = pause else {
        return String::new();
    };
    let words = match pause.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    };
    format!("; it asks for a pause of {words}")
}

impl HttpError {
    /// Does it tell something of the way in which the server was asked? Then another
    /// handshake, or another transport, may do better.
    pub fn is_about_the_question(&self) -> bool {
        match self {
            Self::NotThere { .. }
            | Self::WebPage(_)
            | Self::ContentType(_)
            | Self::NotJson(_)
            | Self::NoEndpoint(_)
            | Self::BadEndpoint
            | Self::StreamEnded
            | Self::OtherAnswer
            | Self::Slow(_)
            | Self::BrokenOff(_)
            | Self::SessionLost
            | Self::Reset => true,
            Self::Status { status, .. } => status.0 != 503,
            _ => false,
        }
    }

    /// Is it the way to the server that fails, whatever was asked?
    pub fn is_of_the_way(&self) -> bool {
        matches!(
            self,
            Self::Unresolved(_)
                | Self::Refused(_)
                | Self::ConnectTimeout { .. }
                | Self::Tls { .. }
                | Self::Unreachable { .. }
        )
    }

    /// Does it answer only those who have signed in?
    pub fn wants_sign_in(&self) -> bool {
        matches!(self, Self::Unauthorized(_) | Self::Forbidden(_))
    }

    /// What the person can do.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unresolved(_)
            | Self::NotThere { .. }
            | Self::WebPage(_)
            | Self::Neither { .. } => {
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
            Self::Redirected(_) => {
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
            Self::Busy { .. } => "Try again later.",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_named_and_what_was_said_follows() {
        let fault = |status, said: &str| {
            HttpError::Status {
                status: Status(status),
                said: Said(said.to_owned()),
            }
            .to_string()
        };
        assert_eq!(
            fault(500, "boom"),
            "It answered with HTTP status 500 Internal Server Error: boom."
        );
        assert_eq!(fault(599, ""), "It answered with HTTP status 599.");
    }
}

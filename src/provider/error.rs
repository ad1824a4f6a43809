//! Every way in which a model server fails. A [`FailureCause`] is what happened, as found by the
//! decoders and the HTTP layer; a [`ProviderError`] adds where. The wording is in
//! `error_messages`.

use super::error_messages;
use crate::domain::{ModelConfig, Notice, ProviderKind, Redactor, model::ApiKey, secrets};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Longer server messages are truncated to this many characters.
pub const SERVER_TEXT_CHARS_MAX: usize = 500;
/// If a server asks for a longer pause, the request is not repeated automatically.
pub const PAUSE_MAX: Duration = Duration::from_secs(120);

/// A failed request: what happened, and at which server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", error_messages::notice(.target, .cause, *.has_partial_reply).summary())]
pub struct ProviderError {
    pub target: Box<RequestTarget>,
    pub cause: FailureCause,
    /// Text or thinking arrived before the failure, and is kept.
    pub has_partial_reply: bool,
}

/// The server and model of a request, as a notice names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTarget {
    /// Scheme, host and port: never a path, a query or credentials.
    pub url: String,
    pub provider: ProviderKind,
    /// The model's name in config.json.
    pub name: String,
    /// The model's name on the server.
    pub model: String,
    pub has_key: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FailureCause {
    ConnectionRefused,
    /// The host name does not resolve.
    HostNotFound,
    ConnectTimeout,
    /// A request with a deadline got no answer in time.
    Timeout {
        seconds: u64,
    },
    /// Any other failure to connect: TLS, no route, not an HTTP server.
    Unreachable {
        why: String,
    },
    /// The connection was closed before the first byte of a response. The server may have
    /// received the request, so repeating it may be billed twice, but has no other effect.
    ConnectionReset,
    Redirected {
        to: String,
    },
    Status {
        status: u16,
        /// The server's own error message.
        message: Option<String>,
        retry_after: Option<Duration>,
        /// The requested path without its query, if the server has nothing there.
        path: Option<String>,
    },
    /// The model or its server setup does not support tools.
    ToolsUnsupported {
        status: u16,
        message: String,
    },
    /// Sizes in tokens, if the server reported them.
    ContextOverflow {
        sent: Option<u64>,
        limit: Option<u64>,
        message: String,
    },
    /// The stream ended without its end marker.
    ReplyCutOff,
    /// The reply had no content at all.
    EmptyReply,
    /// The server reported an error inside the stream.
    ErrorInReply {
        message: String,
    },
    /// The server reported inside the stream that it is overloaded.
    Overloaded {
        message: String,
    },
    /// The account has no credit left.
    NoCredit {
        status: u16,
        message: String,
    },
    Malformed(MalformedReply),
    MissingKey {
        variable: String,
    },
    UnusableKey {
        why: String,
    },
    /// The provider does not support this request; the scripted one has no server at all.
    Unsupported,
    InvalidBaseUrl {
        /// As configured, without credentials.
        given: String,
        why: String,
    },
    InvalidCaFile {
        path: PathBuf,
        why: String,
    },
    TlsUnavailable {
        why: String,
    },
    /// The script has fewer rounds than requests.
    ScriptExhausted {
        rounds: usize,
    },
}

/// How a reply violates the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MalformedReply {
    WebPage,
    NotJson {
        line: String,
    },
    /// JSON that does not belong to the protocol.
    UnexpectedJson {
        json: String,
    },
    NotUtf8,
    /// A line, an event or the whole reply is longer than this.
    TooLong {
        bytes_max: usize,
    },
    TooManyCalls {
        calls_max: usize,
    },
    /// The response to a request for the model list.
    NotAModelList,
}

impl ProviderError {
    /// Truncates server messages and removes secrets from them.
    pub fn new(model: &ModelConfig, cause: FailureCause) -> Self {
        let tidy = |text: String| bounded(&without_secrets(&text, model));
        Self {
            target: Box::new(RequestTarget::of(model)),
            cause: cause.map_texts(tidy),
            has_partial_reply: false,
        }
    }

    pub fn notice(&self) -> Notice {
        error_messages::notice(&self.target, &self.cause, self.has_partial_reply)
    }

    /// Whether the same request is worth repeating after a pause. Once text has arrived it is
    /// not, because the text would appear twice.
    pub fn is_transient(&self) -> bool {
        match self.cause {
            FailureCause::ConnectionReset => true,
            FailureCause::Overloaded { .. } => !self.has_partial_reply,
            FailureCause::Status { status, .. } => matches!(status, 429 | 503 | 529),
            _ => false,
        }
    }

    /// The pause that the server asked for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause {
            FailureCause::Status { retry_after, .. } => retry_after,
            _ => None,
        }
    }
}

impl RequestTarget {
    pub fn of(model: &ModelConfig) -> Self {
        let url = match Url::parse(&model.base_url) {
            Ok(url) if url.has_host() => origin(&url),
            _ => without_credentials(&model.base_url),
        };
        Self {
            url,
            provider: model.provider,
            name: model.name.clone(),
            model: model.model.clone(),
            has_key: matches!(model.api_key, ApiKey::Known(_)),
        }
    }
}

impl FailureCause {
    fn map_texts(self, tidy: impl Fn(String) -> String) -> Self {
        match self {
            Self::Status {
                status,
                message,
                retry_after,
                path,
            } => Self::Status {
                status,
                message: message.map(&tidy),
                retry_after,
                path: path.map(tidy),
            },
            Self::ToolsUnsupported { status, message } => Self::ToolsUnsupported {
                status,
                message: tidy(message),
            },
            Self::ContextOverflow {
                sent,
                limit,
                message,
            } => Self::ContextOverflow {
                sent,
                limit,
                message: tidy(message),
            },
            Self::ErrorInReply { message } => Self::ErrorInReply {
                message: tidy(message),
            },
            Self::Overloaded { message } => Self::Overloaded {
                message: tidy(message),
            },
            Self::NoCredit { status, message } => Self::NoCredit {
                status,
                message: tidy(message),
            },
            Self::Malformed(MalformedReply::NotJson { line }) => {
                Self::Malformed(MalformedReply::NotJson { line: tidy(line) })
            }
            Self::Malformed(MalformedReply::UnexpectedJson { json }) => {
                Self::Malformed(MalformedReply::UnexpectedJson { json: tidy(json) })
            }
            Self::Redirected { to } => Self::Redirected { to: tidy(to) },
            Self::Unreachable { why } => Self::Unreachable { why: tidy(why) },
            other => other,
        }
    }
}

pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// `given` without `user:secret@`. It may not even parse as a URL.
pub fn without_credentials(given: &str) -> String {
    let start = given.find("//").map_or(0, |at| at + 2);
    let (scheme, rest) = given.split_at(start);
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}{}", &rest[at + 1..]),
        None => given.to_owned(),
    }
}

/// Removes the API key and tokens in the URL from text that a server sent: an echoed secret must
/// not reach the screen, the log or a saved session. Patterns of secrets stay, because advice
/// such as "use Bearer auth" must remain readable.
pub fn without_secrets(text: &str, model: &ModelConfig) -> String {
    let key = match &model.api_key {
        ApiKey::Known(secret) => Some(secret.clone()),
        _ => None,
    };
    let values = secrets::url_secrets(&model.base_url).into_iter().chain(key);
    Redactor::new(values).redact_known_values(text)
}

fn bounded(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SERVER_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

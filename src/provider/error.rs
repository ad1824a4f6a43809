//! The errors of requests to model servers. Decoders and the HTTP layer report a
//! [`FailureCause`]; a [`ProviderError`] adds the server and model. The wording is in
//! `error_messages`.

use super::error_messages;
use crate::domain::{ModelConfig, Notice, ProviderKind, model::ApiKey};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Longer server messages are truncated to this many characters.
pub const SERVER_TEXT_CHARS_MAX: usize = 500;
/// If a server asks for a longer pause, the request is not retried automatically.
pub const PAUSE_MAX: Duration = Duration::from_secs(120);

/// A failed request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", error_messages::notice(.target, .cause, *.has_partial_reply).summary())]
pub struct ProviderError {
    pub target: Box<RequestTarget>,
    pub cause: FailureCause,
    /// Whether text or thinking arrived before the failure. If so, it is kept.
    pub has_partial_reply: bool,
}

/// The server and model of a request, as shown in notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTarget {
    /// Scheme, host and port: never a path, a query or credentials. A base URL that is not valid
    /// loses only its credentials.
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
    HostNotFound,
    ConnectTimeout,
    Timeout {
        seconds: u64,
    },
    /// Any other failure before a valid response, for example a TLS error or no route.
    Unreachable {
        why: String,
    },
    /// The connection was closed before the first byte of a response. If the server received the
    /// request anyway, a retry may be billed twice, but has no other effect.
    ConnectionReset,
    Redirected {
        to: String,
    },
    Status {
        status: u16,
        /// The server's own error message.
        message: Option<String>,
        retry_after: Option<Duration>,
        /// The requested path without its query. Set only if it does not exist on the server.
        path: Option<String>,
    },
    /// The model or its server setup does not support tools.
    ToolsUnsupported {
        status: u16,
        message: String,
    },
    /// An Ollama server passes requests for this model on to ollama.com, where it is not signed in.
    SignInRequired {
        url: String,
    },
    /// `sent` and `limit` are in tokens, and `None` if the server does not report them.
    ContextOverflow {
        sent: Option<u64>,
        limit: Option<u64>,
        message: String,
    },
    /// The stream ended without its end marker.
    ReplyCutOff,
    EmptyReply,
    ErrorInReply {
        message: String,
    },
    /// The server reported inside the stream that it is overloaded or limits requests.
    Overloaded {
        message: String,
    },
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
    /// The provider does not support this kind of request.
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
    /// Valid JSON that does not belong to the protocol.
    UnexpectedJson {
        json: String,
    },
    NotUtf8,
    /// A line, an event or the whole reply exceeds this limit.
    TooLong {
        bytes_max: usize,
    },
    TooManyCalls {
        calls_max: usize,
    },
    /// More blocks of text, thinking and calls than this.
    TooManyBlocks {
        blocks_max: usize,
    },
    /// A request for the model list was answered with something else.
    NotAModelList,
}

impl ProviderError {
    /// Truncates long texts of the server.
    pub fn new(model: &ModelConfig, cause: FailureCause) -> Self {
        let truncate = |text: String| truncated(&text);
        Self {
            target: Box::new(RequestTarget::of(model)),
            cause: cause.map_server_texts(truncate),
            has_partial_reply: false,
        }
    }

    pub fn notice(&self) -> Notice {
        error_messages::notice(&self.target, &self.cause, self.has_partial_reply)
    }

    /// Whether retrying the same request after a pause may succeed. Never true once text has
    /// arrived, because the text would appear twice.
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
    /// Applies `clean` to every text that may come from the server.
    pub(super) fn map_server_texts(self, clean: impl Fn(String) -> String) -> Self {
        match self {
            Self::Status {
                status,
                message,
                retry_after,
                path,
            } => Self::Status {
                status,
                message: message.map(&clean),
                retry_after,
                path: path.map(clean),
            },
            Self::ToolsUnsupported { status, message } => Self::ToolsUnsupported {
                status,
                message: clean(message),
            },
            Self::ContextOverflow {
                sent,
                limit,
                message,
            } => Self::ContextOverflow {
                sent,
                limit,
                message: clean(message),
            },
            Self::ErrorInReply { message } => Self::ErrorInReply {
                message: clean(message),
            },
            Self::Overloaded { message } => Self::Overloaded {
                message: clean(message),
            },
            Self::NoCredit { status, message } => Self::NoCredit {
                status,
                message: clean(message),
            },
            Self::Malformed(MalformedReply::NotJson { line }) => {
                Self::Malformed(MalformedReply::NotJson { line: clean(line) })
            }
            Self::Malformed(MalformedReply::UnexpectedJson { json }) => {
                Self::Malformed(MalformedReply::UnexpectedJson { json: clean(json) })
            }
            Self::Redirected { to } => Self::Redirected { to: clean(to) },
            Self::SignInRequired { url } => Self::SignInRequired { url: clean(url) },
            Self::Unreachable { why } => Self::Unreachable { why: clean(why) },
            other => other,
        }
    }
}

pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Removes `user:secret@` from a configured URL, which may be invalid.
pub fn without_credentials(url: &str) -> String {
    let authority_start = url.find("//").map_or(0, |slashes| slashes + 2);
    let (scheme, rest) = url.split_at(authority_start);
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at_sign) => format!("{scheme}{}", &rest[at_sign + 1..]),
        None => url.to_owned(),
    }
}

fn truncated(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SERVER_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Every way in which a model server fails. A [`Cause`] is what happened, as the
//! pure decoders and the HTTP layer find it; a [`Fault`] adds where. The words
//! for a person are in `error_messages`.

use super::error_messages;
use crate::domain::{ModelConfig, Notice, ProviderKind, Redactor, model::ApiKey, secrets};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The longest text of a server, in characters, that goes into a notice.
pub const SERVER_TEXT_CHARS_MAX: usize = 500;
/// A server that asks for a longer pause is not waited for: the person is told.
pub const PAUSE_MAX: Duration = Duration::from_secs(120);

/// A failure of one request: where and what. See S5.10 for the words a person gets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", error_messages::notice(.place, .cause, *.after_words).summary())]
pub struct Fault {
    pub place: Box<Place>,
    pub cause: Cause,
    /// Words or thinking came before it, and are kept.
    pub after_words: bool,
}

/// Who was asked, as a notice names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Scheme, host and port: never a path, a query or credentials.
    pub url: String,
    pub provider: ProviderKind,
    /// The model as the person knows it.
    pub name: String,
    /// The model as the server knows it.
    pub model: String,
    pub key_sent: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// Nothing listens there.
    Refused,
    /// The host's name has no address.
    Unresolved,
    ConnectTimeout,
    /// No answer to a question that has a deadline.
    Silent {
        seconds: u64,
    },
    /// Any other failure to connect: TLS, no route, not HTTP.
    Unreachable {
        why: String,
    },
    /// The connection was closed before the first byte of an answer. The server may have
    /// received the request: asking again may cost twice, but changes nothing.
    Reset,
    Redirected {
        to: String,
    },
    Status {
        status: u16,
        /// The server's own words.
        message: Option<String>,
        retry_after: Option<Duration>,
        /// What was asked for, without a query, where the server has nothing there.
        path: Option<String>,
    },
    /// The model, or the way it is run, takes no tools.
    NoTools {
        status: u16,
        message: String,
    },
    /// Tokens, where the server counted them.
    ContextOverflow {
        sent: Option<u64>,
        limit: Option<u64>,
        message: String,
    },
    /// The stream stopped with no end marker.
    Cut,
    /// The stream ended before it began.
    Empty,
    /// The server reported an error inside the stream.
    InStream {
        message: String,
    },
    /// The server reported inside the stream that it has too much to do.
    Busy {
        message: String,
    },
    /// The account that the key belongs to has nothing left to spend.
    NoCredit {
        status: u16,
        message: String,
    },
    Garbled(Garbled),
    MissingKey {
        variable: String,
    },
    UnusableKey {
        why: String,
    },
    /// A provider that is not reached over the network.
    Unsupported,
    BadUrl {
        /// As it is configured, without credentials.
        given: String,
        why: String,
    },
    BadCaFile {
        path: PathBuf,
        why: String,
    },
    /// The HTTP client could not be set up.
    NoClient {
        why: String,
    },
    /// A scripted provider was asked more often than its script has rounds.
    ScriptOver {
        rounds: usize,
    },
}

/// How an answer breaks the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Garbled {
    WebPage,
    NotJson {
        line: String,
    },
    /// JSON, and nothing that a model's server says.
    Foreign {
        json: String,
    },
    NotUtf8,
    /// A line, an event or the whole is longer than this many bytes.
    TooLong {
        bytes_max: usize,
    },
    TooManyCalls {
        calls_max: usize,
    },
    /// It was asked for its models, and this is no list of them.
    NoList,
}

impl Fault {
    /// Texts of the server are bounded, and the key is taken out of them.
    pub fn new(model: &ModelConfig, cause: Cause) -> Self {
        let tidy = |text: String| bounded(&without_secrets(&text, model));
        Self {
            place: Box::new(Place::of(model)),
            cause: cause.map_texts(tidy),
            after_words: false,
        }
    }

    /// What happened, why, and what to do.
    pub fn notice(&self) -> Notice {
        error_messages::notice(&self.place, &self.cause, self.after_words)
    }

    /// Is the same request worth sending again after a pause (S5.10)? Not once words
    /// came: they would come twice.
    pub fn is_transient(&self) -> bool {
        match self.cause {
            Cause::Reset => true,
            Cause::Busy { .. } => !self.after_words,
            Cause::Status { status, .. } => matches!(status, 429 | 503 | 529),
            _ => false,
        }
    }

    /// How long the server asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause {
            Cause::Status { retry_after, .. } => retry_after,
            _ => None,
        }
    }
}

impl Place {
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
            key_sent: matches!(model.api_key, ApiKey::Known(_)),
        }
    }
}

impl Cause {
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
            Self::NoTools { status, message } => Self::NoTools {
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
            Self::InStream { message } => Self::InStream {
                message: tidy(message),
            },
            Self::Busy { message } => Self::Busy {
                message: tidy(message),
            },
            Self::NoCredit { status, message } => Self::NoCredit {
                status,
                message: tidy(message),
            },
            Self::Garbled(Garbled::NotJson { line }) => {
                Self::Garbled(Garbled::NotJson { line: tidy(line) })
            }
            Self::Garbled(Garbled::Foreign { json }) => {
                Self::Garbled(Garbled::Foreign { json: tidy(json) })
            }
            Self::Redirected { to } => Self::Redirected { to: tidy(to) },
            Self::Unreachable { why } => Self::Unreachable { why: tidy(why) },
            other => other,
        }
    }
}

/// Scheme, host and port of an address.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// An address as it was written, which may not even parse, without `user:secret@`.
pub fn without_credentials(given: &str) -> String {
    let start = given.find("//").map_or(0, |at| at + 2);
    let (scheme, rest) = given.split_at(start);
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}{}", &rest[at + 1..]),
        None => given.to_owned(),
    }
}

/// Removes what a server was told in confidence from what it says: an echo of the key, or
/// of a token in the URL, must not reach the screen, the log or a saved conversation.
/// Patterns stay, since advice such as "use Bearer auth" must remain readable.
pub fn without_secrets(text: &str, model: &ModelConfig) -> String {
    let key = match &model.api_key {
        ApiKey::Known(secret) => Some(secret.clone()),
        _ => None,
    };
    let values = secrets::of_url(&model.base_url).into_iter().chain(key);
    Redactor::new(values).without_values(text)
}

fn bounded(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SERVER_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! A reply as a stream: connects, reads and decodes, all inside the consumer's
//! poll. No task is spawned, so dropping the stream ends everything it began.

use super::error::{Fault, without_secrets};
use super::http::Http;
use super::reply_builder::Piece;
use super::types::{Request, StreamPart};
use super::{anthropic, chat_completions, ollama};
use crate::domain::{ModelConfig, ProviderKind};
use crate::http_util::root_cause;
use futures::Stream;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long counts are waited for once the end of an answer was seen.
const AFTER_END: Duration = Duration::from_secs(5);
/// The most bytes of one answer that are kept for the log: more than a line of it
/// shows, so that what is hidden is never cut in two where it could be seen.
const LOGGED_BYTES_MAX: usize = 256 << 10;

/// The parts of one reply. After `End` or a fault nothing follows.
pub struct ReplyStream(BoxStream<'static, Result<StreamPart, Fault>>);

impl ReplyStream {
    pub(super) fn new(
        parts: impl Stream<Item = Result<StreamPart, Fault>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(parts))
    }
}

impl Stream for ReplyStream {
    type Item = Result<StreamPart, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

/// The decoder of one of the protocols.
#[derive(Debug)]
enum Decoder {
    Ollama(ollama::Decoder),
    Completions(Box<chat_completions::Decoder>),
    Anthropic(Box<anthropic::Decoder>),
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        match self {
            Self::Ollama(decoder) => decoder.push(bytes),
            Self::Completions(decoder) => decoder.push(bytes),
            Self::Anthropic(decoder) => decoder.push(bytes),
        }
    }

    fn finish(self) -> Vec<Piece> {
        match self {
            Self::Ollama(decoder) => decoder.finish(),
            Self::Completions(decoder) => decoder.finish(),
            Self::Anthropic(decoder) => decoder.finish(),
        }
    }

    fn is_settled(&self) -> bool {
        match self {
            // Their end comes with the counts, or after them.
            Self::Ollama(_) | Self::Anthropic(_) => false,
            Self::Completions(decoder) => decoder.is_settled(),
        }
    }
}

pub(super) fn reply(http: Arc<Http>, request: Request) -> ReplyStream {
    let reading = Reading {
        request,
        stage: Stage::Asking(http),
        parts: VecDeque::new(),
        has_words: false,
    };
    ReplyStream::new(stream::unfold(reading, Reading::next))
}

struct Reading {
    request: Request,
    stage: Stage,
    /// Parts that are decoded and not yet given out.
    parts: VecDeque<Result<StreamPart, Fault>>,
    /// Something came that a person can read.
    has_words: bool,
}

enum Stage {
    Asking(Arc<Http>),
    Answering(Box<Answering>),
    Over,
}

struct Answering {
    response: reqwest::Response,
    decoder: Decoder,
    tap: Tap,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<StreamPart, Fault>, Self)> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Some((part, self));
            }
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Asking(http) => self.ask(&http).await,
                Stage::Answering(answering) => self.read(answering).await,
                Stage::Over => return None,
            }
        }
    }

    async fn ask(&mut self, http: &Http) {
        let decoder = match self.request.model.provider {
            ProviderKind::Ollama => Decoder::Ollama(ollama::Decoder::default()),
            ProviderKind::Anthropic => Decoder::Anthropic(Box::default()),
            provider => Decoder::Completions(Box::new(chat_completions::Decoder::new(provider))),
        };
        match http.ask(&self.request).await {
            Ok(answer) => {
                let notices = answer.notices.into_iter().map(StreamPart::Notice);
                self.parts.extend(notices.map(Ok));
                self.stage = Stage::Answering(Box::new(Answering {
                    response: answer.response,
                    decoder,
                    tap: Tap::new(&self.request),
                }));
            }
            Err(fault) => {
                tracing::debug!("{fault}");
                self.parts.push_back(Err(fault));
            }
        }
    }

    /// Reads once. What was taken out of the stage goes back unless it is over.
    async fn read(&mut self, mut answering: Box<Answering>) {
        let read = answering.response.chunk();
        let chunk = if answering.decoder.is_settled() {
            tokio::time::timeout(AFTER_END, read)
                .await
                .unwrap_or(Ok(None))
        } else {
            read.await
        };
        // A connection that breaks has ended: the decoder knows whether that was
        // in the middle.
        let Ok(Some(bytes)) = chunk else {
            if let Err(fault) = &chunk {
                tracing::debug!("reading the answer failed: {}", root_cause(fault));
            }
            let Answering {
                decoder, mut tap, ..
            } = *answering;
            return self.give(decoder.finish(), &mut tap);
        };
        let pieces = answering.decoder.push(&bytes);
        let is_over = matches!(pieces.last(), Some(Err(_) | Ok(StreamPart::End(_))));
        if pieces.is_empty() {
            self.parts.push_back(Ok(StreamPart::Heartbeat));
        }
        self.give(pieces, &mut answering.tap);
        if !is_over {
            self.stage = Stage::Answering(answering);
        }
    }

    fn give(&mut self, pieces: Vec<Piece>, tap: &mut Tap) {
        for piece in pieces {
            tap.push(&piece);
            self.has_words |= piece.as_ref().is_ok_and(StreamPart::is_words);
            self.parts.push_back(piece.map_err(|cause| Fault {
                after_words: self.has_words,
                ..Fault::new(&self.request.model, cause)
            }));
        }
    }
}

/// Keeps an answer for the log, where the log is at debug (S12.1): what was read
/// out of it, joined, since in the raw events a secret may come in pieces that
/// nobody would recognise. It is written when the stream is dropped, so that an
/// interrupted answer is there as well.
struct Tap {
    said: Option<String>,
    /// What the end of `said` is.
    kind: &'static str,
    model: Arc<ModelConfig>,
}

impl Tap {
    fn new(request: &Request) -> Self {
        Self {
            said: tracing::enabled!(tracing::Level::DEBUG).then(String::new),
            kind: "",
            model: request.model.clone(),
        }
    }

    fn push(&mut self, piece: &Piece) {
        if self.said.is_none() {
            return;
        }
        match piece {
            Ok(StreamPart::Text(text)) => self.add("text", text),
            Ok(StreamPart::Thinking(text)) => self.add("thinking", text),
            Ok(StreamPart::Call(call)) => {
                let arguments = match &call.arguments {
                    Ok(arguments) => serde_json::Value::from(arguments.clone()).to_string(),
                    Err(raw) => raw.clone(),
                };
                self.kind = "";
                self.add("call", &format!("{} {arguments}", call.name));
            }
            Ok(StreamPart::Usage(usage)) => self.add("usage", &format!("{usage:?}")),
            Ok(StreamPart::End(reason)) => self.add("end", &format!("{reason:?}")),
            // A carry repeats thinking, and holds signatures that nobody reads.
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::Carry(_)) => {}
            Ok(StreamPart::StartedOver) => self.add("started over", ""),
            Err(cause) => self.add("fault", &format!("{cause:?}")),
        }
    }

    fn add(&mut self, kind: &'static str, words: &str) {
        let Some(said) = &mut self.said else {
            return;
        };
        if self.kind != kind {
            let gap = if said.is_empty() { "" } else { " | " };
            *said += &format!("{gap}{kind}: ");
            self.kind = kind;
        }
        let room = LOGGED_BYTES_MAX.saturating_sub(said.len());
        said.push_str(&words[..words.floor_char_boundary(room)]);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if let Some(said) = self.said.take() {
            let said = without_secrets(&said, &self.model);
            tracing::debug!("answer of `{}`: {said}", self.model.name);
        }
    }
}

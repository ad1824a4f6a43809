//! A reply as a stream: connects, reads and decodes, all inside the consumer's
//! poll. No task is spawned, so dropping the stream ends everything it began.

use super::adapter::ReplyDecoder;
use super::error::Fault;
use super::http_provider::HttpProvider;
use super::reply_builder::Piece;
use super::reply_log::ReplyLog;
use super::types::{Request, StreamPart};
use crate::http_util::innermost;
use futures::Stream;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long counts are waited for once the end of an answer was seen.
const AFTER_END: Duration = Duration::from_secs(5);

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

pub(super) fn reply(http: Arc<HttpProvider>, request: Request) -> ReplyStream {
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
    Asking(Arc<HttpProvider>),
    Answering(Box<Answering>),
    Over,
}

struct Answering {
    response: reqwest::Response,
    decoder: Box<dyn ReplyDecoder>,
    log: ReplyLog,
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

    async fn ask(&mut self, http: &HttpProvider) {
        match http.open_reply(&self.request).await {
            Ok(open) => {
                let notices = open.notices.into_iter().map(StreamPart::Notice);
                self.parts.extend(notices.map(Ok));
                self.stage = Stage::Answering(Box::new(Answering {
                    response: open.response,
                    decoder: open.decoder,
                    log: ReplyLog::new(&self.request),
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
                tracing::debug!("reading the answer failed: {}", innermost(fault));
            }
            let Answering {
                decoder, mut log, ..
            } = *answering;
            return self.give(decoder.finish(), &mut log);
        };
        let pieces = answering.decoder.push(&bytes);
        let is_over = matches!(pieces.last(), Some(Err(_) | Ok(StreamPart::End(_))));
        if pieces.is_empty() {
            self.parts.push_back(Ok(StreamPart::Heartbeat));
        }
        self.give(pieces, &mut answering.log);
        if !is_over {
            self.stage = Stage::Answering(answering);
        }
    }

    fn give(&mut self, pieces: Vec<Piece>, log: &mut ReplyLog) {
        for piece in pieces {
            log.push(&piece);
            self.has_words |= piece.as_ref().is_ok_and(StreamPart::is_words);
            self.parts.push_back(piece.map_err(|cause| Fault {
                after_words: self.has_words,
                ..Fault::new(&self.request.model, cause)
            }));
        }
    }
}

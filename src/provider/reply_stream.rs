//! Streams a reply: connecting, reading and decoding all happen inside the consumer's poll. No
//! task is spawned, so dropping the stream stops everything.

use super::adapter::ReplyDecoder;
use super::error::ProviderError;
use super::http_provider::HttpProvider;
use super::reply_builder::ReplyPiece;
use super::reply_log::ReplyLog;
use super::types::{ChatRequest, StreamPart};
use crate::http_util::root_cause;
use futures::Stream;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long to wait for token counts after the reply has ended.
const COUNTS_TIME_MAX: Duration = Duration::from_secs(5);

/// The parts of one reply. Nothing follows `End` or an error.
pub struct ReplyStream(BoxStream<'static, Result<StreamPart, ProviderError>>);

impl ReplyStream {
    pub(super) fn new(
        parts: impl Stream<Item = Result<StreamPart, ProviderError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(parts))
    }
}

impl Stream for ReplyStream {
    type Item = Result<StreamPart, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

pub(super) fn stream_reply(http: Arc<HttpProvider>, request: ChatRequest) -> ReplyStream {
    let reader = ReplyReader {
        request,
        stage: ReplyStage::Asking(http),
        parts: VecDeque::new(),
        has_content: false,
    };
    ReplyStream::new(stream::unfold(reader, ReplyReader::next))
}

struct ReplyReader {
    request: ChatRequest,
    stage: ReplyStage,
    /// Decoded and not yet yielded.
    parts: VecDeque<Result<StreamPart, ProviderError>>,
    /// Text or thinking was yielded.
    has_content: bool,
}

enum ReplyStage {
    Asking(Arc<HttpProvider>),
    OpenBody(Box<OpenBody>),
    Over,
}

struct OpenBody {
    response: reqwest::Response,
    decoder: Box<dyn ReplyDecoder>,
    log: ReplyLog,
}

impl ReplyReader {
    async fn next(mut self) -> Option<(Result<StreamPart, ProviderError>, Self)> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Some((part, self));
            }
            match std::mem::replace(&mut self.stage, ReplyStage::Over) {
                ReplyStage::Asking(http) => self.ask(&http).await,
                ReplyStage::OpenBody(open) => self.read(open).await,
                ReplyStage::Over => return None,
            }
        }
    }

    async fn ask(&mut self, http: &HttpProvider) {
        match http.open_reply(&self.request).await {
            Ok(open) => {
                let notices = open.notices.into_iter().map(StreamPart::Notice);
                self.parts.extend(notices.map(Ok));
                self.stage = ReplyStage::OpenBody(Box::new(OpenBody {
                    response: open.response,
                    decoder: open.decoder,
                    log: ReplyLog::new(&self.request),
                }));
            }
            Err(error) => {
                tracing::debug!("{error}");
                self.parts.push_back(Err(error));
            }
        }
    }

    /// Reads one chunk. The stage was replaced by `Over`, and is restored unless the reply is
    /// over.
    async fn read(&mut self, mut open: Box<OpenBody>) {
        let read = open.response.chunk();
        let chunk = if open.decoder.is_settled() {
            tokio::time::timeout(COUNTS_TIME_MAX, read)
                .await
                .unwrap_or(Ok(None))
        } else {
            read.await
        };
        // A broken connection is treated like a closed one: the decoder knows whether the reply
        // was complete.
        let Ok(Some(bytes)) = chunk else {
            if let Err(error) = &chunk {
                tracing::debug!("reading the answer failed: {}", root_cause(error));
            }
            let OpenBody {
                decoder, mut log, ..
            } = *open;
            return self.give(decoder.finish(), &mut log);
        };
        let pieces = open.decoder.push(&bytes);
        let is_over = matches!(pieces.last(), Some(Err(_) | Ok(StreamPart::End(_))));
        if pieces.is_empty() {
            self.parts.push_back(Ok(StreamPart::Heartbeat));
        }
        self.give(pieces, &mut open.log);
        if !is_over {
            self.stage = ReplyStage::OpenBody(open);
        }
    }

    fn give(&mut self, pieces: Vec<ReplyPiece>, log: &mut ReplyLog) {
        for piece in pieces {
            log.push(&piece);
            self.has_content |= piece.as_ref().is_ok_and(StreamPart::is_content);
            self.parts.push_back(piece.map_err(|cause| ProviderError {
                has_partial_reply: self.has_content,
                ..ProviderError::new(&self.request.model, cause)
            }));
        }
    }
}

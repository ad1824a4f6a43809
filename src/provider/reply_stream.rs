//! Streams a reply. Connecting, reading and decoding all happen while the consumer polls the
//! stream. No task is spawned, so dropping the stream stops everything.

use super::adapter::ReplyDecoder;
use super::error::ProviderError;
use super::http_provider::HttpProvider;
use super::paced_body::PacedBody;
use super::reply_builder::DecodedPart;
use super::reply_log::ReplyLog;
use super::reply_secrets::ReplySecrets;
use super::types::{ChatRequest, StreamPart};
use crate::http_util::root_cause;
use futures::Stream;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long to wait for token counts or an end marker after the reply is complete.
const END_MARKER_TIMEOUT: Duration = Duration::from_secs(5);

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
        stage: ReplyStage::Requesting(http),
        pending: VecDeque::new(),
        has_content: false,
    };
    ReplyStream::new(stream::unfold(reader, ReplyReader::next))
}

struct ReplyReader {
    request: ChatRequest,
    stage: ReplyStage,
    /// Decoded but not yet yielded.
    pending: VecDeque<Result<StreamPart, ProviderError>>,
    /// Whether text or thinking was decoded.
    has_content: bool,
}

enum ReplyStage {
    Requesting(Arc<HttpProvider>),
    Reading(Box<OpenBody>),
    Done,
}

struct OpenBody {
    body: PacedBody,
    decoder: Box<dyn ReplyDecoder>,
    filter: PartFilter,
}

/// What every decoded part passes.
struct PartFilter {
    http: Arc<HttpProvider>,
    secrets: ReplySecrets,
    log: ReplyLog,
}

impl ReplyReader {
    async fn next(mut self) -> Option<(Result<StreamPart, ProviderError>, Self)> {
        loop {
            if let Some(part) = self.pending.pop_front() {
                return Some((part, self));
            }
            match std::mem::replace(&mut self.stage, ReplyStage::Done) {
                ReplyStage::Requesting(http) => self.send_request(http).await,
                ReplyStage::Reading(body) => self.read_burst(body).await,
                ReplyStage::Done => return None,
            }
        }
    }

    async fn send_request(&mut self, http: Arc<HttpProvider>) {
        match http.open_reply(&self.request).await {
            Ok(accepted) => {
                let notices = accepted.notices.into_iter().map(StreamPart::Notice);
                self.pending.extend(notices.map(Ok));
                self.stage = ReplyStage::Reading(Box::new(OpenBody {
                    body: PacedBody::new(accepted.response),
                    decoder: accepted.decoder,
                    filter: PartFilter {
                        secrets: ReplySecrets::new(&http.secrets),
                        http,
                        log: ReplyLog::new(&self.request),
                    },
                }));
            }
            Err(error) => {
                tracing::debug!("{error}");
                self.pending.push_back(Err(error));
            }
        }
    }

    /// Reads one burst. The caller has set the stage to `Done`; this sets it back to `Reading`
    /// unless the reply has ended.
    async fn read_burst(&mut self, mut body: Box<OpenBody>) {
        let next_burst = body.body.next_burst();
        let burst = if body.decoder.is_settled() {
            tokio::time::timeout(END_MARKER_TIMEOUT, next_burst)
                .await
                .unwrap_or(Ok(None))
        } else {
            next_burst.await
        };
        // A broken connection is treated like a closed one: the decoder knows whether the reply
        // was complete.
        let Ok(Some(bytes)) = burst else {
            if let Err(error) = &burst {
                tracing::debug!("reading the answer failed: {}", root_cause(error));
            }
            let OpenBody {
                decoder,
                mut filter,
                ..
            } = *body;
            return self.add_parts(decoder.finish(), &mut filter);
        };
        let parts = body.decoder.push(&bytes);
        let is_over = matches!(parts.last(), Some(Err(_) | Ok(StreamPart::End(_))));
        if parts.is_empty() {
            self.pending.push_back(Ok(StreamPart::Heartbeat));
        }
        self.add_parts(parts, &mut body.filter);
        if !is_over {
            self.stage = ReplyStage::Reading(body);
        }
    }

    /// Queues decoded parts without secrets, joining text that belongs together, and logs them.
    fn add_parts(&mut self, parts: Vec<DecodedPart>, filter: &mut PartFilter) {
        let mut clean_parts = Vec::with_capacity(parts.len());
        for part in parts {
            filter.secrets.pass(part, &mut clean_parts);
        }
        for part in clean_parts {
            filter.log.push(&part);
            self.has_content |= part.as_ref().is_ok_and(StreamPart::is_content);
            let part = part.map_err(|cause| ProviderError {
                has_partial_reply: self.has_content,
                ..filter.http.error(&self.request.model, cause)
            });
            match (self.pending.back_mut(), part) {
                (Some(Ok(StreamPart::Text(queued))), Ok(StreamPart::Text(text)))
                | (Some(Ok(StreamPart::Thinking(queued))), Ok(StreamPart::Thinking(text))) => {
                    queued.push_str(&text);
                }
                (_, part) => self.pending.push_back(part),
            }
        }
    }
}

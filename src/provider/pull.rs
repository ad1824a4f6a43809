//! The progress of a model download, independent of the provider.

use super::error::ProviderError;
use futures::Stream;
use futures::stream::BoxStream;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The progress of a pull, in bytes summed over the layers announced so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullProgress {
    pub status: String,
    pub done: u64,
    pub total: u64,
}

/// Runs a pull and yields its progress. The pull has succeeded if the stream ends without an
/// error. Dropping the stream stops the pull.
pub struct PullStream(BoxStream<'static, Result<PullProgress, ProviderError>>);

impl PullStream {
    pub(super) fn new(
        steps: impl Stream<Item = Result<PullProgress, ProviderError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(steps))
    }
}

impl Stream for PullStream {
    type Item = Result<PullProgress, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

//! A connection that fails when the other side stops reading.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Fails a write that makes no progress for `timeout`.
pub struct WriteTimeout<S> {
    inner: S,
    timeout: Duration,
    /// Set while a write waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub fn new(inner: S, timeout: Duration) -> Self {
        Self {
            inner,
            timeout,
            deadline: None,
        }
    }

    /// Turns a write that waits too long into an error.
    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let end = Instant::now() + self.timeout;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep_until(end)));
        match deadline.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.limit(context, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.limit(context, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.inner).poll_flush(context);
        self.limit(context, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn write_fails_once_the_reader_has_stopped() {
        let (mut reader, stream) = duplex(4);
        let mut stream = WriteTimeout::new(stream, TIMEOUT);
        let started = Instant::now();
        let writing = stream.write_all(b"more than four bytes");
        let reading = async {
            tokio::time::sleep(TIMEOUT / 2).await;
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes).await.expect("four bytes");
        };
        let (result, ()) = tokio::join!(writing, reading);
        let kind = result.map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::TimedOut));
        // The one read restarted the timeout.
        assert_eq!(started.elapsed(), TIMEOUT + TIMEOUT / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_but_steady_reader_gets_everything() {
        let (mut reader, stream) = duplex(1);
        let mut stream = WriteTimeout::new(stream, TIMEOUT);
        let writing = async move { stream.write_all(b"slowly").await };
        let reading = async {
            let mut text = Vec::new();
            while text.len() < 6 {
                tokio::time::sleep(TIMEOUT - Duration::from_secs(1)).await;
                text.push(reader.read_u8().await.expect("a byte"));
            }
            text
        };
        let (result, text) = tokio::join!(writing, reading);
        assert!(result.is_ok() && text == b"slowly");
    }
}

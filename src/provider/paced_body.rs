//! Reads the body of a streamed reply in bursts. A server sends each token in its own chunk;
//! reading each one immediately would wake the engine hundreds of times a second, although the
//! front end shows new text at most thirty times a second. Between bursts, the operating system
//! buffers the chunks.

use futures::FutureExt;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Minimum time between the starts of two bursts.
const BURST_INTERVAL: Duration = Duration::from_millis(33);
/// The same after a fast burst: text that arrives faster than anyone can read.
const FAST_BURST_INTERVAL: Duration = Duration::from_millis(60);
/// Minimum number of chunks in a fast burst, which corresponds to over 120 tokens a second.
const FAST_BURST_CHUNKS: usize = 4;
/// A burst ends at this size, and the next one starts immediately.
const BURST_BYTES_MAX: usize = 64 << 10;

pub(super) struct PacedBody {
    response: reqwest::Response,
    next_burst_at: Option<Instant>,
    /// The end of the body, or its error, if the last burst reached it.
    end: Option<Result<(), reqwest::Error>>,
}

impl PacedBody {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self {
            response,
            next_burst_at: None,
            end: None,
        }
    }

    /// Waits for the next burst and returns all data that has arrived; `None` at the end of the
    /// body. Bursts start at least [`BURST_INTERVAL`] apart, or [`FAST_BURST_INTERVAL`] after a
    /// fast one. The first burst, and one after a full one, is read immediately.
    ///
    /// # Errors
    /// The connection broke. All data that arrived before has already been returned.
    pub(super) async fn next_burst(&mut self) -> Result<Option<Vec<u8>>, reqwest::Error> {
        if let Some(end) = self.end.take() {
            return end.map(|()| None);
        }
        if let Some(next_burst_at) = self.next_burst_at {
            sleep_until(next_burst_at).await;
        }
        let Some(first) = self.response.chunk().await? else {
            return Ok(None);
        };
        let read_at = Instant::now();
        let mut burst = Vec::from(first);
        let mut chunk_count = 1;
        while burst.len() < BURST_BYTES_MAX && self.append_arrived(&mut burst).await {
            chunk_count += 1;
        }
        let interval = match chunk_count {
            ..FAST_BURST_CHUNKS => BURST_INTERVAL,
            _ => FAST_BURST_INTERVAL,
        };
        let is_full = burst.len() >= BURST_BYTES_MAX;
        self.next_burst_at = (!is_full).then_some(read_at + interval);
        Ok(Some(burst))
    }

    /// Appends the next chunk, if it has arrived; otherwise returns false.
    async fn append_arrived(&mut self, burst: &mut Vec<u8>) -> bool {
        let mut arrived = self.response.chunk().now_or_never();
        if arrived.is_none() {
            // The connection's task delivers one chunk each time it runs.
            run_other_tasks().await;
            arrived = self.response.chunk().now_or_never();
        }
        match arrived {
            Some(Ok(Some(chunk))) => {
                burst.extend_from_slice(&chunk);
                return true;
            }
            Some(end) => self.end = Some(end.map(|_| ())),
            None => {}
        }
        false
    }
}

/// Yields once to the tasks that are ready. Unlike `tokio::task::yield_now`, does not poll the
/// operating system for events.
async fn run_other_tasks() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    const CHUNK_INTERVAL: Duration = Duration::from_millis(3);

    /// A body of numbered chunks, sent a few milliseconds apart. `ending` follows the last one.
    async fn open(chunk_count: usize, ending: &'static [u8]) -> PacedBody {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut request = [0; 1024];
            let _ = socket.read(&mut request).await.expect("a request");
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            socket.write_all(head).await.expect("the client reads");
            for index in 0..chunk_count {
                let chunk = format!("4\r\n{index:04}\r\n");
                socket
                    .write_all(chunk.as_bytes())
                    .await
                    .expect("the client reads");
                tokio::time::sleep(CHUNK_INTERVAL).await;
            }
            socket.write_all(ending).await.expect("the client reads");
        });
        let response = reqwest::get(format!("http://{address}/")).await;
        PacedBody::new(response.expect("a response"))
    }

    fn numbers(count: usize) -> String {
        (0..count).map(|index| format!("{index:04}")).collect()
    }

    #[tokio::test]
    async fn many_chunks_become_few_bursts_in_order() {
        let started = Instant::now();
        let mut body = open(100, b"0\r\n\r\n").await;
        let (mut text, mut burst_count) = (String::new(), 0);
        while let Some(burst) = body.next_burst().await.expect("an unbroken body") {
            text += std::str::from_utf8(&burst).expect("text");
            burst_count += 1;
        }
        let interval_count = started.elapsed().div_duration_f64(BURST_INTERVAL) as usize;
        assert_eq!(text, numbers(100));
        assert!(
            burst_count <= interval_count + 2,
            "{burst_count} bursts in {interval_count} intervals"
        );
        assert!(burst_count > 2, "the bursts came while the body was sent");
    }

    #[tokio::test]
    async fn everything_before_a_broken_chunk_is_returned_first() {
        let mut body = open(20, b"not a chunk").await;
        let mut text = String::new();
        let error = loop {
            match body.next_burst().await {
                Ok(Some(burst)) => text += std::str::from_utf8(&burst).expect("text"),
                Ok(None) => panic!("the break was taken for an end"),
                Err(error) => break error,
            }
        };
        assert_eq!(text, numbers(20), "{error}");
    }
}

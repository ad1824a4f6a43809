//! Reads request bodies with limits on size, time and total memory.

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, Interval, interval_at, timeout};

use super::response::{self, Response};

/// Bodies up to this size need no share of the budget, so large bodies never delay small ones.
const SMALL_BODY_BYTES: usize = 16 << 10;
/// Memory for larger bodies that are being read.
const LARGE_BODIES_BYTES: usize = 32 << 20;

/// While other bodies wait for memory, a large body that is being read must deliver
/// [`PROGRESS_BYTES`] in each [`PROGRESS_INTERVAL`], or it is refused. Stalled bodies thus delay
/// others only briefly, and a slow one may take its full timeout if no other body waits.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
const PROGRESS_BYTES: usize = 64 << 10;

/// Reads request bodies. The large bodies of all connections share one memory budget.
#[derive(Debug)]
pub struct RequestBodyReader {
    bytes_max: usize,
    timeout: Duration,
    large_bodies: Semaphore,
    /// Large bodies that wait for memory.
    waiting: AtomicUsize,
}

#[derive(Debug)]
enum BodyError {
    TooLarge,
    TimedOut,
    TooSlow,
    Broken,
}

/// A body, and its share of the budget if it needed one.
pub struct ReadBody<'a> {
    pub bytes: Bytes,
    _permit: Option<SemaphorePermit<'a>>,
}

impl RequestBodyReader {
    pub fn new(bytes_max: usize, timeout: Duration) -> Self {
        let count = (LARGE_BODIES_BYTES / bytes_max.max(1)).max(1);
        Self {
            bytes_max,
            timeout,
            large_bodies: Semaphore::new(count),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Reads a JSON body.
    ///
    /// # Errors
    /// The response for a wrong type, a body that is too large, or one that does not arrive.
    pub async fn read_json<B: Body<Data = Bytes>>(
        &self,
        headers: &HeaderMap,
        body: B,
    ) -> Result<ReadBody<'_>, Response> {
        // Web pages can send some other types to any server without a CORS preflight request.
        if !is_json(headers) {
            return Err(response::closing(response::text(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Send JSON with the header Content-Type: application/json.",
            )));
        }
        let read = timeout(self.timeout, self.read(headers, body)).await;
        let error = match read.unwrap_or(Err(BodyError::TimedOut)) {
            Ok(body) => return Ok(body),
            Err(error) => error,
        };
        let (status, sentence) = match error {
            BodyError::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The body is larger than {} bytes.", self.bytes_max),
            ),
            BodyError::TimedOut => (
                StatusCode::REQUEST_TIMEOUT,
                format!(
                    "The body did not arrive within {} seconds.",
                    self.timeout.as_secs()
                ),
            ),
            BodyError::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "The body arrived too slowly while other requests were waiting. Try again."
                    .to_owned(),
            ),
            BodyError::Broken => (
                StatusCode::BAD_REQUEST,
                "The body is incomplete.".to_owned(),
            ),
        };
        // The rest of the body is not worth reading.
        Err(response::closing(response::text(status, &sentence)))
    }

    async fn read<B: Body<Data = Bytes>>(
        &self,
        headers: &HeaderMap,
        body: B,
    ) -> Result<ReadBody<'_>, BodyError> {
        let length = headers.get(CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.bytes_max as u64) {
            return Err(BodyError::TooLarge);
        }
        let (mut body, mut bytes, mut share) = (pin!(body), BytesMut::new(), None::<Share<'_>>);
        loop {
            let frame = match &mut share {
                None => body.frame().await,
                Some(share) => tokio::select! {
                    frame = body.frame() => frame,
                    () = self.wait_until_too_slow(share, bytes.len()) => return Err(BodyError::TooSlow),
                },
            };
            let Some(frame) = frame else {
                break;
            };
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
                continue;
            };
            let size = bytes.len() + data.len();
            if size > self.bytes_max {
                return Err(BodyError::TooLarge);
            }
            if size > SMALL_BODY_BYTES && share.is_none() {
                share = self.wait_for_share(size).await;
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ReadBody {
            bytes: bytes.freeze(),
            _permit: share.map(|share| share.permit),
        })
    }

    async fn wait_for_share(&self, received: usize) -> Option<Share<'_>> {
        let _waiting = Waiting::new(&self.waiting);
        Some(Share {
            permit: self.large_bodies.acquire().await.ok()?,
            ticks: interval_at(Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL),
            received,
        })
    }

    /// Returns once a body has been too slow while others were waiting. `received` is its size so
    /// far.
    async fn wait_until_too_slow(&self, share: &mut Share<'_>, received: usize) {
        loop {
            share.ticks.tick().await;
            let is_slow = received - share.received < PROGRESS_BYTES;
            share.received = received;
            if is_slow && self.waiting.load(Ordering::Relaxed) > 0 {
                return;
            }
        }
    }
}

/// A share of the memory for large bodies.
struct Share<'a> {
    permit: SemaphorePermit<'a>,
    ticks: Interval,
    /// The size of the body at the last tick.
    received: usize,
}

/// Counts a body that waits for memory.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;
    use http_body::Frame;
    use http_body_util::StreamBody;
    use std::convert::Infallible;

    const SECOND: Duration = Duration::from_secs(1);

    fn reader() -> RequestBodyReader {
        RequestBodyReader::new(1 << 20, 30 * SECOND)
    }

    /// Sends `count` chunks of `size` bytes, each after a pause.
    fn body(
        count: usize,
        size: usize,
        pause: Duration,
    ) -> impl Body<Data = Bytes, Error = Infallible> {
        let chunks = futures::stream::iter(0..count).then(move |_| async move {
            tokio::time::sleep(pause).await;
            Ok(Frame::data(Bytes::from(vec![b' '; size])))
        });
        StreamBody::new(chunks)
    }

    async fn read(reader: &RequestBodyReader, body: impl Body<Data = Bytes>) -> Result<usize, u16> {
        let mut headers = HeaderMap::new();
        headers.insert(
            CONTENT_TYPE,
            http::HeaderValue::from_static("application/json"),
        );
        let read = reader.read_json(&headers, body).await;
        read.map(|body| body.bytes.len())
            .map_err(|response| response.status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_bodies_make_room_for_others() {
        let reader = reader();
        let started = Instant::now();
        let stalled = (0..40).map(|_| read(&reader, body(2, 20_000, 20 * SECOND)));
        let quick = async {
            tokio::time::sleep(21 * SECOND).await;
            let size = read(&reader, body(10, 50_000, Duration::ZERO)).await;
            (size, started.elapsed())
        };
        let (_, (size, elapsed)) = tokio::join!(futures::future::join_all(stalled), quick);
        assert_eq!(size, Ok(500_000));
        assert!(elapsed <= 24 * SECOND, "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_body_keeps_its_share_while_others_wait() {
        let reader = reader();
        let pause = Duration::from_millis(400);
        let steady = (0..32).map(|_| read(&reader, body(20, 35_000, pause)));
        let waiting = read(&reader, body(1, 50_000, SECOND * 2));
        let (steady, waiting) = tokio::join!(futures::future::join_all(steady), waiting);
        assert_eq!(steady, vec![Ok(700_000); 32]);
        assert_eq!(waiting, Ok(50_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_may_take_its_time_if_nobody_waits() {
        let slow = read(&reader(), body(20, 2_000, SECOND)).await;
        assert_eq!(slow, Ok(40_000));
    }
}

//! Reads request bodies with limits on size, time and total memory.

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::response::{self, Response};

/// Bodies up to this size need no share of the budget, so large bodies never delay small ones.
const SMALL_BODY_BYTES: usize = 16 << 10;
/// Memory for larger bodies that are being read.
const LARGE_BODIES_BYTES: usize = 32 << 20;

/// Memory shared by the large bodies of all connections.
#[derive(Debug)]
pub struct RequestBodies {
    bytes_max: usize,
    timeout: Duration,
    large_bodies: Semaphore,
}

#[derive(Debug)]
enum BodyError {
    TooLarge,
    TimedOut,
    Broken,
}

/// A body and its share of the budget.
pub struct ReadBody<'a> {
    pub bytes: Bytes,
    _permit: Option<SemaphorePermit<'a>>,
}

impl RequestBodies {
    pub fn new(bytes_max: usize, timeout: Duration) -> Self {
        let count = (LARGE_BODIES_BYTES / bytes_max.max(1)).max(1);
        Self {
            bytes_max,
            timeout,
            large_bodies: Semaphore::new(count),
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
        // Web pages can send other types to any server without asking it first.
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
        let (mut body, mut bytes, mut permit) = (pin!(body), BytesMut::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
                continue;
            };
            let size = bytes.len() + data.len();
            if size > self.bytes_max {
                return Err(BodyError::TooLarge);
            }
            if size > SMALL_BODY_BYTES && permit.is_none() {
                permit = self.large_bodies.acquire().await.ok();
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ReadBody {
            bytes: bytes.freeze(),
            _permit: permit,
        })
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

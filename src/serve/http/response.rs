//! Builds HTTP responses.

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The explanation of a refused session.
pub const SESSIONS_IN_USE: &str = "All sessions are in use. Try again later.";
const BUSY_RETRY: Duration = Duration::from_secs(30);

/// The same type as in `rmcp`.
pub type Response = http::Response<BoxBody<Bytes, Infallible>>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => with_body(status, JSON, bytes.into()),
        Err(error) => {
            tracing::warn!("could not serialize a response: {error}");
            text(StatusCode::INTERNAL_SERVER_ERROR, "Internal error.")
        }
    }
}

/// Whether the body is a JSON document.
pub fn is_json(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE) == Some(&JSON)
}

pub fn text(status: StatusCode, sentence: &str) -> Response {
    with_body(status, TEXT, Bytes::from(format!("{sentence}\n")))
}

fn with_body(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Response {
    let mut response = http::Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

pub fn unauthorized(sentence: &str) -> Response {
    let value = HeaderValue::from_static("Bearer");
    with_header(
        text(StatusCode::UNAUTHORIZED, sentence),
        WWW_AUTHENTICATE,
        value,
    )
}

/// Refuses a method; `allowed` lists the accepted ones.
pub fn method_not_allowed(allowed: &'static str) -> Response {
    let sentence = format!("This endpoint accepts only {allowed}.");
    let response = text(StatusCode::METHOD_NOT_ALLOWED, &sentence);
    with_header(response, ALLOW, HeaderValue::from_static(allowed))
}

/// Adds the number of seconds after which to try again, at least one.
pub fn retry_after(response: Response, delay: Duration) -> Response {
    let seconds = delay.as_secs_f64().ceil().max(1.0);
    match HeaderValue::from_str(&format!("{seconds}")) {
        Ok(value) => with_header(response, RETRY_AFTER, value),
        Err(_) => response,
    }
}

/// Adds the time after which a busy server may have room again.
pub fn retry_when_free(response: Response) -> Response {
    retry_after(response, BUSY_RETRY)
}

/// Closes the connection after the response, for example because the request was not read to its
/// end.
pub fn closing(response: Response) -> Response {
    with_header(response, CONNECTION, HeaderValue::from_static("close"))
}

fn with_header(mut response: Response, name: HeaderName, value: HeaderValue) -> Response {
    response.headers_mut().insert(name, value);
    response
}

/// Makes a shutdown wait until the body has been sent or dropped.
pub fn in_flight(response: Response, token: TaskTrackerToken) -> Response {
    response.map(|inner| {
        InFlightBody {
            inner,
            _token: token,
        }
        .boxed()
    })
}

struct InFlightBody {
    inner: BoxBody<Bytes, Infallible>,
    _token: TaskTrackerToken,
}

impl Body for InFlightBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

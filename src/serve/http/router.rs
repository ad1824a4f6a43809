//! Checks a request and passes it to its endpoint.

use super::super::message::{self, RpcErrorResponse};
use super::access::Refusal;
use super::response::{self, Response};
use super::{HttpServer, head, plain, sse};
use crate::sync::lock_ignoring_poison;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::Body;
use http_body_util::{Empty, Full};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{ErrorCode, ErrorData};
use std::net::IpAddr;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// For the user who opens the server in a browser.
const ENDPOINTS: &str = "This is the MCP server of humble. Paths below this address: `mcp` \
    (streamable HTTP), `sse` (HTTP+SSE), `mcp/tools` and `mcp/tools/call` (plain JSON).";

/// Answers a request from `address`.
pub async fn respond<H, B>(server: &HttpServer<H>, address: IpAddr, request: Request<B>) -> Response
where
    H: ServerHandler + Clone,
    B: Body<Data = Bytes> + Send,
{
    let limits = server.options.limits;
    let admitted = lock_ignoring_poison(&server.rate).admit(Instant::now(), limits.rate_delay);
    match admitted {
        Ok(Duration::ZERO) => {}
        Ok(delay) => sleep(delay).await,
        Err(delay) => {
            let sentence = "Too many requests. Try again later.";
            let response = response::text(StatusCode::TOO_MANY_REQUESTS, sentence);
            return response::closing(response::retry_after(response, delay));
        }
    }
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    if head::bytes(method, uri, headers) > limits.head_bytes {
        return response::closing(head::too_large(limits.head_bytes));
    }
    let access = &server.options.access;
    if let Err(refusal) = access.check(request.uri(), request.headers()) {
        tracing::debug!("refused a request from {address}: {refusal:?}");
        return response::closing(refusal_response(refusal));
    }
    let (mut head, body) = request.into_parts();
    head::expand_wildcards(&mut head.headers);
    let path = head.uri.path();
    match (path.strip_prefix('/').unwrap_or(path), &head.method) {
        ("mcp", &Method::POST) => post_message(server, head, body).await,
        ("mcp", &Method::GET | &Method::DELETE) => {
            let request = Request::from_parts(head, Empty::<Bytes>::new());
            server.streamable.handle(request).await
        }
        ("mcp", _) => response::method_not_allowed("POST, GET, DELETE"),
        ("mcp/tools", &Method::GET) => plain::list(&server.calls),
        ("mcp/tools", _) | ("sse", _) | ("", _) if head.method != Method::GET => {
            response::method_not_allowed("GET")
        }
        ("mcp/tools/call", &Method::POST) => {
            let token = server.calls.running().token();
            let response = match server.body_reader.read_json(&head.headers, body).await {
                Ok(body) => plain::call(&server.calls, &body.bytes).await,
                Err(response) => response,
            };
            response::in_flight(response, token)
        }
        ("sse", _) => {
            let handler = server.handlers.sse.clone();
            server.sse.open(handler, &server.closing)
        }
        ("message", &Method::POST) => match server.body_reader.read_json(&head.headers, body).await
        {
            Ok(body) => server.sse.accept(head.uri.query(), &body.bytes).await,
            Err(response) => response,
        },
        ("mcp/tools/call" | "message", _) => response::method_not_allowed("POST"),
        ("", _) => response::text(StatusCode::OK, ENDPOINTS),
        _ => response::text(StatusCode::NOT_FOUND, ENDPOINTS),
    }
}

/// `POST /mcp`: reads and checks the message, then passes it to `rmcp`.
async fn post_message<H, B>(server: &HttpServer<H>, head: Parts, body: B) -> Response
where
    H: ServerHandler + Clone,
    B: Body<Data = Bytes> + Send,
{
    let token = server.calls.running().token();
    let body = match server.body_reader.read_json(&head.headers, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let message = match message::parse(&body.bytes) {
        Ok(message) => message,
        Err(error) => return sse::bad_message(&error),
    };
    if let Some(id) = message::session_request_id(&message)
        && !server.sessions.has_room()
    {
        return sessions_full(id);
    }
    if let Some(id) = session_id(&head.headers)
        && let Err(error) = server.sessions.check_request_id(id, &message)
    {
        return sse::bad_message(&error);
    }
    let is_endless = message::opens_endless_stream(&message);
    let refusal = message::method_refusal(&message);
    drop(message);
    let request = Request::from_parts(head, Full::new(body.bytes.clone()));
    let mut response = server.streamable.handle(request).await;
    if let Some(error) = refusal.filter(|_| response::is_json(&response))
        && response.status() == StatusCode::NOT_FOUND
    {
        response = response::json(StatusCode::NOT_FOUND, &error);
    }
    match is_endless {
        true => response,
        false => response::in_flight(response, token),
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}

fn sessions_full(id: serde_json::Value) -> Response {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, response::SESSIONS_IN_USE, None);
    let body = RpcErrorResponse::new(id, error);
    response::retry_when_free(response::json(StatusCode::SERVICE_UNAVAILABLE, &body))
}

fn refusal_response(refusal: Refusal) -> Response {
    match refusal {
        Refusal::InvalidHost => response::text(
            StatusCode::BAD_REQUEST,
            "The request needs exactly one Host header, with a host and at most a port.",
        ),
        Refusal::ForeignHost => response::text(
            StatusCode::FORBIDDEN,
            "This server does not answer to the name in the Host header. Start it with \
             --allow-host NAME to allow the name.",
        ),
        Refusal::ForeignOrigin => response::text(
            StatusCode::FORBIDDEN,
            "Web pages from this Origin may not use this server.",
        ),
        Refusal::MissingToken => response::unauthorized(
            "This server needs an access token. Send the header Authorization: Bearer TOKEN.",
        ),
        Refusal::WrongToken => response::unauthorized("The access token is not valid."),
    }
}

//! The HTTP server: streamable HTTP at `/mcp` in both eras, HTTP+SSE at `/sse` and `/message`, and
//! plain JSON at `/mcp/tools` and `/mcp/tools/call`.
//!
//! `hyper` reads and writes HTTP/1.1, and `rmcp` serves streamable HTTP. This module adds the parts
//! that `rmcp` leaves to the application: access checks, limits, deadlines and graceful shutdown.

mod access;
mod body;
mod connection;
mod head;
mod listener;
mod options;
mod plain;
mod rate_limit;
mod response;
mod router;
mod sessions;
mod sse;
mod write_timeout;

use super::calls::CallRunner;
use body::RequestBodyReader;
use rate_limit::RateLimiter;
use rmcp::handler::server::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sessions::BoundedSessions;
use sse::SseSessions;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use access::{ANY_HOST, AccessPolicy, Refusal};
pub use listener::{ListenError, Listener, resolve};
pub use options::{HttpLimits, HttpOptions};

/// How long closed streams and idle connections may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);

/// The MCP handlers of both HTTP transports. They differ only in their name in the log.
#[derive(Clone)]
pub struct HttpHandlers<H> {
    pub streamable: H,
    pub sse: H,
}

/// State shared by all connections.
struct HttpServer<H> {
    options: HttpOptions,
    calls: CallRunner,
    handlers: HttpHandlers<H>,
    streamable: StreamableHttpService<H, BoundedSessions>,
    sessions: Arc<BoundedSessions>,
    sse: Arc<SseSessions>,
    body_reader: RequestBodyReader,
    rate: Mutex<RateLimiter>,
    /// Once cancelled, no further requests are read.
    draining: CancellationToken,
    /// Once cancelled, sessions and streams end.
    closing: CancellationToken,
    /// Once cancelled, connections are dropped.
    dropping: CancellationToken,
}

impl<H: ServerHandler + Clone> HttpServer<H> {
    fn new(handlers: HttpHandlers<H>, calls: CallRunner, options: HttpOptions) -> Self {
        let limits = options.limits;
        let closing = CancellationToken::new();
        let sessions = Arc::new(BoundedSessions::new(
            limits.sessions,
            limits.session_idle_timeout,
        ));
        // Hosts and origins are checked before `rmcp` sees a request.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_sse_retry(None)
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(closing.clone());
        let handler = handlers.streamable.clone();
        let factory = move || Ok(handler.clone());
        Self {
            streamable: StreamableHttpService::new(factory, Arc::clone(&sessions), config),
            sessions,
            sse: Arc::new(SseSessions::new(limits.sessions)),
            body_reader: RequestBodyReader::new(limits.body_bytes, limits.body_timeout),
            rate: Mutex::new(RateLimiter::new(limits.requests_per_second, Instant::now())),
            options,
            calls,
            handlers,
            draining: CancellationToken::new(),
            closing,
            dropping: CancellationToken::new(),
        }
    }
}

/// Serves until `stop` is cancelled. Then the calls that are still running get the drain timeout to
/// finish. `calls` runs those that arrive as plain JSON.
pub async fn serve<H: ServerHandler + Clone>(
    listener: Listener,
    handlers: HttpHandlers<H>,
    calls: CallRunner,
    options: HttpOptions,
    stop: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(options.limits.connections));
    let server = Arc::new(HttpServer::new(handlers, calls, options));
    let connections = TaskTracker::new();
    let accepting = async {
        loop {
            let (stream, address) = listener.accept().await;
            match Arc::clone(&slots).try_acquire_owned() {
                Ok(slot) => {
                    let serving = connection::serve(Arc::clone(&server), stream, address.ip());
                    connections.spawn(async move {
                        let _slot = slot;
                        serving.await;
                    });
                }
                Err(_) => connection::refuse(&stream),
            }
        }
    };
    stop.run_until_cancelled(accepting).await;
    drop(listener);
    server.draining.cancel();
    server.calls.drain().await;
    server.closing.cancel();
    connections.close();
    let _ = timeout(CLOSE_TIMEOUT, connections.wait()).await;
    server.dropping.cancel();
    let _ = timeout(CLOSE_TIMEOUT, connections.wait()).await;
}

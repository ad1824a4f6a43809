//! One connection: HTTP/1.1 with limits on heads, slow writers and slow readers.

use super::write_timeout::WriteTimeout;
use super::{HttpServer, router};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::handler::server::ServerHandler;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use tokio::net::TcpStream;

const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves the requests of a connection until it ends.
pub async fn serve<H: ServerHandler + Clone>(
    server: Arc<HttpServer<H>>,
    stream: TcpStream,
    address: IpAddr,
) {
    let limits = server.options.limits;
    // Send small responses without delay.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(WriteTimeout::new(stream, limits.write_timeout));
    let service = service_fn(|request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(router::respond(&server, address, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes)
        .serve_connection(stream, service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = server.draining.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = server.dropping.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!("connection from {address}: {error}");
    }
}

/// Refuses a connection without reading from it.
pub fn refuse(stream: &TcpStream) {
    // Fits into the socket's buffer; if the client is gone, nobody needs the answer.
    let _ = stream.try_write(TOO_MANY_CONNECTIONS);
}

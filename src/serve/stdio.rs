//! MCP over standard input and output, for clients that start the server themselves.

use super::calls::CallRunner;
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long running calls may go on after the server was told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Longer lines are skipped.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Serves one client on this process's standard input and output until it closes its end or `stop`
/// is cancelled. Running `calls` get a few seconds to finish.
///
/// # Errors
/// The client broke the protocol before the session began.
pub async fn serve<H: ServerHandler>(
    handler: H,
    calls: &CallRunner,
    stop: CancellationToken,
) -> io::Result<()> {
    let (input, output) = stdio_pipes();
    let ended = CancellationToken::new();
    let mut session = pin!(serve_on(handler, input, output, ended.clone()));
    tokio::select! {
        result = session.as_mut() => return result,
        () = stop.cancelled() => {}
    }
    calls.running().close();
    tokio::select! {
        result = session.as_mut() => return result,
        _ = timeout(DRAIN_TIMEOUT, calls.running().wait()) => {}
    }
    ended.cancel();
    session.await
}

async fn serve_on<H, R, W>(
    handler: H,
    input: R,
    output: W,
    stop: CancellationToken,
) -> io::Result<()>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(LINE_BYTES_MAX);
    let opened = serve_server_with_ct::<H, AsyncRwTransport<RoleServer, R, W>, _, _>(
        handler, transport, stop,
    );
    match opened.await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error)),
            Ok(_) => Ok(()),
        },
        // The client left, or the program is ending.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

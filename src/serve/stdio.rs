//! MCP over standard input and output, for clients that start the server themselves.

use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Longer lines are skipped.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Serves one client on this process's standard input and output until it closes its end or `stop`
/// is cancelled. Running calls get a few seconds to finish.
///
/// # Errors
/// The client broke the protocol before the session began.
pub async fn serve<H: ServerHandler>(handler: H, stop: CancellationToken) -> io::Result<()> {
    let (input, output) = stdio_pipes();
    serve_on(handler, input, output, stop).await
}

/// The same on any pair of streams.
///
/// # Errors
/// See [`serve`].
pub async fn serve_on<H, R, W>(
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

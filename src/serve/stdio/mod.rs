//! MCP over standard input and output, for clients that start the server themselves.

mod lines;

use super::calls::CallRunner;
use super::message::{line_too_long, parse_line};
use super::queue_transport::{QUEUE_CAPACITY, QueueTransport};
use lines::{InputLine, Lines};
use rmcp::handler::server::ServerHandler;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::stdio_pipes;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Longer lines are skipped and answered with an error.
const LINE_BYTES_MAX: usize = 4 << 20;
/// How long the session may take to end after its calls, and how long the last lines may then take
/// to be written: a client may have stopped reading.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);

/// Serves one client on this process's standard input and output until it closes its end or `stop`
/// is cancelled. Running `calls` get a few seconds to finish.
///
/// # Errors
/// Standard output cannot be written, or the session could not start. The text is for the user.
pub async fn serve<H: ServerHandler>(
    handler: H,
    calls: &CallRunner,
    stop: CancellationToken,
) -> io::Result<()> {
    let (input, output) = stdio_pipes();
    serve_on(handler, calls, input, output, stop).await
}

async fn serve_on<H: ServerHandler>(
    handler: H,
    calls: &CallRunner,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    stop: CancellationToken,
) -> io::Result<()> {
    let (inbox, incoming) = mpsc::channel(QUEUE_CAPACITY);
    let (outgoing, outbox) = mpsc::channel(QUEUE_CAPACITY);
    let transport = QueueTransport::new(incoming, outgoing.clone());
    let ended = CancellationToken::new();
    let session = run_session(handler, transport, ended.clone());
    let stopping = async {
        stop.cancelled().await;
        calls.drain().await;
        ended.cancel();
        sleep(CLOSE_TIMEOUT).await;
    };
    // Owns the reader's sender for the queue, so the writer ends after the last message.
    let serving = async move {
        let reading = async {
            read_messages(input, inbox, outgoing).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            result = session => result,
            () = stopping => Ok(()),
            () = reading => Ok(()),
        }
    };
    let (mut serving, mut writing) = (Box::pin(serving), pin!(write_messages(output, outbox)));
    tokio::select! {
        biased;
        written = writing.as_mut() => match written {
            // The session is over, and its last message has been written.
            Ok(()) => serving.await,
            Err(error) => Err(error),
        },
        result = serving.as_mut() => {
            drop(serving);
            let written = timeout(CLOSE_TIMEOUT, writing).await;
            written.unwrap_or(Ok(())).and(result)
        }
    }
}

async fn run_session<H: ServerHandler>(
    handler: H,
    transport: QueueTransport,
    stop: CancellationToken,
) -> io::Result<()> {
    let why = match serve_server_with_ct(handler, transport, stop).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => error.to_string(),
            Ok(_) => return Ok(()),
        },
        // The client left, or the program is exiting.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(ServerInitializeError::InitializeFailed(error)) => error.message.into_owned(),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            "the client did not begin with the request `initialize`".to_owned()
        }
        Err(error) => error.to_string(),
    };
    Err(io::Error::other(why))
}

/// Passes messages on until the input or the session ends.
async fn read_messages(
    input: impl AsyncRead + Unpin,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<String>,
) {
    let mut lines = Lines::new(input, LINE_BYTES_MAX);
    loop {
        let line = match lines.next().await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("standard input could not be read: {error}");
                return;
            }
        };
        let parsed = match line {
            InputLine::Whole(bytes) => parse_line(&bytes),
            InputLine::TooLong => Err(Box::new(line_too_long(LINE_BYTES_MAX))),
        };
        let is_open = match parsed {
            Ok(Some(message)) => inbox.send(message).await.is_ok(),
            Ok(None) => true,
            Err(error) => outgoing.send(error.to_json()).await.is_ok(),
        };
        if !is_open {
            return;
        }
    }
}

/// Returns once all senders are gone.
async fn write_messages(
    mut output: impl AsyncWrite + Unpin,
    mut outbox: mpsc::Receiver<String>,
) -> io::Result<()> {
    while let Some(mut line) = outbox.recv().await {
        line.push('\n');
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        };
        written.await.map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("standard output could not be written: {error}"),
            )
        })?;
    }
    Ok(())
}

//! The rmcp transport for child processes and the built-in server: newline-delimited JSON-RPC over
//! two byte streams.

use crate::mcp::call::exact_arguments::exact_json;
use crate::mcp::error::McpError;
use crate::mcp::session::client_capabilities::declare_root_changes;
use crate::mcp::session::inbox::Inbox;
use crate::mcp::session::shared::SessionShared;
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::timeout;

pub const LINE_BYTES_MAX: usize = 64 << 20;
/// Maximum number of messages waiting for the server to read.
pub const OUTBOX_MESSAGES_MAX: usize = 1_024;
/// A server that takes longer than this to accept one message has failed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Line buffers larger than this are freed after use.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// Reads messages from the server, and queues messages for [`write_queue`].
pub struct StdioTransport<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    outbox: mpsc::Sender<Vec<u8>>,
    shared: Arc<SessionShared>,
    inbox: Inbox,
}

impl<R: AsyncRead + Unpin + Send> StdioTransport<R> {
    pub fn new(
        reader: R,
        outbox: mpsc::Sender<Vec<u8>>,
        shared: Arc<SessionShared>,
        inbox: Inbox,
    ) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            outbox,
            shared,
            inbox,
        }
    }

    fn enqueue(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), McpError> {
        self.inbox.record_sent(message);
        let mut line = match exact_json(message) {
            Some(line) => line,
            None => serde_json::to_vec(message)
                .map_err(|error| McpError::BrokenPipe(error.to_string()))?,
        };
        line.push(b'\n');
        self.outbox.try_send(line).map_err(|_| {
            self.shared.outcome.end(McpError::NotReading);
            McpError::NotReading
        })
    }

    fn enqueue_reply(&self, reply: &Value) {
        let mut line = reply.to_string().into_bytes();
        line.push(b'\n');
        if self.outbox.try_send(line).is_err() {
            self.shared.outcome.end(McpError::NotReading);
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for StdioTransport<R> {
    type Error = McpError;

    /// Queues messages in call order, so a cancellation cannot overtake its request.
    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), McpError>> + Send + 'static {
        declare_root_changes(&mut message);
        ready(self.enqueue(&message))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while !self.shared.outcome.has_ended() {
            if let Some(message) = self.inbox.next_batched() {
                return Some(message);
            }
            let shared = self.shared.clone();
            let next = tokio::select! {
                next = next_line(&mut self.reader, &mut self.line) => next,
                // A restart would take longer still, and interrupt a program that is installing itself.
                () = self.inbox.discover_wait.wait_for_deadline() => return self.inbox.abandon_discover(),
                reply = shared.incoming_requests.next_reply() => {
                    self.enqueue_reply(&reply);
                    continue;
                }
            };
            let line = match next {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.shared.outcome.end(McpError::OutputClosed);
                    break;
                }
                Err(error) => {
                    self.shared.outcome.end(error);
                    break;
                }
            };
            let message = self.inbox.handle_text(&line);
            for reply in self.inbox.take_replies() {
                self.enqueue_reply(&reply);
            }
            if line.capacity() <= LINE_BYTES_KEPT {
                self.line = line;
                self.line.clear();
            }
            if message.is_some() {
                return message;
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), McpError> {
        self.shared.outcome.end(McpError::SessionClosed);
        Ok(())
    }
}

/// The next complete line, or `None` at the end of the stream. Cancel-safe: bytes already read
/// stay in `line`.
async fn next_line<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    line: &mut Vec<u8>,
) -> Result<Option<Vec<u8>>, McpError> {
    loop {
        let chunk = match reader.fill_buf().await {
            Ok(chunk) => chunk,
            Err(error) => return Err(McpError::BrokenPipe(error.to_string())),
        };
        if chunk.is_empty() {
            // The last line may lack a newline.
            let last_line = std::mem::take(line);
            return Ok((!last_line.is_empty()).then_some(last_line));
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part_len = newline.unwrap_or(chunk.len());
        if line.len() + part_len > LINE_BYTES_MAX {
            return Err(McpError::LineTooLong(LINE_BYTES_MAX));
        }
        line.extend_from_slice(&chunk[..part_len]);
        reader.consume(newline.map_or(part_len, |index| index + 1));
        if newline.is_some() {
            return Ok(Some(std::mem::take(line)));
        }
    }
}

/// Writes queued messages until the server stops accepting them or the queue is closed.
pub async fn write_queue(
    mut queue: mpsc::Receiver<Vec<u8>>,
    mut writer: impl AsyncWrite + Unpin,
) -> McpError {
    while let Some(line) = queue.recv().await {
        let writing = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        match timeout(WRITE_TIMEOUT, writing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return McpError::BrokenPipe(error.to_string()),
            Err(_) => return McpError::NotReading,
        }
    }
    McpError::SessionClosed
}

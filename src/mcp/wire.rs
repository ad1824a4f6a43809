//! The transport: newline-delimited JSON-RPC over a pair of byte streams. Each
//! line becomes a `Value` first, so that results reach us raw and one bad part
//! never costs the good ones; the rest is typed for rmcp.

use super::fault::Fault;
use super::lenient;
use super::link::Link;
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::timeout;

pub const LINE_BYTES_MAX: usize = 64 << 20;
/// Messages that wait for the server to read.
pub const OUTBOX_MESSAGES_MAX: usize = 1_024;
/// A server that reads nothing for so long is deaf.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);
/// A line buffer that grew beyond this is given back.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// Told when a cancelled request was answered all the same: the tool's name.
pub type OnLateAnswer = Box<dyn Fn(String) + Send + Sync>;

/// The reading half, and the queue of the writing half.
pub struct Wire<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    outbox: mpsc::Sender<Vec<u8>>,
    link: Arc<Link>,
    /// The request for `initialize`, until it is answered.
    initialize: Option<RequestId>,
    on_late_answer: OnLateAnswer,
}

impl<R: AsyncRead + Unpin + Send> Wire<R> {
    pub fn new(
        reader: R,
        outbox: mpsc::Sender<Vec<u8>>,
        link: Arc<Link>,
        on_late_answer: OnLateAnswer,
    ) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            outbox,
            link,
            initialize: None,
            on_late_answer,
        }
    }

    fn enqueue(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), Fault> {
        if let JsonRpcMessage::Request(request) = message
            && request.request.method() == "initialize"
        {
            self.initialize = Some(request.id.clone());
        }
        let mut line =
            serde_json::to_vec(message).map_err(|error| Fault::Pipe(error.to_string()))?;
        line.push(b'\n');
        self.outbox.try_send(line).map_err(|_| {
            self.link.end(Fault::Deaf);
            Fault::Deaf
        })
    }

    /// The next whole line, or `None` at the end of the stream. Dropping the
    /// future between two polls loses nothing: what was read stays in `self`.
    async fn next_line(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            let chunk = match self.reader.fill_buf().await {
                Ok(chunk) => chunk,
                Err(error) => return Err(Fault::Pipe(error.to_string())),
            };
            if chunk.is_empty() {
                // A last line without a newline is still a line.
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = newline.unwrap_or(chunk.len());
            if self.line.len() + part > LINE_BYTES_MAX {
                return Err(Fault::LineTooLong(LINE_BYTES_MAX));
            }
            self.line.extend_from_slice(&chunk[..part]);
            self.reader.consume(newline.map_or(part, |at| at + 1));
            if newline.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }

    /// The message in `line`, unless it is no message or was dealt with here.
    fn read(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Some(Value::Object(mut message)) = lenient::parse(line) else {
            self.link.skip(line);
            return None;
        };
        let read = if message.contains_key("method") {
            match message.get("method").and_then(Value::as_str) {
                Some("notifications/progress") => {
                    let params = message.remove("params").unwrap_or_default();
                    if self.link.progressed(&params) {
                        self.link.heard();
                    } else {
                        self.link.skip(line);
                    }
                    return None;
                }
                Some("notifications/tools/list_changed") => {
                    self.link.heard();
                    self.link.tools_changed.notify_one();
                    return None;
                }
                _ => typed(message),
            }
        } else {
            self.answer(message)
        };
        if read.is_some() {
            self.link.heard();
        } else if !self.link.has_ended() {
            self.link.skip(line);
        }
        read
    }

    fn answer(&mut self, mut message: Map<String, Value>) -> Option<ServerJsonRpcMessage> {
        let error = message.remove("error").filter(|error| !error.is_null());
        let id = message.remove("id").filter(|id| !id.is_null());
        let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        if let Some(tool) = id.as_ref().and_then(|id| self.link.worked_on(id)) {
            (self.on_late_answer)(tool);
        }
        if let Some(error) = error {
            return Some(JsonRpcMessage::error(error_data(error), id));
        }
        let (result, id) = (message.remove("result")?, id?);
        if self.initialize.as_ref() == Some(&id) {
            self.initialize = None;
            return match lenient::initialize_result(result) {
                Ok(result) => Some(JsonRpcMessage::response(
                    ServerResult::InitializeResult(result),
                    id,
                )),
                Err(fault) => {
                    self.link.end(fault);
                    None
                }
            };
        }
        let raw = ServerResult::CustomResult(CustomResult::new(result));
        Some(JsonRpcMessage::response(raw, id))
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Wire<R> {
    type Error = Fault;

    /// Queues the message in the order of the calls: a cancellation must not
    /// overtake its request.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'static {
        ready(self.enqueue(&message))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while !self.link.has_ended() {
            let line = match self.next_line().await {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.link.end(Fault::Closed);
                    break;
                }
                Err(fault) => {
                    self.link.end(fault);
                    break;
                }
            };
            let message = self.read(&line);
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

    async fn close(&mut self) -> Result<(), Fault> {
        self.link.end(Fault::Dropped);
        Ok(())
    }
}

/// A request or a notification of the server. The version is not worth a
/// refusal: it is what rmcp expects.
fn typed(mut message: Map<String, Value>) -> Option<ServerJsonRpcMessage> {
    message.insert("jsonrpc".to_owned(), "2.0".into());
    serde_json::from_value(Value::Object(message)).ok()
}

/// An error whose fields may be missing or of another type.
fn error_data(error: Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    ErrorData::new(
        code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
        message,
        error.get("data").cloned(),
    )
}

/// Writes the queue, message by message, until the server does not take one.
pub async fn write_all(
    mut queue: mpsc::Receiver<Vec<u8>>,
    mut writer: impl AsyncWrite + Unpin,
) -> Fault {
    while let Some(line) = queue.recv().await {
        let written = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        match timeout(WRITE_DEADLINE, written).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Fault::Pipe(error.to_string()),
            Err(_) => return Fault::Deaf,
        }
    }
    Fault::Dropped
}

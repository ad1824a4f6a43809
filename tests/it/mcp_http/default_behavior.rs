//! The default behavior of the test server, for each era and transport.

use crate::mcp_http::http_writer::{begin_stream, write_chunk, write_response};
use crate::mcp_http::test_server::{Behavior, MODERN, ReceivedRequest, ReplyPart, ServerState};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

impl ServerState {
    /// Responds by default: `/sse` and `/messages` use HTTP+SSE, `/events` answers with streams,
    /// `/modern` supports only the modern protocol, and `/mcp` answers with JSON.
    pub async fn respond(
        &self,
        request: &ReceivedRequest,
        reader: &mut BufReader<OwnedReadHalf>,
        writer: &mut OwnedWriteHalf,
    ) -> std::io::Result<()> {
        let path = request.path.split('?').next().unwrap_or_default();
        match (request.verb.as_str(), path) {
            ("GET", "/sse") => {
                begin_stream(writer).await?;
                write_chunk(writer, "event: endpoint\ndata: /messages?session=7\n\n").await?;
                self.hold_stream_open(reader, writer).await
            }
            ("GET", "/events") => {
                begin_stream(writer).await?;
                self.hold_stream_open(reader, writer).await
            }
            ("POST", "/messages") => {
                write_response(writer, 202, &[], "Accepted").await?;
                if !request.body["id"].is_null() && request.method() != "POST" {
                    self.broadcast(&self.answer(request));
                }
                Ok(())
            }
            ("POST", _) if request.body["id"].is_null() || request.method() == "POST" => {
                write_response(writer, 202, &[], "").await
            }
            ("POST", "/events") => {
                let answer = vec![ReplyPart::Answer];
                self.respond_with(Behavior::Stream(answer), request, reader, writer)
                    .await
            }
            ("POST", "/mcp" | "/modern") => {
                let mut headers = vec!["Content-Type: application/json".to_owned()];
                if request.method() == "initialize" {
                    headers.push("Mcp-Session-Id: s-1".to_owned());
                }
                let answer = self.answer(request);
                write_response(writer, 200, &headers, &answer.to_string()).await
            }
            ("DELETE", _) => write_response(writer, 200, &[], "").await,
            ("GET", _) => write_response(writer, 405, &[], "Method Not Allowed").await,
            _ => write_response(writer, 404, &[], "Not Found").await,
        }
    }

    pub async fn hold_stream_open(
        &self,
        reader: &mut BufReader<OwnedReadHalf>,
        writer: &mut OwnedWriteHalf,
    ) -> std::io::Result<()> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        self.streams.lock().unwrap().push(sender);
        loop {
            tokio::select! {
                _ = reader.read_u8() => return Err(std::io::ErrorKind::ConnectionAborted.into()),
                text = receiver.recv() => write_chunk(writer, &text.unwrap_or_default()).await?,
            }
        }
    }

    /// The JSON-RPC response to a request.
    pub fn answer(&self, request: &ReceivedRequest) -> Value {
        let is_modern = request.path == "/modern";
        let arguments = &request.body["params"]["arguments"];
        let result = match request.method() {
            "initialize" if !is_modern => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "web", "version": "1" },
            }),
            "server/discover" if is_modern => json!({
                "resultType": "complete", "supportedVersions": [MODERN], "ttlMs": 0,
                "capabilities": { "tools": {} }, "cacheScope": "private",
            }),
            "tools/list" => json!({ "tools": self.tools() }),
            "ping" => json!({}),
            "tools/call" if request.body["params"]["name"] == "nest" => {
                json!({ "content": [], "structuredContent": deeply_nested() })
            }
            "tools/call" => {
                let number = |key: &str| arguments[key].as_i64().unwrap_or_default();
                let text = (number("a") + number("b")).to_string();
                json!({ "content": [{ "type": "text", "text": text }] })
            }
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                return json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
            }
        };
        json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result })
    }

    fn tools(&self) -> Vec<Value> {
        let properties = json!({ "a": { "type": "integer", "x-mcp-header": "First" } });
        let schema = json!({ "type": "object", "properties": properties });
        let mut tools = vec![json!({ "name": "add", "inputSchema": schema })];
        tools.extend(self.extra_tools.lock().unwrap().iter().cloned());
        tools
    }
}

/// JSON nested deeper than most parsers accept.
pub fn deeply_nested() -> Value {
    (0..200).fold(json!("}"), |inner, _| json!({ "]": [inner] }))
}

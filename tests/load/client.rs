//! A lightweight streamable HTTP client: one connection with a session, on which it calls `get_time`
//! repeatedly.

use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct LoadClient {
    stream: TcpStream,
    address: SocketAddr,
    session: Option<String>,
    next_id: u64,
}

impl LoadClient {
    /// Connects and opens a session.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let mut client = Self {
            stream,
            address,
            session: None,
            next_id: 0,
        };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "load", "version": "1" },
        });
        let (head, _) = client.request("initialize", params).await;
        let header = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.trim().to_owned())
        });
        client.session = Some(header.expect("a session"));
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.post(&initialized).await;
        client
    }

    /// Calls `get_time` until `end`; returns the duration of each call.
    pub async fn call_until(&mut self, end: Instant) -> Vec<Duration> {
        let mut times = Vec::new();
        while Instant::now() < end {
            let started = Instant::now();
            let arguments = json!({ "timezone": "Asia/Seoul" });
            let params = json!({ "name": "get_time", "arguments": arguments });
            let (head, body) = self.request("tools/call", params).await;
            times.push(started.elapsed());
            let id = format!("\"id\":{}", self.next_id);
            assert!(
                body.contains("+09:00") && body.contains(&id),
                "{head}{body}"
            );
        }
        times
    }

    async fn request(&mut self, method: &str, params: Value) -> (String, String) {
        self.next_id += 1;
        let id = self.next_id;
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await
    }

    /// Sends a message; returns the head and the body of the response.
    async fn post(&mut self, message: &Value) -> (String, String) {
        let body = message.to_string();
        let session = match &self.session {
            Some(id) => format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n"),
            None => String::new(),
        };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let written = self.stream.write_all(request.as_bytes()).await;
        written.expect("the server reads");
        self.response().await
    }

    async fn response(&mut self) -> (String, String) {
        let mut bytes = Vec::with_capacity(4_096);
        loop {
            let count = self.stream.read_buf(&mut bytes).await;
            assert!(
                count.expect("a response") > 0,
                "the server closed the connection"
            );
            let text = std::str::from_utf8(&bytes).expect("UTF-8");
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && is_complete(head, body)
            {
                return (head.to_owned(), body.to_owned());
            }
        }
    }
}

fn is_complete(head: &str, body: &str) -> bool {
    let head = head.to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    match length {
        Some(length) => body.len() >= length.trim().parse().expect("a number"),
        None => body.ends_with("0\r\n\r\n"),
    }
}

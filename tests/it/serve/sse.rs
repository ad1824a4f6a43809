//! HTTP+SSE, the transport of revision 2024-11-05.

use super::harness::{TestServe, WAIT_TIMEOUT};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

/// An open stream and the endpoint for messages that its first event named.
struct SseClient<'a> {
    server: &'a TestServe,
    stream: Response,
    text: String,
    endpoint: String,
}

impl<'a> SseClient<'a> {
    async fn open(server: &'a TestServe) -> Self {
        // Unlike the client of `server`, this one has no timeout: a timeout would end the stream.
        let client = reqwest::Client::builder().no_proxy().build();
        let request = client.expect("a client").get(server.url("/sse"));
        let stream = request.send().await.expect("a response");
        assert_eq!(stream.status(), 200);
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        let mut client = Self {
            server,
            stream,
            text: String::new(),
            endpoint: String::new(),
        };
        let event = client.next_event().await;
        client.endpoint = event
            .strip_prefix("endpoint ")
            .expect("the first event")
            .to_owned();
        client
    }

    /// The next event as `name data`.
    async fn next_event(&mut self) -> String {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let fields: Vec<&str> = event
                    .lines()
                    .filter_map(|line| line.split_once(": "))
                    .map(|(_, value)| value)
                    .collect();
                let event = fields.join(" ");
                let is_comment = self.text.starts_with(':');
                self.text = rest.to_owned();
                if is_comment {
                    continue;
                }
                return event;
            }
            let chunk = timeout(WAIT_TIMEOUT, self.stream.chunk())
                .await
                .expect("an event in time");
            let chunk = chunk.expect("an open stream").expect("more events");
            self.text += std::str::from_utf8(&chunk).expect("UTF-8");
        }
    }

    async fn send(&self, message: &Value) -> u16 {
        let response = self.server.post(&self.endpoint, message).send().await;
        response.expect("a response").status().as_u16()
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params });
        assert_eq!(self.send(&message).await, 202);
        let event = self.next_event().await;
        let data = event.strip_prefix("message ").expect("a message");
        serde_json::from_str(data).expect("JSON")
    }

    async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "old", "version": "1" },
        });
        let answer = self.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.send(&initialized).await, 202);
    }
}

#[tokio::test]
async fn a_client_over_sse_lists_and_calls_tools() {
    let server = TestServe::start().await;
    let mut client = SseClient::open(&server).await;
    client.initialize().await;
    let list = client.request("tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"][0]["name"], "get_time");
    let time = json!({ "name": "get_time", "arguments": { "timezone": "UTC" } });
    let time = client.request("tools/call", time).await;
    assert_eq!(time["result"]["structuredContent"]["zone"], "UTC");
    let unknown = client
        .request("tools/call", json!({ "name": "nope" }))
        .await;
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test]
async fn closing_the_stream_ends_the_session_and_its_calls() {
    let mut server = TestServe::start().await;
    let endpoint = {
        let mut client = SseClient::open(&server).await;
        client.initialize().await;
        let wait = json!({ "name": "ollama_chat", "arguments": { "prompt": "wait" } });
        let call = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": wait });
        assert_eq!(client.send(&call).await, 202);
        client.endpoint.clone()
    };
    server.wait_until_stopped().await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let response = server.post(&endpoint, &ping).send().await;
    assert_eq!(response.expect("a response").status(), 404);
}

#[tokio::test]
async fn bad_messages_and_unknown_sessions_are_refused() {
    let server = TestServe::start().await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for path in [
        "/message",
        "/message?sessionId=",
        "/message?sessionId=x",
        "/message?session=x",
    ] {
        let response = server.post(path, &ping).send().await;
        assert_eq!(response.expect("a response").status(), 404, "{path}");
    }
    let client = SseClient::open(&server).await;
    assert_eq!(client.send(&json!([ping])).await, 400);
    assert_eq!(client.send(&json!({})).await, 400);
}

#[tokio::test]
async fn streams_above_the_limit_are_refused() {
    let server = TestServe::with_limits(|limits| limits.sessions = 2).await;
    let (first, _second) = (
        SseClient::open(&server).await,
        SseClient::open(&server).await,
    );
    let third = server
        .client
        .get(server.url("/sse"))
        .send()
        .await
        .expect("a response");
    assert_eq!(third.status(), 503);
    drop(first);
    let deadline = tokio::time::Instant::now() + WAIT_TIMEOUT;
    while server
        .client
        .get(server.url("/sse"))
        .send()
        .await
        .expect("a response")
        .status()
        != 200
    {
        assert!(
            tokio::time::Instant::now() < deadline,
            "the closed stream still counts"
        );
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_stream_cannot_fill_the_memory() {
    let server = TestServe::start().await;
    let mut client = SseClient::open(&server).await;
    client.initialize().await;
    let list = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    // The server stops accepting messages once enough answers are waiting.
    let mut taken: u32 = 0;
    loop {
        match client.send(&list(taken)).await {
            202 => taken += 1,
            503 => break,
            other => panic!("status {other}"),
        }
        assert!(taken < 5_000, "the server accepts any number of messages");
    }
    server.assert_serves().await;
    // Once the stream is read, the server continues.
    for _ in 0..taken {
        assert!(client.next_event().await.starts_with("message "));
    }
    assert_eq!(client.send(&list(taken)).await, 202);
}

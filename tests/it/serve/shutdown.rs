//! Stopping the server with requests in flight.

use super::harness::{TestServe, WAIT_TIMEOUT, message_of};
use humble::serve::CallLimits;
use humble::serve::http::HttpLimits;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;

fn chat(prompt: &str) -> Value {
    json!({ "name": "ollama_chat", "arguments": { "prompt": prompt } })
}

#[tokio::test]
async fn at_a_shutdown_running_calls_finish_and_streams_end() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let stream = server
        .client
        .get(server.url("/mcp"))
        .header("mcp-session-id", &id);
    let stream = stream
        .header("accept", "text/event-stream")
        .send()
        .await
        .expect("a stream");
    let sse_stream = server
        .client
        .get(server.url("/sse"))
        .send()
        .await
        .expect("a stream");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": chat("soon") });
    let legacy = server.in_session(&id, &call).await;
    let modern = tokio::spawn(server.modern_request("tools/call", chat("soon")).send());
    let plain = json!({ "tool": "ollama_chat", "arguments": { "prompt": "soon" } });
    let plain = tokio::spawn(server.post("/mcp/tools/call", &plain).send());
    // Let the spawned requests reach the server.
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop.cancel();
    let answers = [
        message_of(legacy).await.1["result"].clone(),
        message_of(modern.await.expect("no panic").expect("a response"))
            .await
            .1["result"]
            .clone(),
        message_of(plain.await.expect("no panic").expect("a response"))
            .await
            .1,
    ];
    for answer in answers {
        assert_eq!(answer["structuredContent"]["answer"], "three", "{answer}");
    }
    for stream in [stream, sse_stream] {
        timeout(WAIT_TIMEOUT, stream.bytes())
            .await
            .expect("the stream ends")
            .ok();
    }
    timeout(WAIT_TIMEOUT, server.task)
        .await
        .expect("the server ends")
        .expect("no panic");
    assert!(
        TcpStream::connect(server.address).await.is_err(),
        "still listening"
    );
}

#[tokio::test]
async fn a_call_that_does_not_end_is_stopped_at_the_deadline() {
    let limits = CallLimits {
        drain_timeout: Duration::from_millis(300),
        ..CallLimits::default()
    };
    let mut server = TestServe::with(limits, HttpLimits::default(), |access| access).await;
    let id = server.open_session().await.expect("a session");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": chat("wait") });
    let legacy = server.in_session(&id, &call).await;
    let modern = tokio::spawn(server.modern_request("tools/call", chat("wait")).send());
    let plain = json!({ "tool": "ollama_chat", "arguments": { "prompt": "wait" } });
    let plain = tokio::spawn(server.post("/mcp/tools/call", &plain).send());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    server.stop.cancel();
    let ended = timeout(WAIT_TIMEOUT, &mut server.task).await;
    ended.expect("the server ends").expect("no panic");
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    for _ in 0..3 {
        server.wait_until_stopped().await;
    }
    let modern = modern.await.expect("no panic").expect("a response");
    let plain = plain.await.expect("no panic").expect("a response");
    assert_eq!(plain.status(), 503);
    for response in [legacy, modern, plain] {
        let (_, message) = message_of(response).await;
        let why = message["error"]["message"].as_str().expect("an error");
        assert!(why.contains("The server is stopping"), "{message}");
    }
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_shutdown() {
    let server = TestServe::start().await;
    let _silent = server.connect().await;
    server.assert_serves().await;
    server.stop.cancel();
    let ended = timeout(Duration::from_secs(4), server.task).await;
    ended.expect("the server ends").expect("no panic");
}

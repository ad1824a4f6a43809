//! Limits on requests, connections, sessions and calls.

use super::harness::{TestServe, message_of};
use humble::serve::CallLimits;
use humble::serve::http::HttpLimits;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn sessions_above_the_limit_are_refused_and_open_ones_keep_working() {
    let server = TestServe::with_limits(|limits| limits.sessions = 20).await;
    let mut open = Vec::new();
    for number in 0..1_000 {
        match server.open_session().await {
            Ok(id) => open.push(id),
            Err(response) => {
                assert!(number >= 20, "refused too early");
                assert_eq!(response.status(), 503);
                assert!(response.headers().contains_key("retry-after"));
                let (_, message) = message_of(response).await;
                let text = message["error"]["message"].as_str().expect("a message");
                assert!(text.contains("sessions are in use"), "{text}");
            }
        }
    }
    assert_eq!(open.len(), 20);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for id in [&open[0], &open[19]] {
        let (status, message) = message_of(server.in_session(id, &list).await).await;
        assert!(
            status == 200 && message["result"]["tools"].is_array(),
            "{message}"
        );
    }
    // A client that ends its session makes room for another one.
    let request = server.client.delete(server.url("/mcp"));
    let closed = request.header("mcp-session-id", &open[0]).send().await;
    assert!(closed.expect("a response").status().is_success());
    assert!(server.open_session().await.is_ok());
}

#[tokio::test]
async fn an_idle_session_ends() {
    let server = TestServe::with_limits(|limits| {
        limits.session_idle_timeout = Duration::from_millis(200);
    });
    let server = server.await;
    let id = server.open_session().await.expect("a session");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(server.in_session(&id, &list).await.status(), 200);
    let deadline = tokio::time::Instant::now() + super::harness::WAIT_TIMEOUT;
    // Each request keeps the session alive, so double the pause before the next.
    let mut pause = Duration::from_millis(400);
    loop {
        tokio::time::sleep(pause).await;
        if server.in_session(&id, &list).await.status() == 404 {
            break;
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "the session never ends"
        );
        pause *= 2;
    }
}

#[tokio::test]
async fn requests_above_the_rate_are_delayed_then_refused() {
    let server = TestServe::with_limits(|limits| {
        limits.requests_per_second = 5;
        limits.rate_delay = Duration::from_millis(300);
    });
    let server = server.await;
    let requests = (0..20).map(|_| server.client.get(server.url("/")).send());
    let responses = futures::future::join_all(requests).await;
    let statuses = responses
        .iter()
        .map(|response| response.as_ref().expect("a response").status());
    let served = statuses.filter(|status| *status == 200).count();
    assert!((5..=9).contains(&served), "{served} were served");
    let refused = responses
        .into_iter()
        .flatten()
        .find(|response| response.status() == 429);
    let refused = refused.expect("a refused request");
    assert_eq!(refused.headers()["retry-after"], "1");
}

#[tokio::test]
async fn connections_above_the_limit_are_refused_until_others_close() {
    let server = TestServe::with_limits(|limits| limits.connections = 2).await;
    let (mut first, _second) = (server.connect().await, server.connect().await);
    // A request proves that the connection was accepted.
    first
        .send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await;
    first.0.readable().await.expect("a response");
    let response = server.connect().await.read_all().await;
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    drop(first);
    let deadline = tokio::time::Instant::now() + super::harness::WAIT_TIMEOUT;
    let request = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    while !server.raw(request).await.starts_with("HTTP/1.1 200 ") {
        assert!(
            tokio::time::Instant::now() < deadline,
            "no connection was freed"
        );
    }
}

#[tokio::test]
async fn calls_above_the_limit_fail_at_once_with_advice() {
    let limits = CallLimits {
        concurrent: 1,
        ..CallLimits::default()
    };
    let server = TestServe::with(limits, HttpLimits::default(), |access| access).await;
    let waiting = json!({ "tool": "ollama_chat", "arguments": { "prompt": "wait" } });
    let waiting = tokio::spawn(server.post("/mcp/tools/call", &waiting).send());
    let call = json!({ "tool": "get_time" });
    let deadline = tokio::time::Instant::now() + super::harness::WAIT_TIMEOUT;
    loop {
        let response = server.post("/mcp/tools/call", &call).send().await;
        let (_, result) = message_of(response.expect("a response")).await;
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert!(
                text.contains("busy") && text.contains("Try again"),
                "{text}"
            );
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "never busy");
    }
    waiting.abort();
}

#[tokio::test]
async fn a_call_that_takes_too_long_ends_with_an_explanation() {
    let limits = CallLimits {
        timeout: Duration::from_millis(100),
        ..CallLimits::default()
    };
    let mut server = TestServe::with(limits, HttpLimits::default(), |access| access).await;
    let params = json!({ "name": "ollama_chat", "arguments": { "prompt": "wait" } });
    let (status, message) = server.modern("tools/call", params).await;
    assert_eq!((status, &message["result"]["isError"]), (200, &json!(true)));
    let text = message["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("did not answer"), "{text}");
    server.wait_until_stopped().await;
}

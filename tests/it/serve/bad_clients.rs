//! Clients that send too much, too slowly, or nonsense.

use super::harness::{JSON_HEADERS, TestServe, message_of};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_body_of_a_gigabyte_is_refused_before_it_is_sent() {
    let server = TestServe::start().await;
    for path in ["/mcp", "/mcp/tools/call", "/message?sessionId=x"] {
        let request =
            format!("POST {path} HTTP/1.1\r\n{JSON_HEADERS}content-length: 1073741824\r\n\r\n");
        let response = server.raw(&request).await;
        assert!(response.starts_with("HTTP/1.1 413 "), "{path}: {response}");
        assert!(response.contains("larger than 1048576 bytes"), "{response}");
    }
    server.assert_serves().await;
}

#[tokio::test]
async fn a_body_without_length_is_cut_off_at_the_limit() {
    let server = TestServe::start().await;
    let mut client = server.connect().await;
    let head = format!("POST /mcp HTTP/1.1\r\n{JSON_HEADERS}transfer-encoding: chunked\r\n\r\n");
    client.send(head.as_bytes()).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..17 {
        client.send(chunk.as_bytes()).await;
    }
    let response = client.read_all().await;
    // The connection may be reset before the client has read the response.
    assert!(
        response.is_empty() || response.starts_with("HTTP/1.1 413 "),
        "{response}"
    );
    server.assert_serves().await;
}

#[tokio::test]
async fn a_million_headers_are_refused() {
    let server = TestServe::start().await;
    let mut client = server.connect().await;
    client
        .send(b"GET /mcp/tools HTTP/1.1\r\nhost: localhost\r\n")
        .await;
    let lines: String = (0..100)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    for _ in 0..10_000 {
        use tokio::io::AsyncWriteExt;
        if client.0.write_all(lines.as_bytes()).await.is_err() {
            break;
        }
    }
    let response = client.read_all().await;
    assert!(
        response.is_empty() || response.starts_with("HTTP/1.1 431 "),
        "{response}"
    );
    server.assert_serves().await;
}

#[tokio::test]
async fn too_many_headers_or_an_oversized_head_is_431() {
    let server = TestServe::start().await;
    let many: String = (0..101)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    for headers in [many, format!("x: {}\r\n", "y".repeat(300 << 10))] {
        let request = format!("GET /mcp/tools HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        let response = server.raw(&request).await;
        assert!(response.starts_with("HTTP/1.1 431 "), "{response}");
    }
}

#[tokio::test]
async fn the_limit_on_the_head_is_exact() {
    let server = TestServe::start().await;
    let head = |bytes: usize| {
        let start = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx: ";
        let filler = "y".repeat(bytes - start.len() - 4);
        format!("{start}{filler}\r\n\r\n")
    };
    for (bytes, status) in [(64 << 10, 200), ((64 << 10) + 1, 431), (100 << 10, 431)] {
        let response = server.raw(&head(bytes)).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{bytes}: {response}"
        );
    }
}

#[tokio::test]
async fn stalled_bodies_delay_large_ones_only_briefly() {
    let server = TestServe::start().await;
    let head =
        format!("POST /mcp/tools/call HTTP/1.1\r\n{JSON_HEADERS}content-length: 1000000\r\n\r\n");
    let mut stalled = Vec::new();
    for _ in 0..40 {
        let mut client = server.connect().await;
        client.send(head.as_bytes()).await;
        client.send(&[b' '; 100_000]).await;
        stalled.push(client);
    }
    let started = Instant::now();
    let call = format!("{}{}", " ".repeat(500_000), json!({ "tool": "get_time" }));
    let request = server.post("/mcp/tools/call", &Value::Null).body(call);
    let response = request.send().await.expect("a response");
    assert_eq!(response.status(), 200);
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut_off() {
    let server = TestServe::with_limits(|limits| limits.head_timeout = Duration::from_millis(200));
    let server = server.await;
    let started = Instant::now();
    for start in [
        "",
        "GET /mcp/tools HT",
        "GET /mcp/tools HTTP/1.1\r\nhost: localhost\r\nx",
    ] {
        server.raw(start).await;
    }
    assert!(started.elapsed() >= Duration::from_millis(600));
    server.assert_serves().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = TestServe::with_limits(|limits| limits.head_timeout = Duration::from_millis(200));
    let server = server.await;
    let response = server
        .raw("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
}

#[tokio::test]
async fn a_body_that_never_ends_is_cut_off() {
    let server = TestServe::with_limits(|limits| limits.body_timeout = Duration::from_millis(200));
    let server = server.await;
    for path in ["/mcp", "/mcp/tools/call", "/message?sessionId=x"] {
        let request = format!("POST {path} HTTP/1.1\r\n{JSON_HEADERS}content-length: 10\r\n\r\n{{");
        let response = server.raw(&request).await;
        assert!(response.starts_with("HTTP/1.1 408 "), "{path}: {response}");
    }
    server.assert_serves().await;
}

#[tokio::test]
async fn a_client_that_stops_reading_is_cut_off() {
    let server = TestServe::with_limits(|limits| limits.write_timeout = Duration::from_millis(200));
    let server = server.await;
    let mut client = server.connect().await;
    let request = "GET /mcp/tools HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // The server stops reading requests once its responses fill all buffers.
    let sending = async {
        use tokio::io::AsyncWriteExt;
        let requests = request.repeat(1_000);
        while client.0.write_all(requests.as_bytes()).await.is_ok() {}
    };
    let ended = tokio::time::timeout(super::harness::WAIT_TIMEOUT, sending).await;
    ended.expect("the server closes the connection");
    server.assert_serves().await;
}

#[tokio::test]
async fn an_invalid_message_gets_a_json_rpc_error() {
    let server = TestServe::start().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (body, code, id) in [
        ("", -32700, Value::Null),
        ("{", -32700, Value::Null),
        ("\u{feff}{}", -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("42", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            -32600,
            json!(7),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":7}"#,
            -32600,
            json!("a"),
        ),
    ] {
        let request = server.post("/mcp", &Value::Null).body(body.to_owned());
        let (status, message) = message_of(request.send().await.expect("a response")).await;
        assert_eq!(
            (status, &message["error"]["code"], &message["id"]),
            (400, &json!(code), &id),
            "{body}: {message}"
        );
    }
}

#[tokio::test]
async fn wrong_methods_name_the_allowed_ones_and_wrong_paths_are_404() {
    let server = TestServe::start().await;
    for (method, path, status, allowed) in [
        ("PUT", "/mcp", 405, Some("POST, GET, DELETE")),
        ("POST", "/sse", 405, Some("GET")),
        ("POST", "/mcp/tools", 405, Some("GET")),
        ("GET", "/mcp/tools/call", 405, Some("POST")),
        ("GET", "/message", 405, Some("POST")),
        ("GET", "/mcp/", 404, None),
        ("GET", "/nothing", 404, None),
    ] {
        let method = method.parse().expect("a method");
        let response = server.client.request(method, server.url(path)).send().await;
        let response = response.expect("a response");
        let header = response.headers().get("allow").cloned();
        let header = header.as_ref().map(|value| value.to_str().expect("ASCII"));
        assert_eq!(
            (response.status().as_u16(), header),
            (status, allowed),
            "{path}"
        );
    }
}

//! `Host`, `Origin` and the access token on every endpoint, and the types that clients send and
//! accept.

use super::harness::{JSON_HEADERS, TestServe};
use serde_json::json;

const ENDPOINTS: [(&str, &str); 6] = [
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/mcp/tools"),
    ("POST", "/mcp/tools/call"),
    ("GET", "/sse"),
    ("POST", "/message?sessionId=x"),
];

#[tokio::test]
async fn foreign_host_or_origin_is_refused_everywhere() {
    let server = TestServe::start().await;
    for (method, path) in ENDPOINTS {
        for headers in [
            "host: evil.example\r\n",
            "host: localhost\r\norigin: http://evil.example\r\n",
            "host: localhost\r\norigin: null\r\n",
            "host: 192.168.1.5\r\n",
        ] {
            let request = format!("{method} {path} HTTP/1.1\r\n{headers}\r\n");
            let response = server.raw(&request).await;
            assert!(response.starts_with("HTTP/1.1 403 "), "{request}{response}");
        }
    }
}

#[tokio::test]
async fn invalid_host_is_refused_everywhere() {
    let server = TestServe::start().await;
    for (method, path) in ENDPOINTS {
        for headers in [
            "host: localhost:evil.example\r\n",
            "host: localhost:8080x\r\n",
            "host: localhost\r\nhost: localhost\r\n",
        ] {
            let request = format!("{method} {path} HTTP/1.1\r\n{headers}\r\n");
            let response = server.raw(&request).await;
            assert!(response.starts_with("HTTP/1.1 400 "), "{request}{response}");
        }
    }
}

#[tokio::test]
async fn web_pages_from_this_machine_are_served() {
    let server = TestServe::start().await;
    let request = server.client.get(server.url("/mcp/tools"));
    let response = request.header("origin", "http://localhost:6274").send();
    assert_eq!(response.await.expect("a response").status(), 200);
}

#[tokio::test]
async fn a_configured_token_is_required_everywhere() {
    let server = TestServe::with_access(|access| access.with_token("s3cret-token")).await;
    for (method, path) in ENDPOINTS {
        for authorization in [
            "",
            "authorization: Bearer wrong\r\n",
            "authorization: Basic s3cret-token\r\n",
        ] {
            let request =
                format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{authorization}\r\n");
            let response = server.raw(&request).await;
            assert!(response.starts_with("HTTP/1.1 401 "), "{request}{response}");
            assert!(
                response.contains("www-authenticate: Bearer\r\n"),
                "{response}"
            );
            assert!(!response.contains("s3cret-token"), "{response}");
        }
    }
    let call = server.post("/mcp/tools/call", &json!({ "tool": "get_time" }));
    let response = call.bearer_auth("s3cret-token").send().await;
    assert_eq!(response.expect("a response").status(), 200);
}

#[tokio::test]
async fn a_web_page_cannot_send_a_call_without_a_preflight_request() {
    let server = TestServe::start().await;
    // Browsers send these types to other origins without a preflight request.
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        for path in ["/mcp", "/mcp/tools/call", "/message?sessionId=x"] {
            let request = server.client.post(server.url(path));
            let request = request.header("content-type", content_type).body("{}");
            let status = request.send().await.expect("a response").status();
            assert_eq!(status, 415, "{path} {content_type}");
        }
    }
    let preflight = server
        .raw("OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await;
    assert!(preflight.starts_with("HTTP/1.1 405 "), "{preflight}");
    assert!(
        !preflight.contains("access-control-allow-origin"),
        "{preflight}"
    );
}

#[tokio::test]
async fn wildcards_in_the_accept_header_are_honored() {
    let server = TestServe::start().await;
    let id = server.open_session().await.expect("a session");
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (accept, status) in [
        ("*/*", 200),
        ("application/*, text/event-stream", 200),
        ("application/*, text/*;q=0.1", 200),
        ("text/html, */*;q=0.8", 200),
        ("application/*", 406),
        ("*/*;q=0", 406),
        ("text/html", 406),
    ] {
        let request = server.client.post(server.url("/mcp"));
        let request = request
            .header("accept", accept)
            .header("content-type", "application/json")
            .header("mcp-session-id", &id)
            .body(ping.to_string());
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), status, "{accept}");
    }
    let stream = server.client.get(server.url("/mcp"));
    let stream = stream.header("accept", "*/*").header("mcp-session-id", &id);
    assert_eq!(stream.send().await.expect("a stream").status(), 200);
}

#[tokio::test]
async fn a_client_without_accept_headers_gets_an_explanation() {
    let server = TestServe::start().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let headers: Vec<&str> = JSON_HEADERS
        .split_inclusive("\r\n")
        .filter(|line| !line.starts_with("accept"))
        .collect();
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{}connection: close\r\ncontent-length: {length}\r\n\r\n{body}",
        headers.concat()
    );
    let response = server.raw(&request).await;
    assert!(response.starts_with("HTTP/1.1 406 "), "{response}");
    assert!(response.contains("text/event-stream"), "{response}");
}

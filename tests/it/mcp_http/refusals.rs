//! Servers that reject requests with a status or a web page: each case has its own message, and
//! other requests are unaffected.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded, unreachable_because};
use crate::mcp_http::test_server::{Behavior, TestHttpServer, json_with, status};
use crate::support::fixtures;
use humble::domain::ServerConfig;
use humble::domain::model::Secret;
use humble::domain::server::{ProtocolMode, RemoteTransport};
use serde_json::json;
use std::time::{Duration, Instant};

/// The notice shown if a server gives this response to every request, and the server's origin.
async fn connection_error_for(code: u16, body: &'static str) -> (String, String) {
    let web = TestHttpServer::start_with(move |_| status(code, body)).await;
    let config = server_at(&web, "/mcp");
    let origin = web.origin.clone();
    (HttpHarness::connection_error(web, config).await, origin)
}

#[tokio::test]
async fn each_http_status_is_explained() {
    let url = "Check `url` in mcp-servers.json. It must be the MCP endpoint itself, and often ends in `mcp` or `sse`.";
    for (code, body, expected) in [
        (
            400,
            "what?",
            "It answered with HTTP status 400 Bad Request: what?.".to_owned(),
        ),
        (
            404,
            "",
            format!("There is no MCP server at `ORIGIN/mcp` (HTTP status 404). {url}"),
        ),
        (
            405,
            "",
            format!("There is no MCP server at `ORIGIN/mcp` (HTTP status 405). {url}"),
        ),
        (
            500,
            "boom\n\u{1b}[31m",
            "It answered with HTTP status 500 Internal Server Error: boom \u{1b}[31m.".to_owned(),
        ),
        (
            502,
            "<html><title>Bad gateway</title>",
            "It answered with HTTP status 502 Bad Gateway: Bad gateway.".to_owned(),
        ),
        (
            503,
            "",
            "It answered with HTTP status 503 Service Unavailable.".to_owned(),
        ),
        (599, "", "It answered with HTTP status 599.".to_owned()),
    ] {
        let (notice, origin) = connection_error_for(code, body).await;
        let expected = expected.replace("ORIGIN", &origin);
        assert_eq!(
            notice,
            format!("Could not connect to server `web`. {expected}")
        );
    }
}

#[tokio::test]
async fn status_401_asks_for_a_sign_in_status_403_does_not_and_neither_echoes_secrets() {
    let missing_credentials_advice = "Add the header it requires, such as `Authorization`, to `headers` of its entry in mcp-servers.json; `${NAME}` there inserts an environment variable.";
    let denied_access_advice = "Check the credentials in `headers` of its entry in mcp-servers.json, and whether \
                   you may use this server.";
    for (code, what, why, advice) in [
        (
            401,
            "requires you to sign in",
            "It requires valid credentials (HTTP status 401: bad [hidden]).",
            missing_credentials_advice,
        ),
        (
            403,
            "denied access",
            "It denied access (HTTP status 403: bad [hidden]).",
            denied_access_advice,
        ),
    ] {
        let body = json!({ "error": { "message": "bad Bearer s3cret-token" } });
        let web = TestHttpServer::start_with(move |_| json_with(code, &body)).await;
        let config = server_at(&web, "/mcp");
        let mut harness = HttpHarness::start(web, config);
        let notice = match code {
            401 => harness.wait_for_sign_in().await,
            _ => harness.mcp.wait_for_failure().await,
        };
        assert_eq!(
            notice.summary(),
            format!("Server `web` {what}. {why} {advice}")
        );
        harness.close().await;
    }
}

#[tokio::test]
async fn a_rate_limited_request_is_retried_after_the_given_delay() {
    let web = TestHttpServer::start_with(|request| {
        let headers = vec!["Retry-After: 1".to_owned()];
        let is_limited = request.method() == "initialize" && request.earlier_count < 2;
        is_limited.then(|| Behavior::Response(429, headers, String::new()))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let started = Instant::now();
    let harness = HttpHarness::start_connected(web, config).await;
    assert!(
        started.elapsed() >= Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    harness.close().await;
}

#[tokio::test]
async fn an_excessive_retry_after_fails_at_once() {
    let web = TestHttpServer::start_with(|_| {
        let headers = vec!["Retry-After: 86400".to_owned()];
        Some(Behavior::Response(429, headers, "slow down".to_owned()))
    })
    .await;
    let config = server_at(&web, "/mcp");
    assert_eq!(
        HttpHarness::connection_error(web, config).await,
        "Could not connect to server `web`. It is limiting the rate of requests (HTTP status 429: slow down; it asks to retry after 24 h). Try again later."
    );
}

#[tokio::test]
async fn rate_limiting_that_outlasts_the_startup_timeout_is_reported() {
    for pause in ["20", "1"] {
        let web = TestHttpServer::start_with(move |_| {
            let headers = vec![format!("Retry-After: {pause}")];
            Some(Behavior::Response(429, headers, "slow down".to_owned()))
        })
        .await;
        let config = server_at(&web, "/mcp");
        let started = Instant::now();
        let notice = HttpHarness::connection_error(web, config).await;
        assert_eq!(
            notice,
            format!(
                "Could not connect to server `web`. It is limiting the rate of requests (HTTP status 429: slow \
                 down; it asks to retry after {pause} s). Try again later."
            )
        );
        assert!(started.elapsed() < Duration::from_secs(3), "{pause}");
    }
}

#[tokio::test]
async fn each_kind_of_non_mcp_answer_has_its_own_message() {
    for (content_type, body, expected) in [
        (
            "text/html",
            "<html><title>Welcome</title>",
            "It answered with a web page instead of MCP: Welcome.",
        ),
        (
            "",
            "<!doctype html><p>hi",
            "It answered with a web page instead of MCP.",
        ),
        (
            "application/json",
            "hello there",
            "Its answer is not JSON: hello there.",
        ),
        (
            "application/json",
            "{\"jsonrpc\":",
            "Its answer belongs to a different request.",
        ),
        ("application/json", "", "Its answer is not JSON."),
        (
            "application/json",
            "42",
            "Its answer is JSON, but not a JSON-RPC message: 42.",
        ),
        (
            "image/png",
            "x",
            "It answered with the content type `image/png`, which is not MCP.",
        ),
        (
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}",
            "Its answer belongs to a different request.",
        ),
    ] {
        let web = TestHttpServer::start_with(move |_| {
            let headers = vec![format!("Content-Type: {content_type}")];
            Some(Behavior::Response(200, headers, body.to_owned()))
        })
        .await;
        let config = server_at(&web, "/mcp");
        let notice = HttpHarness::connection_error(web, config).await;
        let expected = format!("Could not connect to server `web`. {expected}");
        assert!(notice.starts_with(&expected), "{notice}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_without_the_secrets_in_its_url() {
    let web = TestHttpServer::start().await;
    // Dropping the server closes its listener, so nothing listens at this URL.
    let url = TestHttpServer::start()
        .await
        .origin
        .replace("http://", "http://me:pw-1234567@");
    let config = remote(format!("{url}/mcp?token=12345678"), RemoteTransport::Http);
    let started = Instant::now();
    let mut harness = HttpHarness::start(web, config);
    let notice = harness.mcp.wait_for_failure().await.summary();
    let origin = url.replace("me:pw-1234567@", "");
    assert_eq!(
        notice,
        format!(
            "Could not connect to server `web`. Nothing listens at `{origin}/mcp`: the \
             connection was refused. Start the server, or correct `url` in mcp-servers.json."
        )
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    harness.close().await;
}

#[tokio::test]
async fn tls_to_a_plain_text_port_is_reported() {
    let web = TestHttpServer::start().await;
    let url = web.origin.replace("http://", "https://");
    let config = remote(format!("{url}/mcp"), RemoteTransport::Http);
    let notice = HttpHarness::connection_error(web, config).await;
    let start =
        format!("Could not connect to server `web`. The TLS connection to `{url}/mcp` failed: ");
    assert!(notice.starts_with(&start), "{notice}");
    assert!(
        notice.contains("change `https://` to `http://`"),
        "{notice}"
    );
}

#[tokio::test]
async fn a_call_that_fails_with_a_status_does_not_affect_others() {
    let web = TestHttpServer::start_with(|request| {
        let fails = request.method() == "tools/call" && request.earlier_count == 0;
        fails.then(|| status(500, "boom"))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let outcome = harness.mcp.call("add", json!({})).await;
    assert_eq!(
        failed(outcome),
        "It answered with HTTP status 500 Internal Server Error: boom."
    );
    let sum = harness.mcp.call("add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(succeeded(sum), "3");
    assert_eq!(
        harness.web.requests_for("initialize").len(),
        1,
        "the session stays open"
    );
    harness.close().await;
}

fn each_transport(web: &TestHttpServer) -> [ServerConfig; 3] {
    let config_for = |path: &str, transport, protocol| ServerConfig {
        protocol,
        ..remote(format!("{}{path}", web.origin), transport)
    };
    [
        config_for("/mcp", RemoteTransport::Http, ProtocolMode::Legacy),
        config_for("/modern", RemoteTransport::Http, ProtocolMode::Modern),
        config_for("/sse", RemoteTransport::Sse, ProtocolMode::Auto),
    ]
}

#[tokio::test]
async fn credentials_that_expire_during_a_session_are_reported() {
    for index in 0..3 {
        let web = TestHttpServer::start_with(|request| {
            let is_rejected = request.method() == "tools/call";
            is_rejected.then(|| status(401, "token expired"))?
        })
        .await;
        let config = each_transport(&web)[index].clone();
        let mut harness = HttpHarness::start_connected(web, config).await;
        let why = unreachable_because(harness.mcp.call("add", json!({})).await);
        assert_eq!(
            why,
            "The server requires you to sign in. It requires valid credentials (HTTP status 401: token expired).",
            "{index}"
        );
        harness.wait_for_sign_in().await;
        harness.close().await;
    }
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_reconnected() {
    let web = TestHttpServer::start_with(|request| {
        let fails = request.method() == "tools/call" && request.earlier_count < 2;
        fails.then(|| status(500, "boom"))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    failed(harness.mcp.call("add", json!({})).await);
    harness.mcp.call("add", json!({})).await;
    harness.mcp.wait_for_failure().await;
    let sum = harness.mcp.call("add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(succeeded(sum), "3");
    assert_eq!(harness.web.requests_for("initialize").len(), 2);
    harness.close().await;
}

#[tokio::test]
async fn secrets_in_the_url_path_are_never_shown() {
    let body = "no s3cret%20PW or s3cret PW here";
    let web = TestHttpServer::start_with(move |_| status(404, body)).await;
    let config = ServerConfig {
        secrets: ["s3cret%20PW", "s3cret PW"].map(Secret::new).to_vec(),
        ..server_at(&web, "/st404/s3cret PW/mcp")
    };
    let origin = web.origin.clone();
    let mut harness = HttpHarness::start(web, config);
    let notice = harness.mcp.wait_for_failure().await.summary();
    let expected = format!(
        "Could not connect to server `web`. There is no MCP server at `{origin}/st404/[hidden]/mcp` \
         (HTTP status 404: no [hidden] or [hidden] here). "
    );
    assert!(notice.starts_with(&expected), "{notice}");
    let why = unreachable_because(harness.mcp.call("add", json!({})).await);
    assert!(why.contains("/st404/[hidden]/mcp"), "{why}");
    harness.close().await;
}

#[tokio::test]
async fn an_answer_with_an_invalid_header_is_not_reported_as_unreachable() {
    let web = TestHttpServer::start_with(|_| {
        let headers = vec!["X-Name: a\u{1}b".to_owned()];
        Some(Behavior::Response(200, headers, "{}".to_owned()))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let notice = HttpHarness::connection_error(web, config).await;
    let expected = "Could not connect to server `web`. Its answer is not valid HTTP: invalid HTTP \
                    header parsed.";
    assert_eq!(notice, expected);
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named_without_its_value() {
    for (name, value, part) in [
        ("X-Key", "s3cret\nHost: evil", "value"),
        ("X-Key", "s3cret\u{7f}", "value"),
        ("X Key", "s3cret", "name"),
    ] {
        let web = TestHttpServer::start().await;
        let url = format!("{}/mcp", web.origin);
        let launch = fixtures::remote(&url, RemoteTransport::Http, &[(name, value)]);
        let config = fixtures::server_config("web", launch);
        let notice = HttpHarness::connection_error(web, config).await;
        let expected = format!(
            "Could not connect to server `web`. The header `{name}` of its entry cannot be sent: \
             its {part} contains a character that HTTP does not allow. Correct `headers` in \
             mcp-servers.json. A value must not contain line breaks or other control characters."
        );
        assert_eq!(notice, expected);
    }
}

//! Servers that refuse: each status, web pages, redirects, and what is said of them. The
//! rest goes on.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded, unreachable_because};
use crate::mcp_http::test_server::{Behavior, TestHttpServer, json_with, redirect, status};
use humble::domain::ServerConfig;
use humble::domain::model::Secret;
use humble::domain::server::{ProtocolMode, RemoteTransport};
use serde_json::json;
use std::time::{Duration, Instant};

/// What is said of a server that answers its first request so.
async fn said_of(code: u16, body: &'static str) -> (String, String) {
    let web = TestHttpServer::start_with(move |_| status(code, body)).await;
    let config = server_at(&web, "/mcp");
    let origin = web.origin.clone();
    (HttpHarness::connection_error(web, config).await, origin)
}

#[tokio::test]
async fn each_status_has_its_own_message() {
    let url = "Check `url` in mcp-servers.json: it is the address of the MCP endpoint itself, \
               and often ends in `mcp` or `sse`.";
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
        let (sentence, origin) = said_of(code, body).await;
        let expected = expected.replace("ORIGIN", &origin);
        assert_eq!(
            sentence,
            format!("Server `web` could not be started. {expected}")
        );
    }
}

#[tokio::test]
async fn unknown_user_is_asked_to_sign_in_without_echoing_secrets() {
    let known = "Put what it asks for, such as `Authorization`, into `headers` of its entry in \
                 mcp-servers.json; `${NAME}` there stands for a variable.";
    let allowed = "Check what `headers` of its entry in mcp-servers.json says of you, and whether \
                   you may use this server.";
    for (code, why, advice) in [
        (
            401,
            "It does not know who is asking (HTTP status 401: bad [hidden]).",
            known,
        ),
        (
            403,
            "It refuses access (HTTP status 403: bad [hidden]).",
            allowed,
        ),
    ] {
        let body = json!({ "error": { "message": "bad Bearer s3cret-token" } });
        let web = TestHttpServer::start_with(move |_| json_with(code, &body)).await;
        let config = server_at(&web, "/mcp");
        let mut bench = HttpHarness::start(web, config);
        let notice = bench.wait_for_sign_in().await;
        assert_eq!(
            notice.summary(),
            format!("Server `web` answers only those who have signed in. {why} {advice}")
        );
        bench.close().await;
    }
}

#[tokio::test]
async fn a_rate_limited_request_is_retried_after_the_given_delay() {
    let web = TestHttpServer::start_with(|ask| {
        let again = vec!["Retry-After: 1".to_owned()];
        let is_early = ask.method() == "initialize" && ask.earlier_count < 2;
        is_early.then(|| Behavior::Response(429, again, String::new()))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let started = Instant::now();
    let bench = HttpHarness::start_connected(web, config).await;
    assert!(
        started.elapsed() >= Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    bench.close().await;
}

#[tokio::test]
async fn an_excessive_retry_after_fails_at_once() {
    let web = TestHttpServer::start_with(|_| {
        let again = vec!["Retry-After: 86400".to_owned()];
        Some(Behavior::Response(429, again, "slow down".to_owned()))
    })
    .await;
    let config = server_at(&web, "/mcp");
    assert_eq!(
        HttpHarness::connection_error(web, config).await,
        "Server `web` could not be started. It has too much to do (HTTP status 429: slow down; it \
         asks for a pause of 24 h). Try again later."
    );
}

#[tokio::test]
async fn a_retry_after_beyond_the_startup_timeout_is_reported_as_such() {
    for pause in ["20", "1"] {
        let web = TestHttpServer::start_with(move |_| {
            let again = vec![format!("Retry-After: {pause}")];
            Some(Behavior::Response(429, again, "slow down".to_owned()))
        })
        .await;
        let config = server_at(&web, "/mcp");
        let started = Instant::now();
        let told = HttpHarness::connection_error(web, config).await;
        assert_eq!(
            told,
            format!(
                "Server `web` could not be started. It has too much to do (HTTP status 429: slow \
                 down; it asks for a pause of {pause} s). Try again later."
            )
        );
        assert!(started.elapsed() < Duration::from_secs(3), "{pause}");
    }
}

#[tokio::test]
async fn non_mcp_answers_are_named() {
    for (kind, body, expected) in [
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
            "It answered with what is no JSON: hello there.",
        ),
        (
            "application/json",
            "{\"jsonrpc\":",
            "It answered another question than the one that was asked.",
        ),
        ("application/json", "", "It answered with what is no JSON."),
        (
            "image/png",
            "x",
            "It answered with `image/png`, which is no MCP.",
        ),
        (
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}",
            "It answered another question than the one that was asked.",
        ),
    ] {
        let web = TestHttpServer::start_with(move |_| {
            let head = vec![format!("Content-Type: {kind}")];
            Some(Behavior::Response(200, head, body.to_owned()))
        })
        .await;
        let config = server_at(&web, "/mcp");
        let sentence = HttpHarness::connection_error(web, config).await;
        let expected = format!("Server `web` could not be started. {expected}");
        assert!(sentence.starts_with(&expected), "{sentence}");
    }
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_method_and_body() {
    for code in [301, 302, 307, 308] {
        let web = TestHttpServer::start_with(move |ask| {
            (ask.path == "/old").then(|| redirect(code, "/mcp"))?
        })
        .await;
        let config = server_at(&web, "/old");
        let mut bench = HttpHarness::start_connected(web, config).await;
        let sum = bench.desk.call("add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(succeeded(sum), "3");
        bench.close().await;
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_refused_and_nothing_is_sent_there() {
    let other = TestHttpServer::start().await;
    let target = format!("{}/mcp?key=12345678", other.origin);
    for (path, transport) in [
        ("/mcp", RemoteTransport::Http),
        ("/sse", RemoteTransport::Sse),
    ] {
        let to = target.clone();
        let web = TestHttpServer::start_with(move |_| redirect(307, &to)).await;
        let config = remote(format!("{}{path}", web.origin), transport);
        assert_eq!(
            HttpHarness::connection_error(web, config).await,
            format!(
                "Server `web` could not be started. It redirects to `{}/mcp`, which is another \
                 origin and was not asked. If that address can be trusted, put it into `url` in \
                 mcp-servers.json.",
                other.origin
            )
        );
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_in_a_circle_ends() {
    let web = TestHttpServer::start_with(|_| redirect(307, "/mcp")).await;
    let config = server_at(&web, "/mcp");
    let sentence = HttpHarness::connection_error(web, config).await;
    assert_eq!(
        sentence,
        "Server `web` could not be started. It redirects again and again."
    );
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_secrets_of_its_url() {
    let web = TestHttpServer::start().await;
    let gone = TestHttpServer::start().await.origin.clone();
    let gone = gone.replace("http://", "http://me:pw-1234567@");
    let config = remote(format!("{gone}/mcp?token=12345678"), RemoteTransport::Http);
    // The listener ends with its task.
    let started = Instant::now();
    let mut bench = HttpHarness::start(web, config);
    let sentence = bench.desk.wait_for_failure().await.summary();
    let origin = gone.replace("me:pw-1234567@", "");
    assert_eq!(
        sentence,
        format!(
            "Server `web` could not be started. Nothing listens at `{origin}/mcp`: the \
             connection was refused. Start it, or correct `url` in mcp-servers.json."
        )
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    bench.close().await;
}

#[tokio::test]
async fn tls_to_a_plain_text_port_is_reported() {
    let web = TestHttpServer::start().await;
    let url = web.origin.replace("http://", "https://");
    let config = remote(format!("{url}/mcp"), RemoteTransport::Http);
    let sentence = HttpHarness::connection_error(web, config).await;
    let start = format!(
        "Server `web` could not be started. No secure connection to `{url}/mcp` could be made: "
    );
    assert!(sentence.starts_with(&start), "{sentence}");
    assert!(sentence.contains("begins with `http://`"), "{sentence}");
}

#[tokio::test]
async fn a_call_that_fails_with_a_status_does_not_affect_others() {
    let web = TestHttpServer::start_with(|ask| {
        let fails = ask.method() == "tools/call" && ask.earlier_count == 0;
        fails.then(|| status(500, "boom"))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut bench = HttpHarness::start_connected(web, config).await;
    let outcome = bench.desk.call("add", json!({})).await;
    assert_eq!(
        failed(outcome),
        "It answered with HTTP status 500 Internal Server Error: boom."
    );
    let sum = bench.desk.call("add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(succeeded(sum), "3");
    assert_eq!(
        bench.web.requests_for("initialize").len(),
        1,
        "the session is the same"
    );
    bench.close().await;
}

/// Each way of talking to a server, under the path where it is talked to so.
fn each_way(web: &TestHttpServer) -> [ServerConfig; 3] {
    let over = |path: &str, transport, protocol| ServerConfig {
        protocol,
        ..remote(format!("{}{path}", web.origin), transport)
    };
    [
        over("/mcp", RemoteTransport::Http, ProtocolMode::Legacy),
        over("/modern", RemoteTransport::Http, ProtocolMode::Modern),
        over("/sse", RemoteTransport::Sse, ProtocolMode::Auto),
    ]
}

#[tokio::test]
async fn an_open_session_that_needs_sign_in_is_reported() {
    for way in 0..3 {
        let web = TestHttpServer::start_with(|ask| {
            let refuses = ask.method() == "tools/call";
            refuses.then(|| status(401, "token expired"))?
        })
        .await;
        let config = each_way(&web)[way].clone();
        let mut bench = HttpHarness::start_connected(web, config).await;
        let why = unreachable_because(bench.desk.call("add", json!({})).await);
        assert_eq!(
            why,
            "The server answers only those who have signed in. It does not know who is asking \
             (HTTP status 401: token expired).",
            "{way}"
        );
        bench.wait_for_sign_in().await;
        bench.close().await;
    }
}

#[tokio::test]
async fn a_server_that_only_refuses_is_connected_to_anew() {
    let web = TestHttpServer::start_with(|ask| {
        let fails = ask.method() == "tools/call" && ask.earlier_count < 2;
        fails.then(|| status(500, "boom"))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut bench = HttpHarness::start_connected(web, config).await;
    failed(bench.desk.call("add", json!({})).await);
    bench.desk.call("add", json!({})).await;
    bench.desk.wait_for_failure().await;
    let sum = bench.desk.call("add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(succeeded(sum), "3");
    assert_eq!(bench.web.requests_for("initialize").len(), 2);
    bench.close().await;
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
    let mut bench = HttpHarness::start(web, config);
    let told = bench.desk.wait_for_failure().await.summary();
    let expected = format!(
        "Server `web` could not be started. There is no MCP server at `{origin}/st404/[hidden]/mcp` \
         (HTTP status 404: no [hidden] or [hidden] here). "
    );
    assert!(told.starts_with(&expected), "{told}");
    let why = unreachable_because(bench.desk.call("add", json!({})).await);
    assert!(why.contains("/st404/[hidden]/mcp"), "{why}");
    bench.close().await;
}

#[tokio::test]
async fn a_redirect_to_what_is_no_web_address_is_refused_and_shown_as_written() {
    for (target, shown) in [
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("javascript:1", "javascript:1"),
    ] {
        let web = TestHttpServer::start_with(move |_| redirect(307, target)).await;
        let config = server_at(&web, "/mcp");
        let told = HttpHarness::connection_error(web, config).await;
        let expected = format!("It redirects to `{shown}`, which is another origin");
        assert!(told.contains(&expected), "{told}");
    }
}

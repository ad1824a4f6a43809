//! Detection of a server's transport (HTTP+SSE or streamable HTTP) and protocol era.

use crate::mcp_http::http_harness::{HttpHarness, remote};
use crate::mcp_http::hub_harness::succeeded;
use crate::mcp_http::test_server::{
    Behavior, MODERN, ReplyPart, TestHttpServer, event, json_with, status,
};
use humble::domain::ServerConfig;
use humble::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use serde_json::json;
use std::time::{Duration, Instant};

fn auto_config(web: &TestHttpServer, path: &str) -> ServerConfig {
    remote(format!("{}{path}", web.origin), RemoteTransport::Auto)
}

/// Waits until the server is connected; returns its transport and protocol version.
async fn detect(harness: &mut HttpHarness) -> (ServerTransport, String) {
    harness.wait_until_connected().await;
    succeeded(harness.mcp.call("add", json!({})).await);
    let peer = harness
        .mcp
        .server()
        .peer
        .expect("the server identifies itself");
    (peer.transport, peer.protocol)
}

#[tokio::test]
async fn without_a_configured_transport_sse_is_tried_and_then_streamable_http() {
    for (path, transport, version) in [
        ("/sse", ServerTransport::Sse, "2025-11-25"),
        ("/mcp", ServerTransport::Http, "2025-11-25"),
        ("/modern", ServerTransport::Http, MODERN),
    ] {
        let web = TestHttpServer::start().await;
        let config = auto_config(&web, path);
        let mut harness = HttpHarness::start(web, config);
        assert_eq!(
            detect(&mut harness).await,
            (transport, version.to_owned()),
            "{path}"
        );
        let web = harness.close().await;
        assert_eq!(web.requests()[0].verb, "GET", "{path}");
    }
}

#[tokio::test]
async fn a_stream_without_an_endpoint_is_abandoned_after_one_second() {
    let web = TestHttpServer::start().await;
    let config = auto_config(&web, "/events");
    let started = Instant::now();
    let mut harness = HttpHarness::start(web, config);
    assert_eq!(detect(&mut harness).await.0, ServerTransport::Http);
    let elapsed = started.elapsed();
    assert!((1..4).contains(&elapsed.as_secs()), "{elapsed:?}");
    harness.close().await;
}

#[tokio::test]
async fn a_stream_that_begins_with_a_message_is_abandoned_at_once() {
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
        "params": { "level": "info", "data": "hello" } });
    let web = TestHttpServer::start_with(move |request| {
        let stream = vec![event(&log), ReplyPart::StayOpen];
        (request.verb == "GET").then_some(Behavior::Stream(stream))
    })
    .await;
    let config = auto_config(&web, "/mcp");
    let started = Instant::now();
    let mut harness = HttpHarness::start(web, config);
    assert_eq!(detect(&mut harness).await.0, ServerTransport::Http);
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_millis(900), "{elapsed:?}");
    harness.close().await;
}

#[tokio::test]
async fn a_slow_endpoint_is_waited_for_if_the_server_refuses_streamable_http() {
    let web = TestHttpServer::start_with(|request| {
        let endpoint = ReplyPart::Text("event: endpoint\ndata: /messages\n\n".to_owned());
        let slowly = ReplyPart::Pause(Duration::from_millis(1_500));
        match (request.verb.as_str(), request.path.as_str()) {
            ("GET", _) => Some(Behavior::Stream(vec![
                slowly,
                endpoint,
                ReplyPart::StayOpen,
            ])),
            ("POST", "/mcp") => status(405, ""),
            _ => None,
        }
    })
    .await;
    let config = auto_config(&web, "/mcp");
    let mut harness = HttpHarness::start(web, config);
    assert_eq!(detect(&mut harness).await.0, ServerTransport::Sse);
    harness.close().await;
}

#[tokio::test]
async fn the_transport_is_cached_and_detected_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    let mut port = 0;
    // At the same address, the server first supports only HTTP+SSE, and then only streamable HTTP.
    for (unsupported, first_verb) in [
        ("POST /mcp", "GET"),
        ("GET /mcp", "GET"),
        ("GET /mcp", "POST"),
    ] {
        let web = TestHttpServer::at_port(port, move |request| {
            let is_unsupported = unsupported == format!("{} {}", request.verb, request.path);
            let endpoint = ReplyPart::Text("event: endpoint\ndata: /messages\n\n".to_owned());
            match request.verb.as_str() {
                _ if is_unsupported => status(405, ""),
                "GET" => Some(Behavior::Stream(vec![endpoint, ReplyPart::StayOpen])),
                _ => None,
            }
        })
        .await;
        port = web.port();
        let config = auto_config(&web, "/mcp");
        let mut harness = HttpHarness::start_with_cache(web, config, file.clone());
        let expected = if unsupported.starts_with("POST") {
            ServerTransport::Sse
        } else {
            ServerTransport::Http
        };
        assert_eq!(detect(&mut harness).await.0, expected, "{unsupported}");
        let web = harness.close().await;
        assert_eq!(web.requests()[0].verb, first_verb, "{unsupported}");
    }
}

#[tokio::test]
async fn both_errors_are_reported_if_neither_transport_works() {
    let web = TestHttpServer::start_with(|request| match request.verb.as_str() {
        "GET" => status(404, ""),
        _ => status(500, "boom"),
    })
    .await;
    let config = auto_config(&web, "/mcp");
    let origin = web.origin.clone();
    assert_eq!(
        HttpHarness::connection_error(web, config).await,
        format!(
            "Could not connect to server `web`. It supports neither HTTP+SSE nor streamable \
             HTTP. Over HTTP+SSE: There is no MCP server at `{origin}/mcp` (HTTP status 404). Over \
             streamable HTTP: It answered with HTTP status 500 Internal Server Error: boom. Check `url` in mcp-servers.json. It must be the MCP endpoint itself, and often ends in `mcp` or `sse`."
        )
    );
}

#[tokio::test]
async fn an_endpoint_at_a_different_origin_is_refused() {
    let other = TestHttpServer::start().await;
    let endpoint = format!("event: endpoint\ndata: {}/messages\n\n", other.origin);
    for transport in [RemoteTransport::Sse, RemoteTransport::Auto] {
        let endpoint = endpoint.clone();
        let web = TestHttpServer::start_with(move |_| {
            Some(Behavior::Stream(vec![
                ReplyPart::Text(endpoint.clone()),
                ReplyPart::Hang,
            ]))
        })
        .await;
        let config = remote(format!("{}/sse", web.origin), transport);
        assert_eq!(
            HttpHarness::connection_error(web, config).await,
            format!(
                "Could not connect to server `web`. Its message endpoint `{}/messages` has a different origin, which is not allowed.",
                other.origin
            )
        );
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_missing_sse_endpoint_is_reported() {
    let web = TestHttpServer::start_with(|_| Some(Behavior::Stream(vec![ReplyPart::Hang]))).await;
    let config = remote(format!("{}/sse", web.origin), RemoteTransport::Sse);
    let sentence = HttpHarness::connection_error(web, config).await;
    let expected = "Could not connect to server `web`. It sent no message endpoint within 5 s. If it uses streamable HTTP, set `\"transport\": \"http\"` for it in mcp-servers.json.";
    assert_eq!(sentence, expected);
}

#[tokio::test]
async fn an_sse_url_without_an_event_stream_is_reported() {
    for content_type in ["application/json", "text/plain", ""] {
        let web = TestHttpServer::start_with(move |_| {
            let headers = vec![format!("Content-Type: {content_type}")];
            Some(Behavior::Response(200, headers, "{}".to_owned()))
        })
        .await;
        let config = remote(format!("{}/sse", web.origin), RemoteTransport::Sse);
        assert_eq!(
            HttpHarness::connection_error(web, config).await,
            "Could not connect to server `web`. It did not answer with an event stream."
        );
    }
}

/// Legacy servers differ in how they reject `server/discover`.
#[tokio::test]
async fn a_legacy_server_is_detected_from_any_rejection() {
    let no_session = json!({ "jsonrpc": "2.0", "id": null,
        "error": { "code": -32000, "message": "Bad Request: Server not initialized" } });
    for (code, body) in [
        (400, no_session),
        (400, json!("Bad Request")),
        (404, json!("")),
        (405, json!("")),
        (406, json!("")),
        (422, json!({ "detail": "no such method" })),
        (500, json!("boom")),
    ] {
        let web = TestHttpServer::start_with(move |request| {
            (request.method() == "server/discover").then(|| json_with(code, &body))?
        })
        .await;
        let config = remote(format!("{}/mcp", web.origin), RemoteTransport::Http);
        let mut harness = HttpHarness::start(web, config);
        assert_eq!(detect(&mut harness).await.1, "2025-11-25", "{code}");
        harness.close().await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_on_the_probe_is_retried_with_initialize() {
    let web = TestHttpServer::start_with(|request| {
        (request.method() == "server/discover").then_some(Behavior::Hang)
    })
    .await;
    let config = ServerConfig {
        startup_timeout: Duration::from_secs(1),
        ..remote(format!("{}/mcp", web.origin), RemoteTransport::Http)
    };
    let mut harness = HttpHarness::start(web, config);
    assert_eq!(detect(&mut harness).await.1, "2025-11-25");
    harness
        .web
        .wait_until("the probe is dropped", |web| web.dropped_connections() == 1)
        .await;
    harness.close().await;
}

#[tokio::test]
async fn a_rejected_protocol_version_is_negotiated() {
    let web = TestHttpServer::start_with(|request| {
        let error = json!({ "code": -32022, "message": "Unsupported protocol version",
            "data": { "supported": [MODERN], "requested": "other" } });
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
        let is_first = request.method() == "server/discover" && request.earlier_count == 0;
        is_first.then(|| json_with(400, &answer))?
    })
    .await;
    let config = ServerConfig {
        protocol: ProtocolMode::Modern,
        ..remote(format!("{}/modern", web.origin), RemoteTransport::Http)
    };
    let mut harness = HttpHarness::start(web, config);
    assert_eq!(detect(&mut harness).await.1, MODERN);
    harness.close().await;
}

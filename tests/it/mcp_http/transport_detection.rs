//! How it is found out what a server speaks: HTTP+SSE or streamable HTTP, and which era.

use crate::mcp_http::http_harness::{HttpHarness, remote};
use crate::mcp_http::hub_harness::succeeded;
use crate::mcp_http::test_server::{
    Behavior, MODERN, ReplyPart, TestHttpServer, json_with, status,
};
use humble::domain::ServerConfig;
use humble::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use serde_json::json;
use std::time::{Duration, Instant};

fn guessed(web: &TestHttpServer, path: &str) -> ServerConfig {
    remote(format!("{}{path}", web.origin), RemoteTransport::Auto)
}

async fn carried(bench: &mut HttpHarness) -> (ServerTransport, String) {
    bench.wait_until_connected().await;
    succeeded(bench.desk.call("add", json!({})).await);
    let peer = bench.desk.server().peer.expect("it said who it is");
    (peer.transport, peer.protocol)
}

#[tokio::test]
async fn without_a_transport_sse_is_tried_and_then_streamable_http() {
    for (path, transport, revision) in [
        ("/sse", ServerTransport::Sse, "2025-11-25"),
        ("/mcp", ServerTransport::Http, "2025-11-25"),
        ("/modern", ServerTransport::Http, MODERN),
    ] {
        let web = TestHttpServer::start().await;
        let config = guessed(&web, path);
        let mut bench = HttpHarness::start(web, config);
        assert_eq!(
            carried(&mut bench).await,
            (transport, revision.to_owned()),
            "{path}"
        );
        let web = bench.close().await;
        assert_eq!(web.requests()[0].verb, "GET", "{path}");
    }
}

#[tokio::test]
async fn a_stream_that_names_no_endpoint_is_left_after_five_seconds() {
    let web = TestHttpServer::start().await;
    let config = guessed(&web, "/events");
    let started = Instant::now();
    let mut bench = HttpHarness::start(web, config);
    assert_eq!(carried(&mut bench).await.0, ServerTransport::Http);
    let took = started.elapsed();
    assert!((5..8).contains(&took.as_secs()), "{took:?}");
    bench.close().await;
}

#[tokio::test]
async fn the_transport_is_cached_and_detected_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    let mut port = 0;
    // Nothing but HTTP+SSE at first, then the opposite, at the same address.
    for (gone, first_verb) in [
        ("POST /mcp", "GET"),
        ("GET /mcp", "GET"),
        ("GET /mcp", "POST"),
    ] {
        let web = TestHttpServer::at_port(port, move |ask| {
            let is_gone = gone == format!("{} {}", ask.verb, ask.path);
            let endpoint = ReplyPart::Text("event: endpoint\ndata: /messages\n\n".to_owned());
            match ask.verb.as_str() {
                _ if is_gone => status(405, ""),
                "GET" => Some(Behavior::Stream(vec![endpoint, ReplyPart::StayOpen])),
                _ => None,
            }
        })
        .await;
        port = web.port();
        let config = guessed(&web, "/mcp");
        let mut bench = HttpHarness::start_with_cache(web, config, file.clone());
        let expected = if gone.starts_with("POST") {
            ServerTransport::Sse
        } else {
            ServerTransport::Http
        };
        assert_eq!(carried(&mut bench).await.0, expected, "{gone}");
        let web = bench.close().await;
        assert_eq!(web.requests()[0].verb, first_verb, "{gone}");
    }
}

#[tokio::test]
async fn a_server_that_speaks_neither_is_told_both_reasons() {
    let web = TestHttpServer::start_with(|ask| match ask.verb.as_str() {
        "GET" => status(404, ""),
        _ => status(500, "boom"),
    })
    .await;
    let config = guessed(&web, "/mcp");
    let origin = web.origin.clone();
    assert_eq!(
        HttpHarness::connection_error(web, config).await,
        format!(
            "Server `web` could not be started. It speaks neither HTTP+SSE (There is no MCP \
             server at `{origin}/mcp` (HTTP status 404).) nor streamable HTTP (It answered with \
             HTTP status 500 Internal Server Error: boom.). Check `url` in mcp-servers.json: it \
             is the address of the MCP endpoint itself, and often ends in `mcp` or `sse`."
        )
    );
}

#[tokio::test]
async fn an_endpoint_at_another_origin_is_refused() {
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
                "Server `web` could not be started. The endpoint that it names is at \
                 `{}/messages`, which is another origin and is refused.",
                other.origin
            )
        );
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_server_over_sse_that_names_no_endpoint_is_said() {
    let web = TestHttpServer::start_with(|_| Some(Behavior::Stream(vec![ReplyPart::Hang]))).await;
    let config = remote(format!("{}/sse", web.origin), RemoteTransport::Sse);
    let sentence = HttpHarness::connection_error(web, config).await;
    let expected = "Server `web` could not be started. It named no endpoint for messages within \
                    5 s. If it is a server of streamable HTTP, give it `\"transport\": \"http\"` \
                    in mcp-servers.json.";
    assert_eq!(sentence, expected);
}

/// What old servers say when they are asked for the newer era.
#[tokio::test]
async fn a_server_of_the_older_era_is_found_out_however_it_says_so() {
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
        let web = TestHttpServer::start_with(move |ask| {
            (ask.method() == "server/discover").then(|| json_with(code, &body))?
        })
        .await;
        let config = remote(format!("{}/mcp", web.origin), RemoteTransport::Http);
        let mut bench = HttpHarness::start(web, config);
        assert_eq!(carried(&mut bench).await.1, "2025-11-25", "{code}");
        bench.close().await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_when_asked_for_the_newer_era_is_met_anew() {
    let web = TestHttpServer::start_with(|ask| {
        (ask.method() == "server/discover").then_some(Behavior::Hang)
    })
    .await;
    let config = ServerConfig {
        startup_timeout: Duration::from_secs(1),
        ..remote(format!("{}/mcp", web.origin), RemoteTransport::Http)
    };
    let mut bench = HttpHarness::start(web, config);
    assert_eq!(carried(&mut bench).await.1, "2025-11-25");
    bench
        .web
        .wait_until("the probe is left", |web| web.dropped_connections() == 1)
        .await;
    bench.close().await;
}

#[tokio::test]
async fn a_revision_that_is_refused_is_negotiated() {
    let web = TestHttpServer::start_with(|ask| {
        let error = json!({ "code": -32022, "message": "Unsupported protocol version",
            "data": { "supported": [MODERN], "requested": "other" } });
        let answer = json!({ "jsonrpc": "2.0", "id": ask.body["id"], "error": error });
        let is_first = ask.method() == "server/discover" && ask.earlier_count == 0;
        is_first.then(|| json_with(400, &answer))?
    })
    .await;
    let config = ServerConfig {
        protocol: ProtocolMode::Modern,
        ..remote(format!("{}/modern", web.origin), RemoteTransport::Http)
    };
    let mut bench = HttpHarness::start(web, config);
    assert_eq!(carried(&mut bench).await.1, MODERN);
    bench.close().await;
}

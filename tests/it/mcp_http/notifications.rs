//! Messages initiated by servers (list changes, requests), tool errors, and deep nesting.

use crate::mcp_http::default_behavior::nested;
use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded};
use crate::mcp_http::test_server::{Behavior, TestHttpServer, json_with};
use humble::domain::server::RemoteTransport;
use serde_json::json;

#[tokio::test]
async fn a_tool_added_before_the_stream_opened_is_listed() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/events");
    let mut harness = HttpHarness::start_connected(web, config).await;
    harness.mcp.wait_for(|server| server.tools.len() == 1).await;
    // The change is not announced, so the client learns of it only by listing the tools again.
    harness
        .web
        .add_tool(json!({ "name": "late", "inputSchema": {} }));
    harness.mcp.wait_for(|server| server.tools.len() == 2).await;
    harness.mcp.wait_for_notice("added `late`").await;
    harness
        .web
        .wait_until("the list is requested again", |web| {
            web.requests_for("tools/list").len() == 2
        })
        .await;
    harness.close().await;
}

#[tokio::test]
async fn an_unchanged_list_is_requested_again_without_a_notice() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/events");
    let mut harness = HttpHarness::start_connected(web, config).await;
    harness
        .web
        .wait_until("the list is requested again", |web| {
            web.requests_for("tools/list").len() == 2
        })
        .await;
    succeeded(harness.mcp.call("add", json!({})).await);
    assert_eq!(harness.mcp.notices, []);
    harness.close().await;
}

#[tokio::test]
async fn a_change_of_the_tool_list_is_received_on_the_open_stream() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/events", RemoteTransport::Http),
    ] {
        let web = TestHttpServer::start().await;
        let config = remote(format!("{}{path}", web.origin), transport);
        let mut harness = HttpHarness::start_connected(web, config).await;
        harness
            .web
            .wait_until("a stream is open", |web| web.open_streams() == 1)
            .await;
        harness
            .web
            .add_tool(json!({ "name": "new", "inputSchema": {} }));
        harness
            .web
            .broadcast(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        harness.mcp.wait_for_notice("added `new`").await;
        harness.close().await;
    }
}

#[tokio::test]
async fn a_ping_from_the_server_on_the_event_stream_is_answered() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/events");
    let harness = HttpHarness::start_connected(web, config).await;
    harness
        .web
        .wait_until("a stream is open", |web| web.open_streams() == 1)
        .await;
    harness
        .web
        .broadcast(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    harness
        .web
        .wait_until("an answer", |web| {
            web.requests()
                .iter()
                .any(|request| request.body["id"] == "p" && request.body["result"].is_object())
        })
        .await;
    harness.close().await;
}

#[tokio::test]
async fn a_tool_error_is_the_result_regardless_of_http_status() {
    let web = TestHttpServer::start_with(|request| {
        let error = json!({ "code": -32602, "message": "no such number" });
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
        let status = [200, 400, 500][request.earlier_count % 3];
        (request.method() == "tools/call").then(|| json_with(status, &answer))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    for _ in 0..3 {
        let outcome = harness.mcp.call("add", json!({})).await;
        assert_eq!(failed(outcome), "no such number (JSON-RPC error -32602)");
    }
    harness.close().await;
}

#[tokio::test]
async fn deep_nesting_affects_only_its_tool_or_call_over_every_transport() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/mcp", RemoteTransport::Http),
        ("/events", RemoteTransport::Http),
        ("/modern", RemoteTransport::Http),
    ] {
        let web = TestHttpServer::start().await;
        let schema = json!({ "type": "object", "properties": { "x": nested() } });
        web.add_tool(json!({ "name": "deep", "inputSchema": schema }));
        web.add_tool(json!({ "inputSchema": {}, "name": "last" }));
        let config = remote(format!("{}{path}", web.origin), transport);
        let mut harness = HttpHarness::start_connected(web, config).await;
        let server = harness.mcp.server();
        let names: Vec<_> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "last"], "{path}");
        assert_eq!(
            server.omissions,
            ["tool `deep`, whose definition is nested deeper than 128 levels"],
            "{path}"
        );
        assert_eq!(
            failed(harness.mcp.call("nest", json!({})).await),
            "The answer is nested deeper than 128 levels.",
            "{path}"
        );
        let sum = harness.mcp.call("add", json!({ "a": 2, "b": 40 })).await;
        assert_eq!(succeeded(sum), "42", "{path}");
        harness.close().await;
    }
}

#[tokio::test]
async fn an_error_nested_too_deeply_keeps_its_message() {
    let web = TestHttpServer::start_with(|request| {
        (request.method() == "tools/call").then(|| {
            let error = json!({ "data": nested(), "code": -32000, "message": "no such city" });
            let body = json!({ "jsonrpc": "2.0", "error": error, "id": request.body["id"] });
            let head = vec!["Content-Type: application/json".to_owned()];
            Behavior::Response(400, head, body.to_string())
        })
    })
    .await;
    let config = remote(format!("{}/mcp", web.origin), RemoteTransport::Http);
    let mut harness = HttpHarness::start_connected(web, config).await;
    assert_eq!(
        failed(harness.mcp.call("add", json!({})).await),
        "no such city (JSON-RPC error -32000)"
    );
    harness.close().await;
}

//! What servers say by themselves: lists that change, questions; and errors of tools.

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
    let mut bench = HttpHarness::start_connected(web, config).await;
    bench.desk.wait_for(|server| server.tools.len() == 1).await;
    // Told before there was a stream, or not at all: nobody heard it.
    bench
        .web
        .add_tool(json!({ "name": "late", "inputSchema": {} }));
    bench.desk.wait_for(|server| server.tools.len() == 2).await;
    bench.desk.wait_for_notice("added `late`").await;
    bench
        .web
        .wait_until("the list is asked for again", |web| {
            web.requests_for("tools/list").len() == 2
        })
        .await;
    bench.close().await;
}

#[tokio::test]
async fn a_list_that_is_the_same_is_asked_for_again_without_a_notice() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/events");
    let mut bench = HttpHarness::start_connected(web, config).await;
    bench
        .web
        .wait_until("the list is asked for again", |web| {
            web.requests_for("tools/list").len() == 2
        })
        .await;
    succeeded(bench.desk.call("add", json!({})).await);
    assert_eq!(bench.desk.notices, []);
    bench.close().await;
}

#[tokio::test]
async fn a_change_is_received_on_the_open_stream() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/events", RemoteTransport::Http),
    ] {
        let web = TestHttpServer::start().await;
        let config = remote(format!("{}{path}", web.origin), transport);
        let mut bench = HttpHarness::start_connected(web, config).await;
        bench
            .web
            .wait_until("a stream stands", |web| web.streams() == 1)
            .await;
        bench
            .web
            .add_tool(json!({ "name": "new", "inputSchema": {} }));
        bench
            .web
            .tell(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        bench.desk.wait_for_notice("added `new`").await;
        bench.close().await;
    }
}

#[tokio::test]
async fn a_server_that_asks_is_answered() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/events");
    let bench = HttpHarness::start_connected(web, config).await;
    bench
        .web
        .wait_until("a stream stands", |web| web.streams() == 1)
        .await;
    bench
        .web
        .tell(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    bench
        .web
        .wait_until("an answer", |web| {
            web.requests()
                .iter()
                .any(|ask| ask.body["id"] == "p" && ask.body["result"].is_object())
        })
        .await;
    bench.close().await;
}

#[tokio::test]
async fn an_error_of_the_tool_is_the_answer_whatever_its_status() {
    let web = TestHttpServer::start_with(|ask| {
        let error = json!({ "code": -32602, "message": "no such number" });
        let answer = json!({ "jsonrpc": "2.0", "id": ask.body["id"], "error": error });
        let status = [200, 400, 500][ask.earlier_count % 3];
        (ask.method() == "tools/call").then(|| json_with(status, &answer))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut bench = HttpHarness::start_connected(web, config).await;
    for _ in 0..3 {
        let outcome = bench.desk.call("add", json!({})).await;
        assert_eq!(failed(outcome), "no such number (JSON-RPC error -32602)");
    }
    bench.close().await;
}

#[tokio::test]
async fn what_is_nested_too_deep_costs_a_tool_or_a_call_over_every_carrier() {
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
        let mut bench = HttpHarness::start_connected(web, config).await;
        let server = bench.desk.server();
        let names: Vec<_> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "last"], "{path}");
        assert_eq!(
            server.rejected_tools,
            ["tool `deep`, whose definition is nested deeper than 128 levels"],
            "{path}"
        );
        assert_eq!(
            failed(bench.desk.call("nest", json!({})).await),
            "The answer is nested deeper than 128 levels.",
            "{path}"
        );
        let sum = bench.desk.call("add", json!({ "a": 2, "b": 40 })).await;
        assert_eq!(succeeded(sum), "42", "{path}");
        bench.close().await;
    }
}

#[tokio::test]
async fn a_refusal_that_is_nested_too_deep_keeps_its_words() {
    let web = TestHttpServer::start_with(|ask| {
        (ask.method() == "tools/call").then(|| {
            let error = json!({ "data": nested(), "code": -32000, "message": "no such city" });
            let body = json!({ "jsonrpc": "2.0", "error": error, "id": ask.body["id"] });
            let head = vec!["Content-Type: application/json".to_owned()];
            Behavior::Response(400, head, body.to_string())
        })
    })
    .await;
    let config = remote(format!("{}/mcp", web.origin), RemoteTransport::Http);
    let mut bench = HttpHarness::start_connected(web, config).await;
    assert_eq!(
        failed(bench.desk.call("add", json!({})).await),
        "no such city (JSON-RPC error -32000)"
    );
    bench.close().await;
}

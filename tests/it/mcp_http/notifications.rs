//! What servers say by themselves: lists that change, questions; and errors of tools.

use crate::mcp_http::bench::{Bench, at, remote};
use crate::mcp_http::mcp_desk::{failed, succeeded};
use crate::mcp_http::web::{Act, Web, json_with};
use crate::mcp_http::well_behaved::nested;
use humble::domain::server::RemoteTransport;
use serde_json::json;

#[tokio::test]
async fn a_tool_that_came_before_the_stream_stood_is_listed() {
    let web = Web::good().await;
    let config = at(&web, "/events");
    let mut bench = Bench::connected(web, config).await;
    bench.desk.until(|server| server.tools.len() == 1).await;
    // Told before there was a stream, or not at all: nobody heard it.
    bench
        .web
        .add_tool(json!({ "name": "late", "inputSchema": {} }));
    bench.desk.until(|server| server.tools.len() == 2).await;
    bench.desk.until_noticed("added `late`").await;
    bench
        .web
        .until("the list is asked for again", |web| {
            web.asked("tools/list").len() == 2
        })
        .await;
    bench.close().await;
}

#[tokio::test]
async fn a_list_that_is_the_same_is_asked_for_again_without_a_notice() {
    let web = Web::good().await;
    let config = at(&web, "/events");
    let mut bench = Bench::connected(web, config).await;
    bench
        .web
        .until("the list is asked for again", |web| {
            web.asked("tools/list").len() == 2
        })
        .await;
    succeeded(bench.desk.call("add", json!({})).await);
    assert_eq!(bench.desk.notices, []);
    bench.close().await;
}

#[tokio::test]
async fn a_change_is_heard_on_the_stream_that_stands_open() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/events", RemoteTransport::Http),
    ] {
        let web = Web::good().await;
        let config = remote(format!("{}{path}", web.origin), transport);
        let mut bench = Bench::connected(web, config).await;
        bench
            .web
            .until("a stream stands", |web| web.streams() == 1)
            .await;
        bench
            .web
            .add_tool(json!({ "name": "new", "inputSchema": {} }));
        bench
            .web
            .tell(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        bench.desk.until_noticed("added `new`").await;
        bench.close().await;
    }
}

#[tokio::test]
async fn a_server_that_asks_is_answered() {
    let web = Web::good().await;
    let config = at(&web, "/events");
    let bench = Bench::connected(web, config).await;
    bench
        .web
        .until("a stream stands", |web| web.streams() == 1)
        .await;
    bench
        .web
        .tell(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    bench
        .web
        .until("an answer", |web| {
            web.asks()
                .iter()
                .any(|ask| ask.body["id"] == "p" && ask.body["result"].is_object())
        })
        .await;
    bench.close().await;
}

#[tokio::test]
async fn an_error_of_the_tool_is_the_answer_whatever_its_status() {
    let web = Web::with(|ask| {
        let error = json!({ "code": -32602, "message": "no such number" });
        let answer = json!({ "jsonrpc": "2.0", "id": ask.body["id"], "error": error });
        let status = [200, 400, 500][ask.earlier % 3];
        (ask.method() == "tools/call").then(|| json_with(status, &answer))?
    })
    .await;
    let config = at(&web, "/mcp");
    let mut bench = Bench::connected(web, config).await;
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
        let web = Web::good().await;
        let schema = json!({ "type": "object", "properties": { "x": nested() } });
        web.add_tool(json!({ "name": "deep", "inputSchema": schema }));
        web.add_tool(json!({ "inputSchema": {}, "name": "last" }));
        let config = remote(format!("{}{path}", web.origin), transport);
        let mut bench = Bench::connected(web, config).await;
        let server = bench.desk.server();
        let names: Vec<_> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "last"], "{path}");
        assert_eq!(
            server.left_out,
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
    let web = Web::with(|ask| {
        (ask.method() == "tools/call").then(|| {
            let error = json!({ "data": nested(), "code": -32000, "message": "no such city" });
            let body = json!({ "jsonrpc": "2.0", "error": error, "id": ask.body["id"] });
            let head = vec!["Content-Type: application/json".to_owned()];
            Act::Whole(400, head, body.to_string())
        })
    })
    .await;
    let config = remote(format!("{}/mcp", web.origin), RemoteTransport::Http);
    let mut bench = Bench::connected(web, config).await;
    assert_eq!(
        failed(bench.desk.call("add", json!({})).await),
        "no such city (JSON-RPC error -32000)"
    );
    bench.close().await;
}

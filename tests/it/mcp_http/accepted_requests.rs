//! Servers that answer a request with HTTP 202 or 204, which only fits messages that need no answer.

use crate::mcp_http::http_harness::{HttpHarness, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded};
use crate::mcp_http::test_server::{ReceivedRequest, TestHttpServer, json_with, status};
use humble::domain::server::ProtocolMode;
use humble::domain::{ServerConfig, ToolOutcome};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn an_accepted_request_without_an_answer_fails_unless_a_stream_is_open() {
    let accepts_calls = |code| {
        move |request: &ReceivedRequest| {
            (request.method() == "tools/call").then(|| status(code, ""))?
        }
    };
    for (path, protocol, code, name) in [
        ("/mcp", ProtocolMode::Legacy, 202, "202 Accepted"),
        ("/modern", ProtocolMode::Modern, 202, "202 Accepted"),
        ("/modern", ProtocolMode::Modern, 204, "204 No Content"),
    ] {
        let web = TestHttpServer::start_with(accepts_calls(code)).await;
        let config = ServerConfig {
            protocol,
            ..server_at(&web, path)
        };
        let mut harness = HttpHarness::start_connected(web, config).await;
        let outcome = harness.mcp.call("add", json!({})).await;
        let ToolOutcome::Failed { elapsed, .. } = &outcome else {
            panic!("{path}: {outcome:?}");
        };
        assert!(*elapsed < Duration::from_secs(5), "{path}: {elapsed:?}");
        let expected =
            format!("It accepted the request, but did not answer it (HTTP status {name}).");
        assert_eq!(failed(outcome), expected, "{path}");
        harness.close().await;
    }
    // The answer arrives on the open stream.
    let web = TestHttpServer::start_with(accepts_calls(202)).await;
    let config = server_at(&web, "/events");
    let harness = HttpHarness::start_connected(web, config).await;
    harness
        .web
        .wait_until("the stream is open", |web| web.open_streams() == 1)
        .await;
    let request = harness.mcp.call_request("add", json!({}));
    let call = harness.mcp.hub.call(request, CancellationToken::new());
    let answering = async {
        harness
            .web
            .wait_until("the call arrives", |web| {
                !web.requests_for("tools/call").is_empty()
            })
            .await;
        let id = harness.web.requests_for("tools/call")[0].body["id"].clone();
        let content = json!([{ "type": "text", "text": "late" }]);
        harness
            .web
            .broadcast(&json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } }));
    };
    let (outcome, ()) = tokio::join!(call, answering);
    assert_eq!(succeeded(outcome), "late");
    harness.close().await;
}

#[tokio::test]
async fn an_accepted_request_is_answered_by_the_body_if_that_holds_the_answer() {
    let answers_in_body = |request: &ReceivedRequest| {
        let result = json!({ "content": [{ "type": "text", "text": "early" }] });
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result });
        (request.method() == "tools/call").then(|| json_with(202, &answer))?
    };
    for (path, protocol) in [
        ("/mcp", ProtocolMode::Legacy),
        ("/modern", ProtocolMode::Modern),
    ] {
        let web = TestHttpServer::start_with(answers_in_body).await;
        let config = ServerConfig {
            protocol,
            ..server_at(&web, path)
        };
        let mut harness = HttpHarness::start_connected(web, config).await;
        let outcome = harness.mcp.call("add", json!({})).await;
        assert_eq!(succeeded(outcome), "early", "{path}");
        harness.close().await;
    }
}

#[tokio::test]
async fn an_answer_without_result_and_error_fails_the_call_at_once() {
    let answers_nothing = |request: &ReceivedRequest| {
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"] });
        (request.method() == "tools/call").then(|| json_with(200, &answer))?
    };
    let web = TestHttpServer::start_with(answers_nothing).await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    for _ in 0..3 {
        let outcome = harness.mcp.call("add", json!({})).await;
        assert_eq!(
            failed(outcome),
            "The server answered the request with neither a result nor an error."
        );
    }
    harness.close().await;
}

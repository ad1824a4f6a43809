//! Sessions and streams that end unexpectedly, and endless bodies.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded, unreachable_because};
use crate::mcp_http::test_server::{
    Behavior, ReceivedRequest, ReplyPart, TestHttpServer, event, json_with, status,
};
use humble::domain::server::RemoteTransport;
use humble::domain::{ServerConfig, ServerStatus};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The response to the first tool call; `None` for other requests.
fn on_first_call(
    request: &ReceivedRequest,
    response: impl Fn() -> Option<Behavior>,
) -> Option<Behavior> {
    let is_first = request.method() == "tools/call" && request.earlier_count == 0;
    is_first.then(response)?
}

#[tokio::test]
async fn a_lost_session_is_reopened_and_the_call_retried_silently() {
    let no_session = json!({ "jsonrpc": "2.0", "id": null,
        "error": { "code": -32000, "message": "Bad Request: No valid session ID provided" } });
    let not_found = json!({ "jsonrpc": "2.0", "id": null,
        "error": { "code": -32001, "message": "Session not found" } });
    let answers = [
        json_with(404, &json!("Not Found")),
        json_with(404, &no_session),
        json_with(400, &no_session),
        json_with(410, &json!("Gone")),
        json_with(500, &not_found),
        status(500, "unknown session"),
        json_with(200, &not_found),
        Some(Behavior::Stream(vec![event(&not_found)])),
    ];
    for answer in answers {
        let web =
            TestHttpServer::start_with(move |request| on_first_call(request, || answer.clone()))
                .await;
        let config = server_at(&web, "/mcp");
        let mut harness = HttpHarness::start_connected(web, config).await;
        let sum = harness.mcp.call("add", json!({ "a": 2, "b": 40 })).await;
        assert_eq!(succeeded(sum), "42");
        assert_eq!(harness.mcp.notices, []);
        assert_eq!(harness.mcp.server().status, ServerStatus::Connected);
        let web = harness.close().await;
        assert_eq!(
            (
                web.requests_for("initialize").len(),
                web.requests_for("tools/call").len()
            ),
            (2, 2)
        );
        assert_eq!(
            web.requests_for("DELETE").len(),
            1,
            "only the new session is ended"
        );
    }
}

#[tokio::test]
async fn a_session_that_is_lost_after_the_call_began_does_not_repeat_it() {
    let web = TestHttpServer::start_with(|request| {
        let id = &request.body["id"];
        let error = json!({ "code": -32001, "message": "Session not found" });
        let lost = event(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        let begun = event(
            &json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": "adding" } }),
        );
        on_first_call(request, || {
            Some(Behavior::Stream(vec![begun.clone(), lost.clone()]))
        })
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let why = failed(harness.mcp.call("add", json!({})).await);
    assert_eq!(why, "Session not found (JSON-RPC error -32001)");
    assert_eq!(harness.web.requests_for("tools/call").len(), 1);
    harness.close().await;
}

#[tokio::test]
async fn other_errors_with_the_code_of_an_unknown_session_fail_only_their_call() {
    let web = TestHttpServer::start_with(|request| {
        let error = json!({ "code": -32001, "message": "Request timed out" });
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
        on_first_call(request, || json_with(200, &answer))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let why = failed(harness.mcp.call("add", json!({})).await);
    assert_eq!(why, "Request timed out (JSON-RPC error -32001)");
    assert_eq!(harness.web.requests_for("initialize").len(), 1);
    harness.close().await;
}

#[tokio::test]
async fn an_internal_error_fails_its_call_and_ends_the_session_only_if_that_is_lost() {
    let internal_error = json!({ "jsonrpc": "2.0", "id": null,
        "error": { "code": -32603, "message": "Internal server error" } });
    for (is_lost, answer) in [
        (true, status(500, "boom")),
        (true, json_with(500, &internal_error)),
        (false, status(500, "boom")),
        (false, json_with(500, &internal_error)),
    ] {
        let web = TestHttpServer::start_with(move |request| {
            let fails = match request.method() {
                "tools/call" => request.earlier_count == 0,
                "ping" => is_lost && request.header("mcp-session-id") == Some("s-1"),
                _ => false,
            };
            fails.then(|| answer.clone())?
        })
        .await;
        let config = server_at(&web, "/mcp");
        let mut harness = HttpHarness::start_connected(web, config).await;
        let why = failed(harness.mcp.call("add", json!({})).await);
        assert!(
            why.contains("boom") || why.contains("Internal server error"),
            "{why}"
        );
        harness
            .web
            .wait_until("a new session", |web| {
                web.requests_for("ping").len() == 1
                    && web.requests_for("initialize").len() == 1 + usize::from(is_lost)
            })
            .await;
        let sum = harness.mcp.call("add", json!({ "a": 2, "b": 40 })).await;
        assert_eq!(succeeded(sum), "42");
        assert_eq!(
            harness.web.requests_for("initialize").len(),
            1 + usize::from(is_lost)
        );
        assert_eq!(harness.mcp.notices, []);
        harness.close().await;
    }
}

#[tokio::test]
async fn concurrent_calls_survive_a_lost_session() {
    // The first three calls fail, however they are distributed over sessions.
    let web = TestHttpServer::start_with(|request| {
        let fails = request.method() == "tools/call" && request.earlier_count < 3;
        fails.then(|| status(404, ""))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let harness = HttpHarness::start_connected(web, config).await;
    let calls: Vec<_> = (0..3)
        .map(|number| {
            let call = harness.mcp.call_request("add", json!({ "a": number }));
            tokio::spawn(harness.mcp.hub.call(call, CancellationToken::new()))
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let outcome = call.await.expect("the call does not panic");
        assert_eq!(succeeded(outcome), number.to_string());
    }
    harness.close().await;
}

#[tokio::test]
async fn repeated_session_loss_fails_the_call() {
    let web = TestHttpServer::start_with(|request| {
        (request.method() == "tools/call").then(|| status(404, ""))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let why = unreachable_because(harness.mcp.call("add", json!({})).await);
    assert_eq!(
        why,
        "The server did not recognize the session of the call, nor the new one in which it was \
         repeated."
    );
    assert_eq!(harness.web.requests_for("tools/call").len(), 2);
    harness.close().await;
}

#[tokio::test]
async fn a_json_rpc_error_with_status_400_fails_its_call_and_keeps_the_session() {
    let web = TestHttpServer::start_with(|request| {
        let error = json!({ "code": -32602, "message": "no such tool" });
        let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
        (request.method() == "tools/call").then(|| json_with(400, &answer))?
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let outcome = harness.mcp.call("add", json!({})).await;
    assert_eq!(failed(outcome), "no such tool (JSON-RPC error -32602)");
    assert_eq!(harness.web.requests_for("initialize").len(), 1);
    harness.close().await;
}

#[tokio::test]
async fn a_stream_that_ends_early_fails_only_its_own_call() {
    let partial_event =
        || ReplyPart::Text("event: message\ndata: {\"jsonrpc\":\"2.0\",".to_owned());
    for parts in [
        vec![],
        vec![partial_event()],
        vec![partial_event(), ReplyPart::Disconnect],
    ] {
        let web = TestHttpServer::start_with(move |request| {
            on_first_call(request, || Some(Behavior::Stream(parts.clone())))
        })
        .await;
        let config = server_at(&web, "/mcp");
        let mut harness = HttpHarness::start_connected(web, config).await;
        let why = failed(harness.mcp.call("add", json!({})).await);
        let reasons = [
            "It closed",
            "Its stream ended before the answer came.",
            "Its answer was interrupted: ",
        ];
        assert!(
            reasons.iter().any(|reason| why.starts_with(reason)),
            "{why}"
        );
        succeeded(harness.mcp.call("add", json!({})).await);
        assert_eq!(harness.web.requests_for("initialize").len(), 1);
        harness.close().await;
    }
}

#[tokio::test]
async fn an_ended_stream_is_resumed_after_the_delay_set_by_the_server() {
    let web = TestHttpServer::start_with(|request| {
        let is_resumed = request.header("last-event-id") == Some("e-7");
        let first = ReplyPart::Text("id: e-7\nretry: 400\ndata: \n\n".to_owned());
        match request.method() {
            "tools/call" => Some(Behavior::Stream(vec![first])),
            "GET" if is_resumed => {
                let result = json!({ "content": [{ "type": "text", "text": "after all" }] });
                let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": result });
                Some(Behavior::Stream(vec![crate::mcp_http::test_server::event(
                    &answer,
                )]))
            }
            _ => None,
        }
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let started = Instant::now();
    let outcome = harness.mcp.call("add", json!({})).await;
    assert_eq!(succeeded(outcome), "after all");
    assert!(started.elapsed() >= Duration::from_millis(400));
    let gets = harness.web.requests_for("GET");
    let resumed = gets
        .iter()
        .filter(|request| request.header("last-event-id").is_some());
    assert_eq!(resumed.count(), 1);
    harness.close().await;
}

#[tokio::test]
async fn the_end_of_the_sse_stream_ends_the_session() {
    let web = TestHttpServer::start_with(|request| {
        let endpoint = ReplyPart::Text("event: endpoint\ndata: /messages\n\n".to_owned());
        let ends = request.method() == "GET" && request.earlier_count == 0;
        ends.then(|| {
            let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": {
                "protocolVersion": "2024-11-05", "capabilities": {} } });
            let pause = ReplyPart::Pause(Duration::from_millis(200));
            Behavior::Stream(vec![
                endpoint,
                pause.clone(),
                crate::mcp_http::test_server::event(&answer),
                pause,
            ])
        })
    })
    .await;
    let config = remote(format!("{}/sse", web.origin), RemoteTransport::Sse);
    let mut harness = HttpHarness::start_connected(web, config).await;
    let notice = harness.mcp.wait_for_failure().await;
    assert_eq!(
        notice.summary(),
        "Server `web` disconnected. It closed its stream."
    );
    let sum = harness.mcp.call("add", json!({ "a": 1 })).await;
    assert_eq!(succeeded(sum), "1");
    harness.close().await;
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    for behavior in [
        Behavior::EndlessBody,
        Behavior::Stream(vec![ReplyPart::Flood(70 << 20), ReplyPart::Hang]),
    ] {
        let web = TestHttpServer::start_with(move |request| {
            on_first_call(request, || Some(behavior.clone()))
        })
        .await;
        let config = ServerConfig {
            tool_timeout: Duration::from_secs(60),
            ..server_at(&web, "/mcp")
        };
        let mut harness = HttpHarness::start_connected(web, config).await;
        let why = failed(harness.mcp.call("add", json!({})).await);
        assert_eq!(why, "It sent a message of more than 64 MB.");
        succeeded(harness.mcp.call("add", json!({})).await);
        harness.close().await;
    }
}

#[tokio::test]
async fn a_server_that_sends_no_response_headers_fails_at_the_startup_timeout() {
    let web = TestHttpServer::start_with(|_| Some(Behavior::Hang)).await;
    let config = ServerConfig {
        startup_timeout: Duration::from_millis(300),
        ..server_at(&web, "/mcp")
    };
    let sentence = HttpHarness::connection_error(web, config).await;
    assert!(
        sentence.contains("It did not answer `initialize` within 0.3 s."),
        "{sentence}"
    );
}

#[tokio::test]
async fn a_server_exit_is_reported_and_ends_its_calls() {
    let web = TestHttpServer::start_with(|request| {
        (request.method() == "tools/call").then_some(Behavior::Hang)
    })
    .await;
    let config = server_at(&web, "/events");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let call = harness.mcp.hub.call(
        harness.mcp.call_request("add", json!({})),
        CancellationToken::new(),
    );
    let call = tokio::spawn(call);
    harness
        .web
        .wait_until("a call", |web| web.requests_for("tools/call").len() == 1)
        .await;
    harness.web.shut_down();
    let outcome = call.await.expect("the call does not panic");
    let why = unreachable_because(outcome);
    assert_eq!(
        why,
        "The server is gone. It closed the connection without an answer. It is not known whether \
         the tool ran."
    );
    let notice = harness.mcp.wait_for_failure().await.summary();
    assert_eq!(
        notice,
        "Server `web` disconnected. It closed the connection without an answer."
    );
    harness.close().await;
}

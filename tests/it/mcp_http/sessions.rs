//! Well-behaved servers over every transport and era: tools, progress, cancellation, timeouts, and
//! responses in any order.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::succeeded;
use crate::mcp_http::test_server::{
    Behavior, MODERN, ReceivedRequest, ReplyPart, TestHttpServer, event, json_with, status,
};
use humble::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use humble::domain::{ServerConfig, ToolOutcome};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

async fn assert_add_works(harness: &mut HttpHarness) {
    let sum = harness.mcp.call("add", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(succeeded(sum), "42");
}

fn config_for(web: &TestHttpServer, path: &str, transport: RemoteTransport) -> ServerConfig {
    remote(format!("{}{path}", web.origin), transport)
}

#[tokio::test]
async fn an_id_that_a_gateway_turned_into_a_string_is_recognized() {
    let web = TestHttpServer::start_with(|request| {
        let result = match request.method() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "gateway", "version": "1" },
            }),
            "tools/list" => {
                let schema = json!({ "type": "object" });
                json!({ "tools": [{ "name": "add", "inputSchema": schema }] })
            }
            "tools/call" => json!({ "content": [{ "type": "text", "text": "42" }] }),
            _ => return None,
        };
        let id = request.body["id"].to_string();
        json_with(
            200,
            &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        )
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    assert_add_works(&mut harness).await;
    harness.close().await;
}

#[tokio::test]
async fn a_tool_is_called_over_every_transport_and_era() {
    for (path, transport, expected_transport, version) in [
        (
            "/sse",
            RemoteTransport::Sse,
            ServerTransport::Sse,
            "2025-11-25",
        ),
        (
            "/mcp",
            RemoteTransport::Http,
            ServerTransport::Http,
            "2025-11-25",
        ),
        (
            "/events",
            RemoteTransport::Http,
            ServerTransport::Http,
            "2025-11-25",
        ),
        (
            "/modern",
            RemoteTransport::Http,
            ServerTransport::Http,
            MODERN,
        ),
    ] {
        let web = TestHttpServer::start().await;
        let config = config_for(&web, path, transport);
        let mut harness = HttpHarness::start_connected(web, config).await;
        let peer = harness
            .mcp
            .server()
            .peer
            .expect("the server identifies itself");
        assert_eq!(
            (peer.transport, peer.protocol.as_str()),
            (expected_transport, version),
            "{path}"
        );
        assert_add_works(&mut harness).await;
        let web = harness.close().await;
        for request in web.requests() {
            assert_eq!(request.header("authorization"), Some("Bearer s3cret-token"));
        }
    }
}

#[tokio::test]
async fn every_request_carries_the_session_id_and_closing_deletes_the_session() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    assert_add_works(&mut harness).await;
    let web = harness.close().await;
    let session_headers = |request: &ReceivedRequest| {
        let header = |name| request.header(name).unwrap_or("-").to_owned();
        (
            request.method().to_owned(),
            header("mcp-session-id"),
            header("mcp-protocol-version"),
        )
    };
    let mut sent: Vec<_> = web.requests().iter().map(session_headers).collect();
    let first = sent.remove(0);
    assert_eq!(
        first,
        ("initialize".to_owned(), "-".to_owned(), "-".to_owned())
    );
    let later = |method: &str| (method.to_owned(), "s-1".to_owned(), "2025-11-25".to_owned());
    sent.sort();
    sent.dedup();
    let expected = [
        "DELETE",
        "GET",
        "notifications/initialized",
        "tools/call",
        "tools/list",
    ];
    assert_eq!(sent, expected.map(later));
}

#[tokio::test]
async fn messages_after_initialized_wait_for_its_arrival() {
    let web = TestHttpServer::start_with(|request| {
        let is_notified = request.method() == "notifications/initialized";
        is_notified.then_some(Behavior::Delayed(Duration::from_millis(300)))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let started = Instant::now();
    let harness = HttpHarness::start_connected(web, config).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    let requests = harness.web.requests();
    let posts = requests.iter().filter(|request| request.verb == "POST");
    let methods: Vec<_> = posts.map(ReceivedRequest::method).collect();
    assert_eq!(
        methods[..3],
        ["initialize", "notifications/initialized", "tools/list"]
    );
    harness.close().await;
}

#[tokio::test]
async fn modern_requests_name_method_tool_and_arguments_in_headers() {
    let web = TestHttpServer::start().await;
    web.add_tool(
        json!({ "name": "bad", "inputSchema": { "type": "object", "properties": {
        "a": { "type": "array", "x-mcp-header": "A" } } } }),
    );
    let config = ServerConfig {
        protocol: ProtocolMode::Modern,
        ..server_at(&web, "/modern")
    };
    let mut harness = HttpHarness::start_connected(web, config).await;
    let server = harness.mcp.server();
    assert_eq!(server.tools.len(), 1);
    assert_eq!(
        server.omissions,
        ["tool `bad`: argument `a`: `x-mcp-header` requires the type string, integer or boolean"]
    );
    assert_add_works(&mut harness).await;
    let web = harness.close().await;
    let call = web.requests_for("tools/call").remove(0);
    let header = |name| call.header(name).unwrap_or("-").to_owned();
    let names = [
        "mcp-method",
        "mcp-name",
        "mcp-param-first",
        "mcp-protocol-version",
        "mcp-session-id",
    ];
    assert_eq!(names.map(header), ["tools/call", "add", "2", MODERN, "-"]);
    assert!(web.requests_for("GET").is_empty() && web.requests_for("DELETE").is_empty());
}

fn progress(request: &ReceivedRequest, done: u64) -> ReplyPart {
    let token = &request.body["params"]["_meta"]["progressToken"];
    event(
        &json!({ "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": token, "progress": done, "total": 3, "message": "걸음" } }),
    )
}

#[tokio::test]
async fn progress_on_a_calls_stream_extends_its_timeout() {
    let web = TestHttpServer::start_with(|request| {
        let pause = || ReplyPart::Pause(Duration::from_millis(250));
        let steps = || (1..=3).flat_map(|done| [pause(), progress(request, done)]);
        (request.method() == "tools/call")
            .then(|| Behavior::Stream(steps().chain([ReplyPart::Answer]).collect()))
    })
    .await;
    let config = ServerConfig {
        tool_timeout: Duration::from_millis(500),
        ..server_at(&web, "/mcp")
    };
    let mut harness = HttpHarness::start_connected(web, config).await;
    assert_add_works(&mut harness).await;
    assert_eq!(harness.mcp.progress[0].message.as_deref(), Some("걸음"));
    harness.close().await;
}

fn hangs_on_calls(request: &ReceivedRequest) -> Option<Behavior> {
    (request.method() == "tools/call").then_some(Behavior::Hang)
}

#[tokio::test]
async fn timed_out_and_cancelled_calls_are_cancelled_on_the_server() {
    for (path, transport, is_notified) in [
        ("/sse", RemoteTransport::Sse, true),
        ("/mcp", RemoteTransport::Http, true),
        ("/modern", RemoteTransport::Http, false),
    ] {
        let web = TestHttpServer::start_with(hangs_on_calls).await;
        let config = ServerConfig {
            tool_timeout: Duration::from_millis(200),
            ..config_for(&web, path, transport)
        };
        let mut harness = HttpHarness::start_connected(web, config).await;
        let outcome = harness.mcp.call("add", json!({})).await;
        assert!(
            matches!(outcome, ToolOutcome::TimedOut { .. }),
            "{outcome:?}"
        );
        harness
            .web
            .wait_until("the connection is dropped", |web| {
                web.dropped_connections() == 1
            })
            .await;
        let cancel = CancellationToken::new();
        let call = harness
            .mcp
            .hub
            .call(harness.mcp.call_request("add", json!({})), cancel.clone());
        let call = tokio::spawn(call);
        harness
            .web
            .wait_until("a second call", |web| {
                web.requests_for("tools/call").len() == 2
            })
            .await;
        cancel.cancel();
        assert_eq!(
            call.await.expect("the call does not panic"),
            ToolOutcome::Interrupted
        );
        harness
            .web
            .wait_until("the connection is dropped", |web| {
                web.dropped_connections() == 2
            })
            .await;
        let cancellations = harness.web.requests_for("notifications/cancelled");
        let ids = |requests: &[ReceivedRequest], pointer: &str| -> Vec<Value> {
            requests
                .iter()
                .map(|request| request.body.pointer(pointer).cloned().unwrap_or_default())
                .collect()
        };
        let calls = harness.web.requests_for("tools/call");
        let expected = if is_notified {
            ids(&calls, "/id")
        } else {
            Vec::new()
        };
        assert_eq!(ids(&cancellations, "/params/requestId"), expected, "{path}");
        harness.close().await;
    }
}

#[tokio::test]
async fn an_accepted_call_with_a_pending_answer_can_be_cancelled() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/events", RemoteTransport::Http),
    ] {
        let web = TestHttpServer::start_with(|request| {
            (request.method() == "tools/call").then(|| status(202, ""))?
        })
        .await;
        let config = ServerConfig {
            tool_timeout: Duration::from_millis(200),
            ..config_for(&web, path, transport)
        };
        let mut harness = HttpHarness::start_connected(web, config).await;
        let outcome = harness.mcp.call("add", json!({})).await;
        assert!(
            matches!(outcome, ToolOutcome::TimedOut { .. }),
            "{outcome:?}"
        );
        harness
            .web
            .wait_until("the call is cancelled", |web| {
                let cancellations = web.requests_for("notifications/cancelled");
                cancellations.len() == 1
                    && cancellations[0].body["params"]["requestId"]
                        == web.requests_for("tools/call")[0].body["id"]
            })
            .await;
        harness.close().await;
    }
}

#[tokio::test]
async fn a_cancellation_never_overtakes_its_request() {
    let web = TestHttpServer::start_with(hangs_on_calls).await;
    let config = server_at(&web, "/mcp");
    let harness = HttpHarness::start_connected(web, config).await;
    for _ in 0..20 {
        let cancel = CancellationToken::new();
        let call = harness
            .mcp
            .hub
            .call(harness.mcp.call_request("add", json!({})), cancel.clone());
        let call = tokio::spawn(call);
        tokio::task::yield_now().await;
        cancel.cancel();
        let _ = call.await;
    }
    // The cancellations above may be too early for a call to be sent at all; this one is not.
    let cancel = CancellationToken::new();
    let call = harness.mcp.call_request("add", json!({}));
    let call = tokio::spawn(harness.mcp.hub.call(call, cancel.clone()));
    harness
        .web
        .wait_until("a call arrives", |web| {
            !web.requests_for("tools/call").is_empty()
        })
        .await;
    cancel.cancel();
    let _ = call.await;
    harness
        .web
        .wait_until("every call is cancelled", |web| {
            web.requests_for("notifications/cancelled").len()
                == web.requests_for("tools/call").len()
        })
        .await;
    let requests = harness.web.requests();
    for (index, request) in requests.iter().enumerate() {
        let id = &request.body["params"]["requestId"];
        let is_cancellation = request.method() == "notifications/cancelled";
        let is_after_its_request = requests[..index]
            .iter()
            .any(|other| other.body["id"] == *id);
        assert!(!is_cancellation || is_after_its_request, "{id}");
    }
    harness.close().await;
}

#[tokio::test]
async fn responses_reach_their_calls_in_any_order_and_on_any_stream() {
    // The first call is answered on the stream of the second one.
    let web = TestHttpServer::start_with(|request| {
        let id = request.body["id"].as_i64().unwrap_or_default();
        let for_id = |id: i64| {
            let content = json!([{ "type": "text", "text": id.to_string() }]);
            event(&json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } }))
        };
        match (request.method(), request.earlier_count) {
            ("tools/call", 0) => Some(Behavior::Stream(vec![ReplyPart::Hang])),
            ("tools/call", _) => Some(Behavior::Stream(vec![for_id(id - 1), for_id(id)])),
            _ => None,
        }
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut harness = HttpHarness::start_connected(web, config).await;
    let first = harness.mcp.hub.call(
        harness.mcp.call_request("add", json!({})),
        CancellationToken::new(),
    );
    let first = tokio::spawn(first);
    harness
        .web
        .wait_until("the first call", |web| {
            web.requests_for("tools/call").len() == 1
        })
        .await;
    let second = succeeded(harness.mcp.call("add", json!({})).await);
    let first = succeeded(first.await.expect("the call does not panic"));
    let number = |text: String| text.parse::<i64>().expect("an id");
    assert_eq!(number(first) + 1, number(second));
    harness.close().await;
}

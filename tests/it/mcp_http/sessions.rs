//! Servers that behave: every carrier, both eras; tools, progress, cancelling, time-outs,
//! answers in any order.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::succeeded;
use crate::mcp_http::test_server::{
    Behavior, MODERN, ReceivedRequest, ReplyPart, TestHttpServer, event, status,
};
use humble::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use humble::domain::{ServerConfig, ToolOutcome};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

async fn adds(bench: &mut HttpHarness) {
    let sum = bench.desk.call("add", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(succeeded(sum), "42");
}

fn over(web: &TestHttpServer, path: &str, transport: RemoteTransport) -> ServerConfig {
    remote(format!("{}{path}", web.origin), transport)
}

#[tokio::test]
async fn a_tool_is_called_over_every_transport_and_era() {
    for (path, transport, carried, revision) in [
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
        let config = over(&web, path, transport);
        let mut bench = HttpHarness::start_connected(web, config).await;
        let peer = bench.desk.server().peer.expect("it said who it is");
        assert_eq!(
            (peer.transport, peer.protocol.as_str()),
            (carried, revision),
            "{path}"
        );
        adds(&mut bench).await;
        let web = bench.close().await;
        for ask in web.requests() {
            assert_eq!(ask.header("authorization"), Some("Bearer s3cret-token"));
        }
    }
}

#[tokio::test]
async fn a_session_is_named_in_every_request_and_ended() {
    let web = TestHttpServer::start().await;
    let config = server_at(&web, "/mcp");
    let mut bench = HttpHarness::start_connected(web, config).await;
    adds(&mut bench).await;
    let web = bench.close().await;
    let told = |ask: &ReceivedRequest| {
        let header = |name| ask.header(name).unwrap_or("-").to_owned();
        (
            ask.method().to_owned(),
            header("mcp-session-id"),
            header("mcp-protocol-version"),
        )
    };
    let mut told: Vec<_> = web.requests().iter().map(told).collect();
    let first = told.remove(0);
    assert_eq!(
        first,
        ("initialize".to_owned(), "-".to_owned(), "-".to_owned())
    );
    let later = |method: &str| (method.to_owned(), "s-1".to_owned(), "2025-11-25".to_owned());
    told.sort();
    told.dedup();
    let expected = [
        "DELETE",
        "GET",
        "notifications/initialized",
        "tools/call",
        "tools/list",
    ];
    assert_eq!(told, expected.map(later));
}

#[tokio::test]
async fn what_follows_initialized_waits_until_that_has_arrived() {
    let web = TestHttpServer::start_with(|ask| {
        let is_told = ask.method() == "notifications/initialized";
        is_told.then_some(Behavior::Delayed(Duration::from_millis(300)))
    })
    .await;
    let config = server_at(&web, "/mcp");
    let started = Instant::now();
    let bench = HttpHarness::start_connected(web, config).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    let asks = bench.web.requests();
    let posts = asks.iter().filter(|ask| ask.verb == "POST");
    let methods: Vec<_> = posts.map(ReceivedRequest::method).collect();
    assert_eq!(
        methods[..3],
        ["initialize", "notifications/initialized", "tools/list"]
    );
    bench.close().await;
}

#[tokio::test]
async fn the_newer_era_names_method_tool_and_arguments_in_headers() {
    let web = TestHttpServer::start().await;
    web.add_tool(
        json!({ "name": "bad", "inputSchema": { "type": "object", "properties": {
        "a": { "type": "array", "x-mcp-header": "A" } } } }),
    );
    let config = ServerConfig {
        protocol: ProtocolMode::Modern,
        ..server_at(&web, "/modern")
    };
    let mut bench = HttpHarness::start_connected(web, config).await;
    let known = bench.desk.server();
    assert_eq!(known.tools.len(), 1);
    assert_eq!(
        known.rejected_tools,
        ["tool `bad`: argument `a`: `x-mcp-header` needs a string, an integer or a boolean"]
    );
    adds(&mut bench).await;
    let web = bench.close().await;
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

fn progress(ask: &ReceivedRequest, done: u64) -> ReplyPart {
    let token = &ask.body["params"]["_meta"]["progressToken"];
    event(
        &json!({ "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": token, "progress": done, "total": 3, "message": "걸음" } }),
    )
}

#[tokio::test]
async fn progress_on_the_stream_of_a_call_puts_its_time_out_off() {
    let web = TestHttpServer::start_with(|ask| {
        let pause = || ReplyPart::Pause(Duration::from_millis(250));
        let steps = || (1..=3).flat_map(|done| [pause(), progress(ask, done)]);
        (ask.method() == "tools/call")
            .then(|| Behavior::Stream(steps().chain([ReplyPart::Answer]).collect()))
    })
    .await;
    let config = ServerConfig {
        tool_timeout: Duration::from_millis(500),
        ..server_at(&web, "/mcp")
    };
    let mut bench = HttpHarness::start_connected(web, config).await;
    adds(&mut bench).await;
    assert_eq!(bench.desk.progress[0].message.as_deref(), Some("걸음"));
    bench.close().await;
}

fn hangs_on_calls(ask: &ReceivedRequest) -> Option<Behavior> {
    (ask.method() == "tools/call").then_some(Behavior::Hang)
}

#[tokio::test]
async fn a_call_that_times_out_or_is_cancelled_is_cancelled_at_the_server_and_its_connection_ends()
{
    for (path, transport, is_told) in [
        ("/sse", RemoteTransport::Sse, true),
        ("/mcp", RemoteTransport::Http, true),
        ("/modern", RemoteTransport::Http, false),
    ] {
        let web = TestHttpServer::start_with(hangs_on_calls).await;
        let config = ServerConfig {
            tool_timeout: Duration::from_millis(200),
            ..over(&web, path, transport)
        };
        let mut bench = HttpHarness::start_connected(web, config).await;
        let outcome = bench.desk.call("add", json!({})).await;
        assert!(
            matches!(outcome, ToolOutcome::TimedOut { .. }),
            "{outcome:?}"
        );
        bench
            .web
            .wait_until("the connection is left", |web| {
                web.dropped_connections() == 1
            })
            .await;
        let cancel = CancellationToken::new();
        let calling = bench
            .desk
            .hub
            .call(bench.desk.call_request("add", json!({})), cancel.clone());
        let calling = tokio::spawn(calling);
        bench
            .web
            .wait_until("a second call", |web| {
                web.requests_for("tools/call").len() == 2
            })
            .await;
        cancel.cancel();
        assert_eq!(
            calling.await.expect("it does not panic"),
            ToolOutcome::Interrupted
        );
        bench
            .web
            .wait_until("the connection is left", |web| {
                web.dropped_connections() == 2
            })
            .await;
        let told = bench.web.requests_for("notifications/cancelled");
        let ids = |asks: &[ReceivedRequest], at: &str| -> Vec<Value> {
            asks.iter()
                .map(|ask| ask.body.pointer(at).cloned().unwrap_or_default())
                .collect()
        };
        let calls = bench.web.requests_for("tools/call");
        let expected = if is_told {
            ids(&calls, "/id")
        } else {
            Vec::new()
        };
        assert_eq!(ids(&told, "/params/requestId"), expected, "{path}");
        bench.close().await;
    }
}

#[tokio::test]
async fn a_call_that_was_taken_and_will_be_answered_elsewhere_can_be_cancelled() {
    for (path, transport) in [
        ("/sse", RemoteTransport::Sse),
        ("/mcp", RemoteTransport::Http),
    ] {
        let web = TestHttpServer::start_with(|ask| {
            (ask.method() == "tools/call").then(|| status(202, ""))?
        })
        .await;
        let config = ServerConfig {
            tool_timeout: Duration::from_millis(200),
            ..over(&web, path, transport)
        };
        let mut bench = HttpHarness::start_connected(web, config).await;
        let outcome = bench.desk.call("add", json!({})).await;
        assert!(
            matches!(outcome, ToolOutcome::TimedOut { .. }),
            "{outcome:?}"
        );
        bench
            .web
            .wait_until("the call is cancelled", |web| {
                let told = web.requests_for("notifications/cancelled");
                told.len() == 1
                    && told[0].body["params"]["requestId"]
                        == web.requests_for("tools/call")[0].body["id"]
            })
            .await;
        bench.close().await;
    }
}

#[tokio::test]
async fn a_cancellation_never_overtakes_its_request() {
    let web = TestHttpServer::start_with(hangs_on_calls).await;
    let config = server_at(&web, "/mcp");
    let bench = HttpHarness::start_connected(web, config).await;
    for _ in 0..20 {
        let cancel = CancellationToken::new();
        let calling = bench
            .desk
            .hub
            .call(bench.desk.call_request("add", json!({})), cancel.clone());
        let calling = tokio::spawn(calling);
        tokio::task::yield_now().await;
        cancel.cancel();
        let _ = calling.await;
    }
    bench
        .web
        .wait_until("every call is cancelled", |web| {
            web.requests_for("notifications/cancelled").len()
                == web.requests_for("tools/call").len()
        })
        .await;
    let asks = bench.web.requests();
    for (index, ask) in asks.iter().enumerate() {
        let id = &ask.body["params"]["requestId"];
        let is_cancellation = ask.method() == "notifications/cancelled";
        let came_before = asks[..index].iter().any(|other| other.body["id"] == *id);
        assert!(!is_cancellation || came_before, "{id}");
    }
    bench.close().await;
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order_and_on_any_stream() {
    // Each call is answered on the stream of the call after it.
    let web = TestHttpServer::start_with(|ask| {
        let id = ask.body["id"].as_i64().unwrap_or_default();
        let for_id = |id: i64| {
            let content = json!([{ "type": "text", "text": id.to_string() }]);
            event(&json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } }))
        };
        match (ask.method(), ask.earlier_count) {
            ("tools/call", 0) => Some(Behavior::Stream(vec![ReplyPart::Hang])),
            ("tools/call", _) => Some(Behavior::Stream(vec![for_id(id - 1), for_id(id)])),
            _ => None,
        }
    })
    .await;
    let config = server_at(&web, "/mcp");
    let mut bench = HttpHarness::start_connected(web, config).await;
    let first = bench.desk.hub.call(
        bench.desk.call_request("add", json!({})),
        CancellationToken::new(),
    );
    let first = tokio::spawn(first);
    bench
        .web
        .wait_until("the first call", |web| {
            web.requests_for("tools/call").len() == 1
        })
        .await;
    let second = succeeded(bench.desk.call("add", json!({})).await);
    let first = succeeded(first.await.expect("it does not panic"));
    let number = |text: String| text.parse::<i64>().expect("an id");
    assert_eq!(number(first) + 1, number(second));
    bench.close().await;
}

//! Tasks over streamable HTTP, in both eras.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::{failed, succeeded};
use crate::mcp_http::test_server::{
    Behavior, MODERN, ReceivedRequest, TestHttpServer, json_with, status,
};
use humble::domain::server::{ProtocolMode, RemoteTransport};
use humble::domain::{ServerConfig, ServerTask, TaskProtocol, ToolOutcome};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const PROTOCOLS: [TaskProtocol; 2] = [TaskProtocol::Legacy, TaskProtocol::Extension];

fn result(request: &ReceivedRequest, result: &Value) -> Option<Behavior> {
    let answer = json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result });
    json_with(200, &answer)
}

/// A server whose calls become the task `t`. The first `tasks/get` fails, the second finds the task
/// working, and the third finds it completed unless `is_endless`.
fn task_behavior(request: &ReceivedRequest, is_endless: bool) -> Option<Behavior> {
    let is_modern = request.path == "/modern";
    let done = json!({ "content": [{ "type": "text", "text": "seven pages" }] });
    let mut state = json!({
        "taskId": "t", "status": "working", "pollIntervalMs": 200, "pollInterval": 200,
    });
    match request.method() {
        "initialize" => result(
            request,
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {
                    "tools": {},
                    "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } },
                },
                "serverInfo": { "name": "web", "version": "1" },
            }),
        ),
        "tools/list" => {
            let tool = json!({
                "name": "work", "inputSchema": { "type": "object" },
                "execution": { "taskSupport": "required" },
            });
            result(request, &json!({ "tools": [tool] }))
        }
        "tools/call" if is_modern => {
            state["resultType"] = "task".into();
            result(request, &state)
        }
        "tools/call" => result(request, &json!({ "task": state })),
        "tasks/get" if request.earlier_count == 0 => status(502, "Bad gateway"),
        "tasks/get" => {
            if request.earlier_count > 1 && !is_endless {
                state["status"] = "completed".into();
                if is_modern {
                    state["result"] = done;
                }
            }
            result(request, &state)
        }
        "tasks/result" => result(request, &done),
        "tasks/cancel" => result(request, &json!({ "resultType": "complete" })),
        _ => None,
    }
}

async fn start(protocol: TaskProtocol, is_endless: bool) -> HttpHarness {
    let web = TestHttpServer::start_with(move |request| task_behavior(request, is_endless)).await;
    let config = match protocol {
        TaskProtocol::Legacy => server_at(&web, "/mcp"),
        TaskProtocol::Extension => ServerConfig {
            protocol: ProtocolMode::Modern,
            ..remote(format!("{}/modern", web.origin), RemoteTransport::Http)
        },
    };
    HttpHarness::start_connected(web, config).await
}

#[tokio::test]
async fn a_task_is_followed_even_if_a_request_fails() {
    for protocol in PROTOCOLS {
        let mut harness = start(protocol, false).await;
        let text = succeeded(harness.mcp.call("work", json!({})).await);
        assert_eq!(text, "seven pages", "{protocol:?}");
        let task = ServerTask::new("t", protocol).expect("a valid id");
        assert_eq!(harness.mcp.tasks, [task]);
        let web = harness.close().await;
        assert_eq!(web.requests_for("tools/call").len(), 1, "{protocol:?}");
        for request in web.requests_for("tasks/get") {
            assert_eq!(request.body["params"]["taskId"], "t");
            if protocol == TaskProtocol::Extension {
                assert_eq!(request.header("mcp-method"), Some("tasks/get"));
                assert_eq!(request.header("mcp-protocol-version"), Some(MODERN));
            }
        }
    }
}

#[tokio::test]
async fn an_interrupted_call_cancels_its_task() {
    for protocol in PROTOCOLS {
        let harness = start(protocol, true).await;
        let cancel = CancellationToken::new();
        let request = harness.mcp.call_request("work", json!({}));
        let call = tokio::spawn(harness.mcp.hub.call(request, cancel.clone()));
        let sent = |web: &TestHttpServer, method: &str| web.requests_for(method).len();
        let polled = |web: &TestHttpServer| sent(web, "tasks/get") >= 2;
        harness.web.wait_until("the task was polled", polled).await;
        cancel.cancel();
        let outcome = call.await.expect("the call does not panic");
        assert_eq!(outcome, ToolOutcome::Interrupted);
        let cancelled = |web: &TestHttpServer| sent(web, "tasks/cancel") == 1;
        harness
            .web
            .wait_until("the task was cancelled", cancelled)
            .await;
        let web = harness.close().await;
        let cancelled = &web.requests_for("tasks/cancel")[0];
        assert_eq!(cancelled.body["params"]["taskId"], "t", "{protocol:?}");
    }
}

#[tokio::test]
async fn a_task_that_is_not_found_is_not_polled_again() {
    let web = TestHttpServer::start_with(|request| match request.method() {
        "tasks/get" => status(404, "Not found"),
        _ => task_behavior(request, true),
    })
    .await;
    let config = ServerConfig {
        protocol: ProtocolMode::Modern,
        ..remote(format!("{}/modern", web.origin), RemoteTransport::Http)
    };
    let mut harness = HttpHarness::start_connected(web, config).await;
    let text = failed(harness.mcp.call("work", json!({})).await);
    assert!(
        text.starts_with("The server no longer recognizes the task: "),
        "{text}"
    );
    let web = harness.close().await;
    assert_eq!(web.requests_for("tasks/get").len(), 1);
}

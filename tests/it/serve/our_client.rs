//! Our own MCP client against our own server.

use super::harness::TestServe;
use crate::support::fixtures;
use crate::support::hub_harness::HubHarness;
use crate::support::hub_harness::succeeded;
use humble::domain::server::{ProtocolMode, RemoteTransport};
use humble::domain::{ServerConfig, ServerStatus};

async fn assert_lists_and_calls(path: &str, transport: RemoteTransport, protocol: ProtocolMode) {
    let server = TestServe::with_access(|access| access.with_token("s3cret-token")).await;
    let headers = [("Authorization", "Bearer s3cret-token")];
    let launch = fixtures::remote(&server.url(path), transport, &headers);
    let config = ServerConfig {
        protocol,
        ..fixtures::server_config("own", launch)
    };
    let mut mcp = HubHarness::start(vec![config]);
    let connected =
        mcp.wait_for(|server| server.status == ServerStatus::Connected && !server.tools.is_empty());
    let connected = connected.await;
    let names: Vec<&str> = connected
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names[..2], ["get_time", "get_weather"]);
    let arguments = serde_json::json!({ "timezone": "Asia/Seoul" });
    let time = succeeded(mcp.call("get_time", arguments).await);
    assert!(time.contains("Asia/Seoul"), "{time}");
}

#[tokio::test]
async fn our_client_lists_and_calls_over_streamable_http_in_both_eras() {
    assert_lists_and_calls("/mcp", RemoteTransport::Http, ProtocolMode::Legacy).await;
    assert_lists_and_calls("/mcp", RemoteTransport::Http, ProtocolMode::Modern).await;
    assert_lists_and_calls("/mcp", RemoteTransport::Http, ProtocolMode::Auto).await;
}

#[tokio::test]
async fn our_client_lists_and_calls_over_http_and_sse() {
    assert_lists_and_calls("/sse", RemoteTransport::Sse, ProtocolMode::Auto).await;
}

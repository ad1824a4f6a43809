//! Servers that redirect: which redirects are followed, and the message for each refused one.

use crate::mcp_http::http_harness::{HttpHarness, remote, server_at};
use crate::mcp_http::hub_harness::succeeded;
use crate::mcp_http::test_server::{TestHttpServer, redirect};
use humble::domain::server::RemoteTransport;
use serde_json::json;

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_method_and_body() {
    for code in [301, 302, 307, 308] {
        let web = TestHttpServer::start_with(move |request| {
            (request.path == "/old").then(|| redirect(code, "/mcp"))?
        })
        .await;
        let config = server_at(&web, "/old");
        let mut harness = HttpHarness::start_connected(web, config).await;
        let sum = harness.mcp.call("add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(succeeded(sum), "3");
        harness.close().await;
    }
}

#[tokio::test]
async fn a_redirect_to_a_different_origin_is_refused_and_nothing_is_sent_there() {
    let other = TestHttpServer::start().await;
    let target = format!("{}/mcp?key=12345678", other.origin);
    for (path, transport) in [
        ("/mcp", RemoteTransport::Http),
        ("/sse", RemoteTransport::Sse),
    ] {
        let to = target.clone();
        let web = TestHttpServer::start_with(move |_| redirect(307, &to)).await;
        let config = remote(format!("{}{path}", web.origin), transport);
        assert_eq!(
            HttpHarness::connection_error(web, config).await,
            format!(
                "Could not connect to server `web`. It redirects to `{}/mcp`, which is a different \
                 origin, so the redirect was not followed. If you trust that address, set it as `url` in mcp-servers.json.",
                other.origin
            )
        );
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_that_would_drop_the_request_is_explained() {
    let web = TestHttpServer::start_with(|_| redirect(303, "/other")).await;
    let (origin, config) = (web.origin.clone(), server_at(&web, "/mcp"));
    assert_eq!(
        HttpHarness::connection_error(web, config).await,
        format!(
            "Could not connect to server `web`. It redirects to `{origin}/other` with HTTP \
             status 303, which would drop the request. If that is its endpoint, set it as `url` \
             in mcp-servers.json."
        )
    );
}

#[tokio::test]
async fn a_redirect_loop_is_a_connection_error() {
    let web = TestHttpServer::start_with(|_| redirect(307, "/mcp")).await;
    let config = server_at(&web, "/mcp");
    let notice = HttpHarness::connection_error(web, config).await;
    assert_eq!(
        notice,
        "Could not connect to server `web`. It redirects in a loop."
    );
}

#[tokio::test]
async fn a_redirect_to_a_non_http_url_is_refused_and_shown_unchanged() {
    for (target, shown) in [
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("javascript:1", "javascript:1"),
    ] {
        let web = TestHttpServer::start_with(move |_| redirect(307, target)).await;
        let config = server_at(&web, "/mcp");
        let notice = HttpHarness::connection_error(web, config).await;
        let expected = format!("It redirects to `{shown}`, which is a different origin");
        assert!(notice.contains(&expected), "{notice}");
    }
}

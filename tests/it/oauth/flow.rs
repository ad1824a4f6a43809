//! Signing in by browser and by pasting, the stored tokens, and signing out.

use super::{SignInHarness, finish_with, free_port};
use crate::support::auth_server::AuthServer;
use humble::domain::ServerId;
use humble::domain::server::OAuthSettings;
use humble::mcp::{OAuthError, SignInProgress};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_callback_signs_in_and_the_server_connects() {
    let mut harness = SignInHarness::start().await;
    let sign_in = harness.prepare().await.expect("a usable server");
    let request = sign_in.request().clone();
    assert_eq!(request.host, "127.0.0.1");
    assert_eq!(request.scopes, ["read"]);
    assert!(request.is_listening);
    let callback = AuthServer::visit(&request.url).await;
    let (outcome, rejected) = finish_with(sign_in, &[&callback]).await;
    assert_eq!((outcome, rejected), (Ok(()), Vec::new()));
    harness.mcp.hub.reconnect(&ServerId::new("guarded"));
    harness.wait_until_connected().await;
    let registration = harness.server.state().registrations.clone();
    assert_eq!(registration.len(), 1);
    assert_eq!(registration[0]["application_type"], "native");
    assert_eq!(registration[0]["redirect_uris"], json!([request.callback]));
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_callback_port_answers_the_browser_and_then_closes() {
    let mut harness = SignInHarness::start().await;
    let sign_in = harness.prepare().await.expect("a usable server");
    let request = sign_in.request().clone();
    let port = request
        .callback
        .split(':')
        .nth(2)
        .and_then(|rest| rest.split('/').next());
    let address = format!("127.0.0.1:{}", port.expect("a port"));
    let (_paste, pasted) = mpsc::channel(1);
    let (reports, reported) = std::sync::mpsc::channel();
    let report = move |progress| reports.send(progress).expect("the test still runs");
    let finishing = tokio::spawn(sign_in.finish(pasted, report));

    // A callback for another sign-in has no effect, and neither have connections without a request.
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(TcpStream::connect(&address).await.expect("an open port"));
    }
    let stale = reqwest::get(format!("{}?code=x&state=other", request.callback));
    let stale = timeout(Duration::from_secs(3), stale).await;
    let stale = stale.expect("served before any idle connection times out");
    assert_eq!(stale.expect("a page").status(), 400);
    let page = reqwest::get(&request.url).await.expect("a page");
    assert_eq!(page.status(), 200);
    let text = page.text().await.expect("a text");
    assert!(text.contains("go back to the terminal"), "{text}");
    assert!(!text.contains("code-1"), "{text}");
    assert_eq!(finishing.await.expect("no panic"), Ok(()));
    let reported: Vec<_> = reported.try_iter().collect();
    assert_eq!(reported, [SignInProgress::ExchangingCode]);
    assert!(
        TcpStream::connect(&address).await.is_err(),
        "the port is still open"
    );
    harness.mcp.hub.reconnect(&ServerId::new("guarded"));
    harness.wait_until_connected().await;
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_sign_in_closes_its_port_and_stores_no_tokens() {
    let harness = SignInHarness::start().await;
    let sign_in = harness.prepare().await.expect("a usable server");
    let callback = sign_in.request().callback.clone();
    let address = callback.trim_start_matches("http://").split('/').next();
    let address = address.expect("a host").to_owned();
    assert!(TcpStream::connect(&address).await.is_ok());
    drop(sign_in);
    assert!(TcpStream::connect(&address).await.is_err());
    let file = std::fs::read_to_string(harness.auth_file()).expect("a file");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(file.get("servers"), None);
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_the_port_is_taken_the_address_can_still_be_pasted() {
    let port = free_port();
    let _taken = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    let harness = SignInHarness::start_with(OAuthSettings {
        callback_port: Some(port),
        ..OAuthSettings::default()
    })
    .await;
    let sign_in = harness.prepare().await.expect("a usable server");
    assert!(!sign_in.request().is_listening);
    let callback = AuthServer::visit(&sign_in.request().url).await;
    assert_eq!(finish_with(sign_in, &[&callback]).await.0, Ok(()));
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_pastes_are_explained_and_the_right_one_is_still_accepted() {
    let harness = SignInHarness::start().await;
    let sign_in = harness.prepare().await.expect("a usable server");
    let request = sign_in.request().clone();
    let callback = AuthServer::visit(&request.url).await;
    let other_state = format!("{}?code=x&state=other", request.callback);
    let pasted = [request.url.as_str(), "hello", &other_state, &callback];
    let (outcome, rejected) = finish_with(sign_in, &pasted).await;
    assert_eq!(outcome, Ok(()));
    let not_the_callback = OAuthError::NotTheCallback(request.callback.clone());
    assert_eq!(
        rejected,
        [
            not_the_callback.clone(),
            not_the_callback,
            OAuthError::WrongState
        ]
    );
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_only_in_the_private_file_and_never_in_a_result() {
    let mut harness = SignInHarness::start().await;
    harness.sign_in_and_connect().await;
    let outcome = harness.mcp.call("echo", json!({})).await;
    let text = format!(
        "{outcome:?} {:?} {:?}",
        harness.mcp.notices,
        harness.mcp.server()
    );
    assert!(text.contains("you sent"), "{text}");
    assert!(!text.contains("access-secret"), "{text}");
    let file = std::fs::read_to_string(harness.auth_file()).expect("a file");
    assert!(
        file.contains("access-secret-2") && file.contains("refresh-secret-2"),
        "{file}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = std::fs::metadata(harness.auth_file()).expect("a file");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_removes_and_revokes_the_tokens() {
    let mut harness = SignInHarness::start().await;
    harness.sign_in_and_connect().await;
    let id = ServerId::new("guarded");
    assert_eq!(harness.mcp.hub.sign_out(&id).await, Ok(true));
    let revoked = harness.server.state().revoked.clone();
    assert_eq!(
        revoked,
        ["refresh-secret-2-k20f83", "access-secret-2-k20f83"]
    );
    let file = std::fs::read_to_string(harness.auth_file()).expect("a file");
    assert!(!file.contains("secret"), "{file}");
    assert_eq!(harness.mcp.hub.sign_out(&id).await, Ok(false));
    harness.mcp.hub.reconnect(&id);
    harness.wait_for_needed_sign_in().await;
    harness.mcp.close().await;
}

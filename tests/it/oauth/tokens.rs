//! Tokens after the sign-in: expiry, refresh by several requests and programs, missing scopes.

use super::{SignInHarness, config, free_port_settings};
use crate::support::hub_harness::HubHarness;
use humble::domain::{ServerId, ServerStatus, ToolOutcome};
use humble::mcp::OAuthError;
use serde_json::json;

fn expire_all(harness: &SignInHarness) {
    harness.server.state().access_tokens.clear();
}

fn is_success(outcome: &ToolOutcome) -> bool {
    format!("{outcome:?}").contains("you sent")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expiring_token_is_refreshed_before_it_is_used() {
    let mut harness = SignInHarness::start().await;
    harness.server.state().expires_in = Some(5);
    harness.sign_in().await.expect("a successful sign-in");
    harness.server.state().expires_in = Some(3600);
    let posts_before = harness.server.count("POST /mcp");
    harness.mcp.hub.reconnect(&ServerId::new("guarded"));
    harness.wait_until_connected().await;
    assert_eq!(harness.server.token_requests("refresh_token"), 1);
    assert!(harness.server.count("POST /mcp") > posts_before);
    assert!(is_success(&harness.mcp.call("echo", json!({})).await));
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_token_is_refreshed_and_the_call_is_repeated() {
    let mut harness = SignInHarness::start().await;
    harness.sign_in_and_connect().await;
    expire_all(&harness);
    assert!(is_success(&harness.mcp.call("echo", json!({})).await));
    assert_eq!(harness.server.token_requests("refresh_token"), 1);
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_and_a_second_program_share_one_refresh() {
    let mut harness = SignInHarness::start().await;
    harness.sign_in_and_connect().await;
    let mut second = HubHarness::start(Vec::new());
    second.hub.set_credential_file(harness.auth_file());
    second.configure(vec![config(&harness.server, free_port_settings())]);
    second
        .wait_for(|server| server.status == ServerStatus::Connected)
        .await;
    expire_all(&harness);
    let request = |mcp: &HubHarness| {
        let call = mcp.call_request("echo", json!({}));
        mcp.hub.call(call, Default::default())
    };
    let mut calls: Vec<_> = (0..10).map(|_| request(&harness.mcp)).collect();
    calls.extend((0..10).map(|_| request(&second)));
    let outcomes = futures::future::join_all(calls).await;
    assert!(outcomes.iter().all(is_success), "{outcomes:?}");
    assert_eq!(harness.server.token_requests("refresh_token"), 1);
    second.close().await;
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_refresh_requires_a_new_sign_in() {
    let mut harness = SignInHarness::start().await;
    harness.sign_in_and_connect().await;
    harness.server.state().faults.rejects_refresh = true;
    expire_all(&harness);
    let outcome = harness.mcp.call("echo", json!({})).await;
    assert!(
        matches!(outcome, ToolOutcome::Unreachable { .. }),
        "{outcome:?}"
    );
    harness.wait_for_needed_sign_in().await;
    assert_eq!(harness.server.token_requests("refresh_token"), 1);
    harness.sign_in_and_connect().await;
    // The registered client is used again.
    assert_eq!(harness.server.state().registrations.len(), 1);
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_scopes_are_requested_in_addition_to_the_granted_ones() {
    let mut harness = SignInHarness::start().await;
    harness.server.state().call_scope = Some("write".to_owned());
    harness.sign_in_and_connect().await;
    let outcome = harness.mcp.call("echo", json!({})).await;
    assert!(format!("{outcome:?}").contains("write"), "{outcome:?}");
    harness.wait_for_needed_sign_in().await;
    let sign_in = harness.prepare().await.expect("a usable server");
    assert_eq!(sign_in.request().scopes, ["read", "write"]);
    drop(sign_in);
    harness.sign_in_and_connect().await;
    assert!(is_success(&harness.mcp.call("echo", json!({})).await));
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_requires_an_ungranted_scope_fails_the_sign_in() {
    let mut harness = SignInHarness::start().await;
    harness.server.state().faults.never_satisfied_scope = Some("admin".to_owned());
    harness.sign_in_and_connect().await;
    for _ in 0..2 {
        harness.mcp.call("echo", json!({})).await;
        harness.wait_for_needed_sign_in().await;
        harness.sign_in_and_connect().await;
    }
    harness.mcp.call("echo", json!({})).await;
    harness.wait_for_needed_sign_in().await;
    let error = harness.sign_in().await;
    assert!(
        matches!(error, Err(OAuthError::ScopeNotGranted { .. })),
        "{error:?}"
    );
    assert_eq!(harness.server.count("GET /authorize"), 3);
    harness.mcp.close().await;
}

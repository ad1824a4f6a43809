//! Unsafe or hostile servers: the sign-in ends before the program sends a code or a token.

use super::{SignInHarness, finish_with};
use crate::support::auth_server::{AuthFaults, AuthServer};
use humble::mcp::OAuthError;
use std::time::{Duration, Instant};

async fn start_with_faults(faults: AuthFaults) -> SignInHarness {
    let harness = SignInHarness::start().await;
    harness.server.state().faults = faults;
    harness
}

/// The error of preparing a sign-in. Asserts that the authorization and token endpoints got no
/// request.
async fn preparation_error(faults: AuthFaults) -> OAuthError {
    let harness = start_with_faults(faults).await;
    let error = harness.prepare().await.err().expect("a refusal");
    assert_eq!(
        harness.server.count("/authorize") + harness.server.count("/token"),
        0
    );
    harness.mcp.close().await;
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_of_another_issuer_is_refused_before_the_code_is_sent() {
    let harness = start_with_faults(AuthFaults {
        issuer_in_callback: Some("https://evil.example".to_owned()),
        ..AuthFaults::default()
    })
    .await;
    let sign_in = harness.prepare().await.expect("a usable server");
    let callback = AuthServer::visit(&sign_in.request().url).await;
    let outcome = finish_with(sign_in, &[&callback]).await.0;
    assert_eq!(outcome, Err(OAuthError::WrongIssuer));
    assert_eq!(harness.server.count("/token"), 0);
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_sign_in_is_reported() {
    let harness = start_with_faults(AuthFaults {
        denies: true,
        ..AuthFaults::default()
    })
    .await;
    let error = harness.sign_in().await.expect_err("a refusal");
    let expected = "The authorization server refused: access was denied.";
    assert_eq!(error.to_string(), expected);
    harness.mcp.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_pkce_is_refused() {
    let error = preparation_error(AuthFaults {
        lacks_pkce: true,
        ..AuthFaults::default()
    });
    assert_eq!(error.await, OAuthError::NoPkce);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_registration_the_error_asks_for_a_client_id() {
    let error = preparation_error(AuthFaults {
        lacks_registration: true,
        ..AuthFaults::default()
    })
    .await;
    assert_eq!(error, OAuthError::NoRegistration);
    assert!(
        error
            .advice()
            .is_some_and(|advice| advice.contains("clientId"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_for_another_server_is_refused() {
    let error = preparation_error(AuthFaults {
        resource: Some("https://evil.example/mcp".to_owned()),
        ..AuthFaults::default()
    });
    let named = "https://evil.example/mcp".to_owned();
    assert_eq!(error.await, OAuthError::ResourceMismatch { named });
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_50_mb_is_not_read_to_the_end() {
    let started = Instant::now();
    let error = preparation_error(AuthFaults {
        metadata_bytes: 50 << 20,
        ..AuthFaults::default()
    })
    .await;
    assert!(matches!(error, OAuthError::TooLarge { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirected_metadata_is_refused() {
    for target in [
        "/.well-known/oauth-protected-resource/mcp",
        "http://localhost:1/metadata",
        "https://example.com/metadata",
        "file:///etc/passwd",
    ] {
        let error = preparation_error(AuthFaults {
            metadata_redirect: Some(target.to_owned()),
            ..AuthFaults::default()
        })
        .await;
        assert!(
            matches!(error, OAuthError::Redirect(_)),
            "{target}: {error:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_other_than_metadata_is_described() {
    let page = |status| AuthFaults {
        metadata_page: Some(status),
        ..AuthFaults::default()
    };
    let resource_page = AuthFaults {
        sends_resource_page: true,
        ..AuthFaults::default()
    };
    for (faults, file, received) in [
        (page(200), "oauth-authorization-server", "a web page"),
        (page(503), "oauth-authorization-server", "HTTP status 503"),
        (resource_page, "oauth-protected-resource/mcp", "a web page"),
    ] {
        let error = preparation_error(faults).await;
        let OAuthError::NoMetadata { url, .. } = &error else {
            panic!("{error:?}");
        };
        assert!(url.ends_with(file), "{url}");
        let expected =
            format!("`{url}` should contain its metadata, but answered with {received}.");
        assert_eq!(error.to_string(), expected);
    }
    let error = preparation_error(page(404)).await;
    assert_eq!(error, OAuthError::NoAuthorizationServer);
}

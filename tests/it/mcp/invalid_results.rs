//! Answers that are not what the protocol prescribes, but must not be taken for success, cost the
//! whole server, or fill the screen.

use super::hostile_tasks::{run, server};
use super::hub_harness::{HubHarness, failed, succeeded};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_call_fails_if_its_answer_is_not_a_result() {
    for (answer, quoted) in [
        (json!("done"), "`\"done\"`"),
        (json!(5), "`5`"),
        (json!(true), "`true`"),
        (json!([]), "`[]`"),
    ] {
        let (outcome, ..) = run(&server(answer)).await;
        let expected = format!("The server answered with {quoted}, which is not a tool result.");
        assert_eq!(failed(outcome), expected);
    }
    let (outcome, ..) = run(&server(json!({ "resultType": "hologram" }))).await;
    assert_eq!(
        failed(outcome),
        "The server answered with the unknown `resultType` `\"hologram\"` instead of a tool result."
    );
    for (answer, text) in [
        (json!({}), "[the tool returned nothing]"),
        (json!({ "structuredContent": { "a": 1 } }), r#"{"a":1}"#),
    ] {
        let (outcome, ..) = run(&server(answer)).await;
        assert_eq!(succeeded(outcome), text);
    }
}

#[tokio::test]
async fn bad_fields_of_a_handshake_are_left_out_and_reported() {
    for (behavior, protocol) in [("odd-legacy", "2025-11-25"), ("odd-modern", "2026-07-28")] {
        let mut harness = HubHarness::start_connected(behavior).await;
        let server = harness.server();
        let peer = server.peer.expect("the server is connected");
        let identity = (peer.name.as_str(), peer.version.as_str());
        assert_eq!((identity, peer.protocol.as_str()), (("test", ""), protocol));
        assert_eq!(
            server.omissions,
            [
                "`instructions` in its handshake, which is not text",
                "`serverInfo.version` in its handshake, which is not text",
                "`serverInfo.icons[].sizes` in its handshake, which is not a list of texts",
            ],
            "{behavior}"
        );
        let sum = harness.call("add", json!({ "a": 1, "b": 1 })).await;
        assert_eq!(succeeded(sum), "2");
        harness.close().await;
    }
}

#[tokio::test]
async fn structured_content_that_does_not_match_its_schema_gets_a_remark() {
    let mut harness = HubHarness::start_connected("wrong-output").await;
    let text = succeeded(harness.call("measure", json!({})).await);
    assert_eq!(
        text,
        "{\"x\":\"not int\"}\n[the structured content does not match the tool's output schema: \
         \"not int\" is not of type \"integer\" at /x]"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_long_error_message_is_truncated() {
    let mut harness = HubHarness::start_connected("long-error").await;
    let text = failed(harness.call("measure", json!({})).await);
    let expected = "x… [1998000 more characters] (JSON-RPC error -32000)";
    assert!(text.ends_with(expected), "{}", text.len());
    assert!(text.len() < 2_100, "{}", text.len());
    harness.close().await;
}

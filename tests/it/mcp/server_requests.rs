//! Requests from servers to the user, against a real child process in both eras.

use super::hub_harness::{HubHarness, failed, succeeded, test_server_config, unreachable_because};
use humble::domain::{
    SampledAnswer, SampledCall, ServerConfig, ServerRequest, ServerRequestReply, ToolOutcome,
};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn accepted(values: &Value) -> ServerRequestReply {
    ServerRequestReply::Accepted(values.as_object().cloned().expect("an object"))
}

#[tokio::test]
async fn accept_decline_and_cancel_reach_a_server_of_either_era() {
    let values = json!({ "name": "Ada", "express": false });
    for (reply, expected) in [
        (
            accepted(&values),
            json!({ "action": "accept", "content": values }),
        ),
        (ServerRequestReply::Declined, json!({ "action": "decline" })),
        (ServerRequestReply::Cancelled, json!({ "action": "cancel" })),
    ] {
        for behavior in ["asks-legacy", "asks-modern"] {
            let mut harness = HubHarness::start_connected(behavior).await;
            harness.reply_with = Some(reply.clone());
            let text = succeeded(harness.call("form", json!({})).await);
            let answer = match behavior {
                "asks-modern" => format!("{} state unchanged: true", json!({ "only": expected })),
                _ => expected.to_string(),
            };
            assert_eq!(text, answer, "{behavior}");
            let [(_, ServerRequest::Form(form))] = harness.requests.as_slice() else {
                panic!("{:?}", harness.requests);
            };
            assert_eq!(form.message, "Who should receive the parcel?");
            harness.close().await;
        }
    }
}

#[tokio::test]
async fn several_requests_in_one_result_are_answered_in_one_retry() {
    let mut harness = HubHarness::start_connected("asks-modern").await;
    harness.reply_with = Some(ServerRequestReply::Accepted(Map::new()));
    let text = succeeded(harness.call("two", json!({})).await);
    let answers = json!({
        "first": { "action": "accept", "content": {} }, "second": { "action": "accept" },
    });
    assert_eq!(text, format!("{answers} state unchanged: true"));
    let stderr = harness.server().stderr;
    let mut ids: Vec<_> = stderr
        .iter()
        .filter(|line| line.starts_with("call "))
        .collect();
    ids.dedup();
    assert_eq!(
        ids.len(),
        2,
        "each retry has its own request id: {stderr:?}"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_call_whose_server_asks_forever_fails() {
    let mut harness = HubHarness::start_connected("asks-modern").await;
    harness.reply_with = Some(ServerRequestReply::Declined);
    let error = failed(harness.call("again", json!({})).await);
    assert_eq!(
        error,
        "The server asked for input more than 10 times in one call."
    );
    assert_eq!(harness.requests.len(), 11);
    harness.close().await;
}

#[tokio::test]
async fn an_oversized_form_is_refused_without_asking() {
    for (behavior, expected) in [
        (
            "asks-legacy",
            "Refused: it has 10000 fields, more than 100.",
        ),
        (
            "asks-modern",
            "The server's request for input was refused: it has 10000 fields, more than 100.",
        ),
    ] {
        let mut harness = HubHarness::start_connected(behavior).await;
        let outcome = harness.call("huge", json!({})).await;
        let text = match behavior {
            "asks-modern" => failed(outcome),
            _ => succeeded(outcome),
        };
        assert!(text.contains(expected), "{text}");
        assert_eq!(harness.requests, []);
        harness.close().await;
    }
}

#[tokio::test]
async fn a_page_is_reported_as_completed_only_if_the_user_agreed_to_visit_it() {
    let notice = "reports that you are done on shop.example";
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness.reply_with = Some(ServerRequestReply::Accepted(Map::new()));
    let text = succeeded(harness.call("page", json!({})).await);
    assert_eq!(text, json!({ "action": "accept" }).to_string());
    harness.wait_for_notice(notice).await;
    harness.close().await;

    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness.reply_with = Some(ServerRequestReply::Declined);
    succeeded(harness.call("page", json!({})).await);
    // Another round trip, so that the notification has been read.
    succeeded(harness.call("form", json!({})).await);
    assert!(harness.notices.is_empty(), "{:?}", harness.notices);
    harness.close().await;
}

#[tokio::test]
async fn a_call_that_requires_a_page_is_repeated_once_the_user_is_done() {
    // The user confirms the visit.
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness.reply_with = Some(ServerRequestReply::Accepted(Map::new()));
    assert_eq!(succeeded(harness.call("gated", json!({})).await), "visited");
    let [
        (_, ServerRequest::Url(page)),
        (_, ServerRequest::PageVisited(_)),
    ] = harness.requests.as_slice()
    else {
        panic!("{:?}", harness.requests);
    };
    assert_eq!(page.host, "shop.example");
    harness.close().await;

    // The server reports the visit, which withdraws the question to the user.
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    let call = harness.hub.call(
        harness.call_request("completes", json!({})),
        CancellationToken::new(),
    );
    let call = tokio::spawn(call);
    let page = harness.wait_for_request().await;
    harness
        .hub
        .reply(page, ServerRequestReply::Accepted(Map::new()));
    let question = harness.wait_for_request().await;
    harness.wait_until_withdrawn(question).await;
    let outcome = call.await.expect("the call does not panic");
    assert_eq!(succeeded(outcome), "visited");
    harness.close().await;

    // The user declines.
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness.reply_with = Some(ServerRequestReply::Declined);
    assert_eq!(
        failed(harness.call("gated", json!({})).await),
        "The user declined to visit shop.example."
    );
    harness.close().await;
}

#[tokio::test]
async fn the_timeout_of_a_call_is_paused_while_the_user_is_asked() {
    let mut harness = HubHarness::connect(ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..test_server_config("asks-legacy")
    })
    .await;
    let call = harness.hub.call(
        harness.call_request("form", json!({})),
        CancellationToken::new(),
    );
    let call = tokio::spawn(call);
    let id = harness.wait_for_request().await;
    // Longer than the hard limit of the call, ten times its timeout.
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    assert!(!call.is_finished());
    harness.hub.reply(id, ServerRequestReply::Declined);
    let outcome = call.await.expect("the call does not panic");
    assert_eq!(
        succeeded(outcome),
        json!({ "action": "decline" }).to_string()
    );
    harness.close().await;
}

#[tokio::test]
async fn a_request_is_withdrawn_with_its_call_or_session() {
    // The call is cancelled.
    let mut harness = HubHarness::start_connected("asks-modern").await;
    let cancel = CancellationToken::new();
    let call = harness
        .hub
        .call(harness.call_request("form", json!({})), cancel.clone());
    let call = tokio::spawn(call);
    let id = harness.wait_for_request().await;
    cancel.cancel();
    assert_eq!(call.await.expect("no panic"), ToolOutcome::Interrupted);
    harness.wait_until_withdrawn(id).await;
    // A late reply has no effect.
    harness.hub.reply(id, ServerRequestReply::Declined);
    harness.close().await;

    for behavior in ["asks-legacy", "asks-modern"] {
        // The server dies.
        let mut harness = HubHarness::start_connected(behavior).await;
        let call = harness.call("die", json!({})).await;
        assert!(
            unreachable_because(call).contains("The server is gone."),
            "{behavior}"
        );
        let (id, _) = harness.requests[0];
        harness.wait_until_withdrawn(id).await;
        harness.close().await;
    }

    // The server cancels the request, perhaps before it is shown.
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    assert_eq!(
        succeeded(harness.call("cancels", json!({})).await),
        "withdrawn"
    );
    if let Some((id, _)) = harness.requests.first().cloned() {
        harness.wait_until_withdrawn(id).await;
    }
    harness.close().await;
}

#[tokio::test]
async fn a_server_may_ask_while_no_call_runs() {
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    assert_eq!(
        succeeded(harness.call("idle", json!({})).await),
        "asked later"
    );
    let id = harness.wait_for_request().await;
    harness.hub.reply(id, ServerRequestReply::Declined);
    harness.wait_for_stderr(r#""action":"decline""#).await;
    harness.close().await;
}

#[tokio::test]
async fn a_server_has_at_most_eight_open_requests() {
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    let call = harness.hub.call(
        harness.call_request("flood", json!({})),
        CancellationToken::new(),
    );
    let text = succeeded(tokio::spawn(call).await.expect("no panic"));
    assert!(
        text.contains("Too many requests are waiting for the user."),
        "{text}"
    );
    while harness.requests.len() < 8 {
        harness.wait_for_request().await;
    }
    harness.wait_for_stderr("e19").await;
    assert_eq!(harness.requests.len(), 8);
    harness.close().await;
}

#[tokio::test]
async fn a_server_of_either_era_gets_the_sampled_answer_or_an_error() {
    let answer = SampledAnswer {
        model: "qwen3".to_owned(),
        text: "Blue.".to_owned(),
        calls: Vec::new(),
        is_cut_off: true,
    };
    let result = json!({
        "role": "assistant",
        "content": { "type": "text", "text": "Blue." },
        "model": "qwen3",
        "stopReason": "maxTokens",
    });
    let rejection = "The user rejected the request for an answer from the model.";
    for behavior in ["asks-legacy", "asks-modern"] {
        let mut harness = HubHarness::start_connected(behavior).await;
        harness.reply_with = Some(ServerRequestReply::Sampled(answer.clone()));
        let text = succeeded(harness.call("sample", json!({})).await);
        let expected = match behavior {
            "asks-modern" => format!("{} state unchanged: true", json!({ "only": result })),
            _ => result.to_string(),
        };
        assert_eq!(text, expected, "{behavior}");
        let [(_, ServerRequest::Sampling(request))] = harness.requests.as_slice() else {
            panic!("{:?}", harness.requests);
        };
        assert_eq!(request.tokens_max, 50);
        assert_eq!(request.temperature, Some(0.5));
        let conversation = "the conversation, which the server wants included";
        assert_eq!(request.left_out, ["1 image", conversation]);

        harness.reply_with = Some(ServerRequestReply::Declined);
        let outcome = harness.call("sample", json!({})).await;
        match behavior {
            "asks-modern" => assert_eq!(failed(outcome), rejection),
            _ => assert_eq!(
                succeeded(outcome),
                json!({ "code": -1, "message": rejection }).to_string()
            ),
        }
        harness.close().await;
    }
}

#[tokio::test]
async fn a_server_that_offers_tools_gets_the_calls_of_the_model() {
    let call = SampledCall {
        id: "c1".to_owned(),
        tool: "erase".to_owned(),
        arguments: json!({ "disk": 1 })
            .as_object()
            .cloned()
            .expect("an object")
            .into(),
    };
    let answer = SampledAnswer {
        model: "qwen3".to_owned(),
        text: "I erase it.".to_owned(),
        calls: vec![call],
        is_cut_off: false,
    };
    let result = json!({
        "role": "assistant",
        "content": [
            { "type": "text", "text": "I erase it." },
            { "type": "tool_use", "id": "c1", "name": "erase", "input": { "disk": 1 } },
        ],
        "model": "qwen3",
        "stopReason": "toolUse",
    });
    for behavior in ["asks-legacy", "asks-modern"] {
        let mut harness = HubHarness::start_connected(behavior).await;
        harness.reply_with = Some(ServerRequestReply::Sampled(answer.clone()));
        let text = succeeded(harness.call("sample-tools", json!({})).await);
        let expected = match behavior {
            "asks-modern" => format!("{} state unchanged: true", json!({ "only": result })),
            _ => result.to_string(),
        };
        assert_eq!(text, expected, "{behavior}");
        let [(_, ServerRequest::Sampling(request))] = harness.requests.as_slice() else {
            panic!("{:?}", harness.requests);
        };
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(tools, ["erase"]);
        harness.close().await;
    }
}

#[tokio::test]
async fn a_sampling_request_with_unreadable_tools_is_refused_with_a_reason() {
    let why = "its tool `erase` has no inputSchema";
    for behavior in ["asks-legacy", "asks-modern"] {
        let mut harness = HubHarness::start_connected(behavior).await;
        let outcome = harness.call("sample-bad-tools", json!({})).await;
        match behavior {
            "asks-modern" => assert_eq!(
                failed(outcome),
                format!("The server's request for input was refused: {why}.")
            ),
            _ => {
                let error = json!({ "code": -32602, "message": format!("Refused: {why}.") });
                assert_eq!(succeeded(outcome), error.to_string());
                harness.wait_for_notice(why).await;
            }
        }
        assert_eq!(harness.requests, [], "the user is not asked");
        harness.close().await;
    }
}

#[tokio::test]
async fn both_elicitation_modes_are_declared() {
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness
        .wait_for_stderr(r#""elicitation":{"form":{},"url":{}}"#)
        .await;
    harness.close().await;
}

//! Native calls: truncated calls, calls of a refused reply, and the ids of calls.

use super::*;

/// A native call of `get_time` with this id.
fn native_call(id: &str, arguments: &Value) -> ScriptStep {
    ScriptStep::Part(StreamPart::Call(NativeCall {
        id: Some(id.to_owned()),
        name: "humble__get_time".to_owned(),
        arguments: Ok(arguments.as_object().cloned().unwrap_or_default()),
    }))
}

const NATIVE: &str = r#"{ "toolCallMode": "auto", "models": [
    { "name": "m", "provider": "ollama", "toolCalls": "native", "active": true } ] }"#;

#[tokio::test(start_paused = true)]
async fn call_possibly_truncated_by_the_token_limit_is_not_run() {
    let truncated_reply = [
        native_call("a", &json!({})),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ];
    let script = Script::default().round(truncated_reply).answer("Sorry.");
    let mut harness = EngineHarness::start_with_config(script, NATIVE).await;
    harness.prompt("Time?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Sorry."));
    let is_running_call = |event: &Event| {
        matches!(event, Event::Turn(_, TurnEvent::Tool(call))
            if matches!(call.state, ToolState::Running { .. }))
    };
    assert!(!harness.events.iter().any(is_running_call));
    let Some(Message::ToolResult(result)) = harness.last_request().messages.pop() else {
        panic!("no result for the model");
    };
    assert!(result.content.contains("the token limit"), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_before_a_refusal_are_not_run() {
    let refused_reply = [
        ScriptStep::text("No."),
        native_call("a", &json!({})),
        ScriptStep::Part(StreamPart::End(EndReason::Refused { why: None })),
    ];
    let mut harness =
        EngineHarness::start_with_config(Script::default().round(refused_reply), NATIVE).await;
    harness.prompt("Time?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("No."));
    let is_tool_event = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Tool(_)));
    assert!(!harness.events.iter().any(is_tool_event));
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_turn_are_sent_back_with_distinct_ids() {
    let seoul = json!({ "timezone": "Asia/Seoul" });
    let tokyo = json!({ "timezone": "Asia/Tokyo" });
    let script = Script::default()
        .round([
            native_call("t1", &seoul),
            native_call("t1", &tokyo),
            ScriptStep::end(),
        ])
        .round([
            native_call("t1", &json!({ "timezone": "UTC" })),
            ScriptStep::end(),
        ])
        .answer("Noon.");
    let mut harness = EngineHarness::start_with_config(script, NATIVE).await;
    harness.prompt("Time?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Noon."));
    let mut ids = Vec::new();
    for message in harness.last_request().messages {
        match message {
            Message::ToolCalls { calls, .. } => {
                ids.extend(calls.into_iter().map(|call| call.wire_id))
            }
            Message::ToolResult(result) => assert!(ids.contains(&result.wire_id)),
            _ => {}
        }
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((ids.len(), unique.len()), (3, 3), "{ids:?}");
}

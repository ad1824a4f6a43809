//! Native calls: truncated calls, calls in a refused reply, call ids, and changes made by parsing.

use super::*;
use humble::text::json_changes::JsonChange;

fn native_call(id: &str, arguments: &Value) -> ScriptStep {
    ScriptStep::Part(StreamPart::Call(NativeCall {
        id: Some(id.to_owned()),
        name: "humble__get_time".to_owned(),
        arguments: Ok(arguments.as_object().cloned().unwrap_or_default().into()),
        raw_arguments: String::new(),
    }))
}

const NATIVE_CONFIG: &str = r#"{ "toolCallMode": "auto", "models": [
    { "name": "m", "provider": "ollama", "toolCalls": "native", "active": true } ] }"#;

#[tokio::test(start_paused = true)]
async fn call_possibly_truncated_by_the_token_limit_is_not_run() {
    let truncated_reply = [
        native_call("a", &json!({})),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ];
    let script = Script::default().round(truncated_reply).answer("Sorry.");
    let mut harness = EngineHarness::start_with_config(script, NATIVE_CONFIG).await;
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
async fn calls_in_a_refused_reply_are_not_run() {
    let refused_reply = [
        ScriptStep::text("No."),
        native_call("a", &json!({})),
        ScriptStep::Part(StreamPart::End(EndReason::Refused { why: None })),
    ];
    let mut harness =
        EngineHarness::start_with_config(Script::default().round(refused_reply), NATIVE_CONFIG)
            .await;
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
    let mut harness = EngineHarness::start_with_config(script, NATIVE_CONFIG).await;
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

/// The changes made by parsing are recorded for native calls and for JSON calls in text.
#[tokio::test(start_paused = true)]
async fn changes_made_by_parsing_are_recorded_in_the_call() {
    let json = r#"{"timezone": "Asia/Seoul", "timezone": "Asia/Tokyo"}"#;
    let repeated = JsonChange::RepeatedKey {
        key: "timezone".to_owned(),
        count: 2,
    };
    let native = ScriptStep::Part(StreamPart::Call(NativeCall {
        id: None,
        name: "humble__get_time".to_owned(),
        arguments: serde_json::from_str(json).map_err(|_| String::new()),
        raw_arguments: json.to_owned(),
    }));
    let config = NATIVE_CONFIG.replace("auto", "manual");
    let script = Script::default().round([native, ScriptStep::end()]);
    let mut harness = EngineHarness::start_with_config(script, &config).await;
    harness.prompt("Time?").await;
    let (_, calls) = harness.next_approval().await;
    let call = harness.transcript.call(calls[0]).expect("the call");
    assert_eq!(call.json_changes.to_vec(), vec![repeated.clone()]);
    for (text, expected) in [
        (
            GET_TIME_CALL.replace(r#"{"timezone": "Asia/Seoul"}"#, json),
            vec![repeated.clone()],
        ),
        (
            GET_TIME_CALL.replace(r#"{"timezone": "Asia/Seoul"}"#, &json!(json).to_string()),
            vec![repeated],
        ),
        (GET_TIME_CALL.to_owned(), Vec::new()),
    ] {
        let mut harness = EngineHarness::start(Script::default().answer(&text)).await;
        harness.prompt("Time?").await;
        let (_, calls) = harness.next_approval().await;
        let call = harness.transcript.call(calls[0]).expect("the call");
        assert_eq!(call.json_changes.to_vec(), expected, "{text}");
    }
}

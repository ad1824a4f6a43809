//! A blocked tool never runs, whatever else was decided about it.

use super::*;

#[tokio::test]
async fn blocked_tool_never_runs_whatever_is_granted() {
    let mut harness = TrustFixture::new().start(echo_script()).await;
    harness.prompt_and_decide(Decision::RunWholeServer).await;
    harness
        .send(Command::Revoke(Box::new(
            harness.trust_entries()[0].clone(),
        )))
        .await;
    harness.prompt_and_decide(Decision::Never).await;
    let messages = harness.model_messages();
    let Some(Message::ToolResult(result)) = messages.last() else {
        panic!("{messages:?}");
    };
    assert_eq!(
        result.content,
        "The user permanently denied echo from fs: it will never be run. Do not call it again."
    );
    let mut fixture = TrustFixture::from_home(harness.shut_down().await);
    fixture.edit_server_entry("fs", |entry| entry["env"] = json!({ "OTHER": "1" }));
    set_tools(
        &fixture.server_folder(),
        &tool_definitions("Something else."),
    );
    let folder = fixture.server_folder();
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Auto),
        allowed_tools: vec![("fs".into(), "echo".to_owned())],
        ..EngineOptions::default()
    };
    let mut harness = fixture.start_with_options(echo_script(), options).await;
    assert!(!harness.call_needs_approval().await);
    assert_eq!(
        called_tools(&folder),
        ["echo"],
        "only the call before blocking ran"
    );
    let state = harness.events.iter().rev().find_map(|event| match event {
        Event::Turn(_, TurnEvent::Tool(call)) => Some(call.state.clone()),
        _ => None,
    });
    assert_eq!(state, Some(ToolState::Done(ToolOutcome::Never)));
}

#[tokio::test]
async fn blocking_a_tool_overrides_decisions_about_its_other_calls() {
    let calls: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|text| call_text("fs", "echo", text))
        .collect();
    for decision in [
        Decision::RunAlways,
        Decision::RunWholeServer,
        Decision::RunForSession,
        Decision::Run,
    ] {
        let script = Script::default().answer(&calls.join("\n")).answer("Done.");
        let mut harness = TrustFixture::new().start(script).await;
        harness.prompt("Do it.").await;
        let (ask, calls) = harness.next_approval().await;
        assert_eq!(calls.len(), 3);
        let decisions = vec![
            (calls[0], Decision::Never),
            (calls[1], Decision::Run),
            (calls[2], decision),
        ];
        harness.answer(ask, UserAnswer::Calls(decisions)).await;
        harness.wait_for_turn_end().await;
        harness
            .wait_for_trust_entries("the rule", |entries| !entries.is_empty())
            .await;
        let entries = harness.trust_entries();
        let is_blocking =
            |entry: &TrustEntry| matches!(entry, TrustEntry::Rule(rule) if rule.is_blocking());
        assert!(
            entries.len() == 1 && entries.iter().all(is_blocking),
            "{entries:?}"
        );
        assert!(called_tools(&harness.server_folder()).is_empty());
        harness.shut_down().await;
    }
}

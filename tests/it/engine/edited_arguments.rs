//! Arguments that the user edited before the call ran.

use super::*;

#[tokio::test(start_paused = true)]
async fn edited_arguments_run_and_the_original_ones_are_kept() {
    let script = Script::default().answer(GET_TIME_CALL).answer("Done.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let arguments: Arguments =
        serde_json::from_str(r#"{"timezone": "Europe/Paris"}"#).expect("JSON");
    let edit = Decision::Edit {
        arguments: arguments.clone(),
    };
    harness
        .answer(ask, UserAnswer::Calls(vec![(calls[0], edit)]))
        .await;
    harness.wait_for_turn_end().await;
    let call = harness.transcript.call(calls[0]).expect("the call").clone();
    assert_eq!(call.arguments, arguments);
    assert_eq!(
        call.original.expect("the original arguments are kept")["timezone"],
        "Asia/Seoul"
    );
    let Some(Message::ToolResult(result)) = harness.model_messages().pop() else {
        panic!("no tool result")
    };
    assert!(
        result.content.contains("Europe/Paris"),
        "{}",
        result.content
    );
}

#[tokio::test(start_paused = true)]
async fn an_invalid_edit_of_arguments_opens_the_question_again() {
    let script = Script::default().answer(GET_TIME_CALL).answer("Done.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let arguments: Arguments = serde_json::from_str(r#"{"timezone": 5}"#).expect("JSON");
    let edit = Decision::Edit { arguments };
    harness
        .answer(ask, UserAnswer::Calls(vec![(calls[0], edit)]))
        .await;
    let (second_ask, calls) = harness.next_approval().await;
    assert_ne!(second_ask, ask);
    assert_eq!(harness.requests.count(), 1);
    harness
        .answer(
            second_ask,
            UserAnswer::Calls(vec![(calls[0], Decision::Run)]),
        )
        .await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Done."));
}

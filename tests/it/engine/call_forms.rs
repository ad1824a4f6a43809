//! The forms of calls: duplicates of one call in several forms, truncated calls, and calls that
//! the user treats as text.

use super::*;
use crate::support::fixtures;
use humble::domain::model::Limits;
use humble::domain::{CallOrigin, Dialect, Prompt, SchemaCheck, Toolset};
use humble::engine::approval::Approval;
use humble::engine::injection_guard::InjectionGuard;
use humble::engine::turn::{
    ProposedCall, ReplyEnd, Turn, TurnEffect, TurnIdGenerators, TurnInput, TurnSetup,
};
use std::sync::Arc;

const AUTO_CONFIG: &str = r#"{ "toolCallMode": "auto", "models": [
    { "name": "m", "provider": "ollama", "active": true } ] }"#;

fn native_call(timezone: &str) -> ScriptStep {
    let arguments = json!({"timezone": timezone});
    ScriptStep::call("humble__get_time", fixtures::object(arguments))
}

/// The calls in the transcript, in order: form, merged forms, and whether the call succeeded.
fn transcript_calls(harness: &EngineHarness) -> Vec<(&'static str, Vec<&'static str>, bool)> {
    let entries = harness.transcript.entries().iter();
    let call = |entry: &humble::domain::TranscriptEntry| match &entry.body {
        EntryBody::Tool(call) => {
            let has_succeeded =
                matches!(call.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
            Some((
                call.origin.form(),
                call.merged_forms.to_vec(),
                has_succeeded,
            ))
        }
        _ => None,
    };
    entries.filter_map(call).collect()
}

#[tokio::test(start_paused = true)]
async fn several_forms_of_one_call_in_a_message_are_merged() {
    let tagged = format!("<tool_call>{GET_TIME_CALL}</tool_call>");
    let round = |steps: Vec<ScriptStep>| Script::default().round(steps).answer("Late.");
    let end = ScriptStep::end;
    for (script, expected) in [
        (
            round(vec![
                ScriptStep::text(GET_TIME_CALL),
                native_call("Asia/Seoul"),
                end(),
            ]),
            vec![("native", vec!["JSON"], true)],
        ),
        (
            round(vec![
                ScriptStep::text(&format!("{GET_TIME_CALL}\n{tagged}")),
                end(),
            ]),
            vec![("JSON", vec!["Hermes"], true)],
        ),
        (
            round(vec![
                ScriptStep::text(&format!("{tagged}\n{GET_TIME_CALL}")),
                end(),
            ]),
            vec![("Hermes", vec!["JSON"], true)],
        ),
        (
            round(vec![
                ScriptStep::text(&format!("{GET_TIME_CALL}\n{GET_TIME_CALL}")),
                end(),
            ]),
            vec![("JSON", vec![], true), ("JSON", vec![], true)],
        ),
        (
            round(vec![
                native_call("Asia/Seoul"),
                native_call("Asia/Seoul"),
                end(),
            ]),
            vec![("native", vec![], true), ("native", vec![], true)],
        ),
        (
            round(vec![
                ScriptStep::text(GET_TIME_CALL),
                native_call("Asia/Tokyo"),
                end(),
            ]),
            vec![("native", vec![], true), ("JSON", vec![], true)],
        ),
    ] {
        let mut harness = EngineHarness::start_with_config(script, AUTO_CONFIG).await;
        harness.prompt("Time?").await;
        assert_eq!(harness.wait_for_turn_end().await, answered("Late."));
        let mut calls = transcript_calls(&harness);
        calls.sort_by_key(|(form, ..)| *form != "native");
        assert_eq!(calls, expected);
    }
}

fn toolset() -> Toolset {
    Toolset::from_servers([&fixtures::server(
        "humble",
        vec![fixtures::tool("get_time")],
    )])
}

/// Returns for each call of a reply whether it runs. Each of `calls` is (is terminated, is native);
/// `is_truncated` means that the token limit ended the reply.
fn which_calls_run(calls: &[(bool, bool)], is_truncated: bool) -> Vec<bool> {
    let setup = TurnSetup {
        prompt: Prompt::new("Time?"),
        prompt_override: None,
        model: "m".to_owned(),
        may_think: true,
        dialect: Dialect::Prompt,
        system_prompt: "".into(),
        history: Arc::default(),
        toolset: Arc::new(toolset()),
        offered: Arc::new(toolset()),
        approval: Approval::new(ToolMode::Auto),
        limits: Limits::default(),
        guard: InjectionGuard::default(),
        resumed_calls: Vec::new(),
    };
    let (mut turn, _) = Turn::begin(setup, TurnIdGenerators::default());
    for (number, (has_end, is_native)) in calls.iter().enumerate() {
        let origin = if *is_native {
            CallOrigin::Native
        } else {
            CallOrigin::Text {
                form: "Qwen",
                repaired: false,
                is_taught: false,
            }
        };
        let arguments = json!({ "number": number });
        turn.step(TurnInput::Call(ProposedCall {
            wire_id: None,
            server: None,
            name: "get_time".to_owned(),
            arguments: Ok(arguments.as_object().cloned().unwrap_or_default().into()),
            origin,
            has_end: *has_end,
            is_truncated: false,
            raw: String::new(),
        }));
    }
    let mut effects = turn.step(TurnInput::ReplyEnded(Ok(ReplyEnd {
        is_truncated,
        is_refused: false,
    })));
    if let Some(TurnEffect::CheckArguments(checks)) = effects.last() {
        let results = vec![SchemaCheck::Valid; checks.len()];
        effects = turn.step(TurnInput::ArgumentsChecked(results));
    }
    let runs = |number: usize| {
        effects.iter().any(|effect| match effect {
            TurnEffect::Run(call) => call.arguments()["number"] == number,
            _ => false,
        })
    };
    (0..calls.len()).map(runs).collect()
}

#[test]
fn calls_that_may_be_truncated_do_not_run_if_the_token_limit_ended_the_reply() {
    let (text, unterminated, native) = ((true, false), (false, false), (true, true));
    for (calls, run_if_complete, run_if_truncated) in [
        // An unterminated call runs if the model itself ended the reply.
        (
            vec![text, unterminated],
            vec![true, true],
            vec![true, false],
        ),
        (vec![text, text], vec![true, true], vec![true, true]),
        (vec![native, native], vec![true, true], vec![true, false]),
        // Calls from text come last, wherever they are in the reply.
        (
            vec![native, unterminated],
            vec![true, true],
            vec![false, false],
        ),
        (vec![native, text], vec![true, true], vec![true, true]),
    ] {
        assert_eq!(which_calls_run(&calls, false), run_if_complete, "{calls:?}");
        assert_eq!(which_calls_run(&calls, true), run_if_truncated, "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn complete_call_before_the_truncation_runs() {
    let script = Script::default()
        .round([
            ScriptStep::text(&format!("{GET_TIME_CALL}\nand now I will")),
            ScriptStep::Part(StreamPart::End(EndReason::Length)),
        ])
        .answer("So.");
    let mut harness = EngineHarness::start_with_config(script, AUTO_CONFIG).await;
    harness.prompt("Time?").await;
    harness.wait_for_turn_end().await;
    assert_eq!(transcript_calls(&harness), [("JSON", vec![], true)]);
}

#[tokio::test(start_paused = true)]
async fn no_call_runs_if_the_connection_breaks() {
    for text in [GET_TIME_CALL.to_owned(), format!("[{GET_TIME_CALL}")] {
        let steps = [ScriptStep::text(&text), native_call("Asia/Tokyo")];
        let mut harness =
            EngineHarness::start_with_config(Script::default().round(steps), AUTO_CONFIG).await;
        harness.prompt("Time?").await;
        assert!(matches!(
            harness.wait_for_turn_end().await,
            TurnEnd::Failed { .. }
        ));
        assert_eq!(transcript_calls(&harness), []);
    }
}

#[tokio::test(start_paused = true)]
async fn call_treated_as_text_keeps_its_position_in_the_answer() {
    let reply = format!("For example:\n```json\n{GET_TIME_CALL}\n```\n이렇게 씁니다.");
    let mut harness = EngineHarness::start(Script::default().answer(&reply).answer("Yes.")).await;
    harness.prompt("Show me a call.").await;
    let (ask, calls) = harness.next_approval().await;
    let as_text = UserAnswer::Calls(vec![(calls[0], Decision::TreatAsText)]);
    harness.answer(ask, as_text).await;
    assert_eq!(harness.wait_for_turn_end().await, answered(&reply));
    harness.wait_for_save().await;
    let texts: Vec<&str> = harness
        .transcript
        .entries()
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [reply.as_str()], "the transcript keeps the position");
    harness.prompt("Sure?").await;
    harness.wait_for_turn_end().await;
    assert_eq!(
        harness.model_messages()[1],
        Message::Assistant(reply.clone()),
        "the next request keeps the position"
    );
    let home = harness.shut_down().await;
    let saved = read_json(&session_files(&home)[0]);
    assert_eq!(saved["messages"][1]["content"], reply.as_str());
}

#[tokio::test(start_paused = true)]
async fn treating_one_call_as_text_keeps_the_others() {
    let both_calls = format!(
        "{GET_TIME_CALL}\n{}",
        GET_TIME_CALL.replace("Seoul", "Tokyo")
    );
    let script = Script::default().answer(&both_calls).answer("Done.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Times?").await;
    let (ask, calls) = harness.next_approval().await;
    let decisions = vec![(calls[0], Decision::TreatAsText), (calls[1], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(decisions)).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Done."));
    let results: Vec<_> = harness
        .model_messages()
        .into_iter()
        .filter_map(|message| match message {
            Message::ToolResult(result) => Some(result.content),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 1);
    assert!(results[0].contains("Asia/Tokyo"), "{results:?}");
    let entries = format!("{:?}", harness.transcript.entries());
    assert!(entries.contains("WasText"), "{entries}");
}

#[tokio::test(start_paused = true)]
async fn xml_call_is_read_and_kept_in_the_history() {
    let call = "<mcp-request>\n  <tool name=\"get_time\" />\n  <param name=\"timezone\">Asia/Seoul</param>\n</mcp-request>";
    let config = OLLAMA_CONFIG.replace("\"active\"", "\"toolCalls\": \"xml\", \"active\"");
    let script = Script::default()
        .answer(&format!("잠시만요.\n{call}"))
        .answer("Late.");
    let mut harness = EngineHarness::start_with_config(script, &config).await;
    assert!(
        !harness.events.iter().any(|event| matches!(event,
            Event::BannersChanged(banners) if !banners.is_empty())),
        "no warning appears"
    );
    harness.prompt("Time?").await;
    let (ask, call_ids) = harness.next_approval().await;
    harness
        .answer(ask, UserAnswer::Calls(vec![(call_ids[0], Decision::Run)]))
        .await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Late."));
    let Some(Message::ToolCalls { calls, .. }) = harness.model_messages().get(1).cloned() else {
        panic!("{:?}", harness.model_messages());
    };
    assert_eq!(calls[0].xml_name, "get_time");
    assert_eq!(calls[0].arguments["timezone"], "Asia/Seoul");
}

#[tokio::test(start_paused = true)]
async fn calls_per_reply_are_limited() {
    let reply = format!("{GET_TIME_CALL}\n").repeat(2_000);
    let mut harness = EngineHarness::start(Script::default().answer(&reply).answer("So.")).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    assert_eq!(calls.len(), 256);
    let decisions = calls.iter().map(|call| (*call, Decision::Refuse)).collect();
    harness.answer(ask, UserAnswer::Calls(decisions)).await;
    harness.wait_for_turn_end().await;
}

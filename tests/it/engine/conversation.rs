//! Prompts, answers, interrupts, sessions and models.

use super::*;
use humble::domain::Advice;
use humble::questions;

#[tokio::test(start_paused = true)]
async fn only_prompt_and_answer_are_saved_as_messages() {
    let usage = StreamPart::Usage(Usage {
        input: Some(20),
        output: Some(3),
        ..Usage::default()
    });
    let script = Script::default().round([
        ScriptStep::thinking("음…"),
        ScriptStep::text("안녕하"),
        ScriptStep::text("세요"),
        ScriptStep::Part(usage),
        ScriptStep::end(),
    ]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("인사해 줘").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("안녕하세요"));
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["model"], "m");
    assert_eq!(
        file["messages"],
        json!([
            { "role": "user", "content": "인사해 줘" },
            { "role": "assistant", "content": "안녕하세요" },
        ])
    );
    assert_eq!(file["humble"]["turns"][0]["thinking"], "음…");
    assert_eq!(
        file["humble"]["turns"][0]["usage"],
        json!({ "input": 20, "output": 3 })
    );
}

#[tokio::test(start_paused = true)]
async fn thinking_of_two_rounds_is_saved_with_a_blank_line_between() {
    let script = Script::default()
        .round([
            ScriptStep::thinking("I need the time."),
            ScriptStep::text(GET_TIME_CALL),
            ScriptStep::end(),
        ])
        .round([
            ScriptStep::thinking("Now I know."),
            ScriptStep::text("Noon."),
            ScriptStep::end(),
        ]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Noon."));
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(
        file["humble"]["turns"][0]["thinking"],
        "I need the time.\n\nNow I know."
    );
}

#[tokio::test(start_paused = true)]
async fn call_before_an_unmatched_closing_think_tag_does_not_run() {
    let config = OLLAMA_CONFIG.replace("] }", "], \"toolCallMode\": \"auto\" }");
    let reply = format!("Perhaps {GET_TIME_CALL} helps.\n</think>\nNo, it is noon.");
    let mut harness =
        EngineHarness::start_with_config(Script::default().answer(&reply), &config).await;
    harness.prompt("Time?").await;
    assert_eq!(
        harness.wait_for_turn_end().await,
        answered("No, it is noon.")
    );
    assert_eq!(harness.requests.count(), 1, "nothing ran");
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    let thinking = file["humble"]["turns"][0]["thinking"].as_str();
    let thinking = thinking.expect("thinking is saved");
    for part in ["Perhaps ", GET_TIME_CALL, "helps."] {
        assert!(thinking.contains(part), "{part} in {thinking}");
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_text_is_saved_as_metadata_and_never_sent() {
    let script = Script::default()
        .answer("First.")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang])
        .answer("Third.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("one").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.prompt("two").await;
    harness
        .wait_for("text", |event| {
            matches!(event, Event::Turn(_, TurnEvent::Delta { .. }))
        })
        .await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    harness.wait_for_save().await;
    harness.prompt("three").await;
    harness.wait_for_turn_end().await;
    assert_eq!(
        harness.model_messages(),
        [
            Message::User("one".to_owned()),
            Message::Assistant("First.".to_owned()),
            Message::User("two".to_owned()),
            Message::Assistant("Half a sen".to_owned()),
            Message::User("three".to_owned()),
        ]
    );
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(6));
    assert_eq!(file["humble"].get("cancelled"), None);
    assert_eq!(file["humble"]["turns"][1]["stopped"], true);
}

#[tokio::test(start_paused = true)]
async fn user_is_asked_about_a_stall_only_after_the_first_token() {
    let script = Script::default().round([
        ScriptStep::Part(StreamPart::Heartbeat),
        ScriptStep::Wait(Duration::from_secs(500)),
        ScriptStep::text("Slow"),
        ScriptStep::Wait(Duration::from_secs(500)),
        ScriptStep::text(" but sure."),
        ScriptStep::end(),
    ]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Hello?").await;
    let (ask, question) = harness.next_question().await;
    assert_eq!(question, questions::stalled(120));
    let is_text_delta = |event: &Event| {
        matches!(
            event,
            Event::Turn(
                _,
                TurnEvent::Delta {
                    kind: PieceKind::Text,
                    ..
                }
            )
        )
    };
    assert!(
        harness.events.iter().any(is_text_delta),
        "a stall is reported only after the first token"
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::KeepWaiting))
        .await;
    // The next stall asks again. When the reply resumes, it closes that question.
    harness.next_question().await;
    assert_eq!(
        harness.wait_for_turn_end().await,
        answered("Slow but sure.")
    );
    let is_closed = |event: &Event| matches!(event, Event::AskClosed(_));
    assert_eq!(
        harness
            .events
            .iter()
            .filter(|event| is_closed(event))
            .count(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn prompt_without_a_model_fails_with_advice() {
    let mut harness = EngineHarness::start_with_config(Script::default(), "{}").await;
    harness.prompt("hi").await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the turn did not fail")
    };
    assert_eq!(notice.what, "No active model is configured.");
    assert_eq!(notice.advice[0], Advice::SelectModel);
    let Some(Advice::Sentence(advice)) = notice.advice.last() else {
        panic!("no advice on adding a model: {:?}", notice.advice)
    };
    let example = advice.lines().last().expect("an example");
    let parsed: Value = serde_json::from_str(example).expect("the example is valid JSON");
    assert_eq!(parsed["models"][0]["active"], true);
}

#[tokio::test(start_paused = true)]
async fn selected_model_is_used_and_saved_as_active() {
    let config = r#"{ "models": [ { "name": "a", "provider": "ollama" },
        { "name": "b", "provider": "ollama", "note": "kept" } ] }"#;
    let mut harness =
        EngineHarness::start_with_config(Script::default().answer("hi"), config).await;
    let (name, model) = ("b".to_owned(), "b".to_owned());
    let model = ModelRef {
        name,
        provider: ProviderKind::Ollama,
        model,
    };
    harness.send(Command::SelectModel(model)).await;
    harness.prompt("hi").await;
    harness.wait_for_turn_end().await;
    assert_eq!(harness.last_request().model.name, "b");
    let home = harness.shut_down().await;
    let file = read_json(&home.path().join("config.json"));
    assert_eq!(
        file["models"][1],
        json!({ "name": "b", "provider": "ollama", "note": "kept", "active": true })
    );
}

#[tokio::test(start_paused = true)]
async fn saved_conversation_continues_after_a_restart() {
    let mut harness = EngineHarness::start(Script::default().answer("4")).await;
    harness.prompt("2 + 2?").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let mut harness = open_saved_session(home, Script::default().answer("5")).await;
    harness.prompt("And 2 + 3?").await;
    harness.wait_for_turn_end().await;
    assert_eq!(
        harness.model_messages(),
        [
            Message::User("2 + 2?".to_owned()),
            Message::Assistant("4".to_owned()),
            Message::User("And 2 + 3?".to_owned()),
        ]
    );
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "the conversation stays in its file");
    assert_eq!(
        read_json(&files[0])["messages"].as_array().map(Vec::len),
        Some(4)
    );
}

#[tokio::test(start_paused = true)]
async fn front_end_that_does_not_read_cannot_delay_an_interrupt() {
    let mut steps: Vec<ScriptStep> = (0..5_000)
        .map(|number| ScriptStep::text(&format!("word{number} ")))
        .collect();
    steps.push(ScriptStep::Hang);
    let mut harness = EngineHarness::start(Script::default().round(steps)).await;
    harness.prompt("Talk.").await;
    // The model streams while nobody reads, so its deltas are merged.
    tokio::time::sleep(Duration::from_secs(1)).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    let deltas = harness
        .events
        .iter()
        .filter(|event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. })))
        .count();
    assert!(deltas < 400, "{deltas} deltas for 5,000 words");
}

#[tokio::test(start_paused = true)]
async fn prompt_during_a_turn_is_rejected_with_a_notice() {
    let mut harness = EngineHarness::start(Script::default().round([ScriptStep::Hang])).await;
    harness.prompt("one").await;
    harness.prompt("two").await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the turn did not fail")
    };
    assert_eq!(notice.what, "A turn is still running.");
}

#[tokio::test(start_paused = true)]
async fn deleted_conversation_is_not_recreated_by_the_next_answer() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let id = session_id(&harness.home);
    harness.send(Command::DeleteSession(id)).await;
    harness
        .wait_for("the deletion", |event| {
            matches!(event, Event::SessionDeleted { .. })
        })
        .await;
    harness.prompt("second").await;
    harness.wait_for_turn_end().await;
    assert_eq!(
        harness.model_messages(),
        [Message::User("second".to_owned())]
    );
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1);
    assert_eq!(
        read_json(&files[0])["messages"].as_array().map(Vec::len),
        Some(2)
    );
}

#[tokio::test(start_paused = true)]
async fn partial_first_answer_is_saved_in_a_session_named_after_its_prompt() {
    let mut harness = EngineHarness::start(journal::partial_answer_script()).await;
    harness.prompt("Tell me").await;
    let is_text = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("text", is_text).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    let home = harness.shut_down().await;
    let store = humble::store::SessionStore::new(home.path().join("sessions"));
    let listed = store.list();
    let [summary] = &listed[..] else {
        panic!("not one file: {listed:?}");
    };
    assert_eq!(
        (summary.title.as_str(), &summary.open_error),
        ("Tell me", &None)
    );
    assert!(summary.id.as_str().ends_with("_Tell_me.json"));
    let session = store.open(&summary.id).expect("a session");
    let texts = session.messages.iter().map(|message| &*message.content);
    assert_eq!(texts.collect::<Vec<_>>(), ["Tell me", "Half a sen"]);
    assert!(session.is_last_answer_stopped());
}

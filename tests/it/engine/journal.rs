//! The journal: the part of a turn that survives a killed program, and its recovery at the
//! next start.

use super::*;
use humble::protocol::{CallStage, UnfinishedCall, UnfinishedTurn};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

pub fn journals(home: &TempDir) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.path().join("journal")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect()
}

/// Ends the engine like `kill -9`: nothing is reported or saved.
pub async fn killed(harness: EngineHarness) -> TempDir {
    harness.handle.task.abort();
    let _ = harness.handle.task.await;
    harness.home
}

pub async fn offered(harness: &mut EngineHarness) -> (humble::domain::AskId, UnfinishedTurn) {
    let unfinished = |event: &Event| match event {
        Event::Asked {
            ask,
            question: Ask::UnfinishedTurn(turn),
            ..
        } => Some((*ask, (**turn).clone())),
        _ => None,
    };
    if let Some(found) = harness.events.iter().rev().find_map(unfinished) {
        return found;
    }
    let event = harness
        .wait_for("an offer", |event| unfinished(event).is_some())
        .await;
    unfinished(&event).expect("just matched")
}

pub async fn words_come(harness: &mut EngineHarness) {
    let delta = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("words", delta).await;
    // The clock advances once the journal has been written.
    tokio::time::sleep(Duration::from_secs(1)).await;
}

pub async fn nothing_is_offered(harness: &mut EngineHarness) {
    harness.prompt("again").await;
    harness.wait_for_turn_end().await;
    let offer = |event: &Event| matches!(event, Event::Asked { .. });
    assert!(!harness.events.iter().any(offer), "{:#?}", harness.events);
}

pub fn half() -> Script {
    Script::default().round([ScriptStep::text("Half a sen"), ScriptStep::Hang])
}

#[tokio::test(start_paused = true)]
async fn killed_turn_is_offered_and_resumed_without_sending() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 1);
    let home = killed(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Whole.")).await;
    let (ask, turn) = offered(&mut harness).await;
    assert_eq!(
        (turn.prompt.as_str(), turn.partial_answer.as_str()),
        ("Tell me", "Half a sen")
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let prompt = harness.wait_for("the prompt", |event| {
        matches!(event, Event::PromptOffered(_))
    });
    assert_eq!(prompt.await, Event::PromptOffered("Tell me".to_owned()));
    assert_eq!(
        harness.requests.count(),
        0,
        "nothing is sent without the user"
    );
    assert_eq!(
        journals(&harness.home).len(),
        1,
        "the journal is kept until there is an answer"
    );
    harness.prompt("Tell me").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Whole."));
    assert_eq!(
        harness.model_messages(),
        [Message::User("Tell me".to_owned())]
    );
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let note = &read(&session_files(&home)[0])["humble"]["cancelled"][0];
    assert_eq!(note["words"], "Half a sen");
    assert_eq!(note["interrupted"], true);
}

#[tokio::test(start_paused = true)]
async fn call_awaiting_approval_is_shown_in_full_and_never_run() {
    let mut harness = EngineHarness::start(Script::default().answer(GET_TIME_CALL)).await;
    harness.prompt("Time?").await;
    harness.next_approval().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let home = killed(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, turn) = offered(&mut harness).await;
    let call = &turn.calls[0];
    assert_eq!(
        (call.server.as_str(), call.tool.as_str()),
        ("humble", "get_time")
    );
    assert_eq!(call.stage, CallStage::AwaitingApproval);
    assert_eq!(call.arguments, json!({ "timezone": "Asia/Seoul" }));
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let is_notice = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
        if notice.why.as_deref() == Some("The call awaiting your approval was not run."))
    };
    harness.wait_for("the notice", is_notice).await;
    assert_eq!(harness.requests.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn calls_finished_before_the_kill_are_shown() {
    let script = Script::default()
        .answer(GET_TIME_CALL)
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    words_come(&mut harness).await;
    let home = killed(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (_, turn) = offered(&mut harness).await;
    let expected = UnfinishedCall {
        server: "humble".to_owned(),
        tool: "get_time".to_owned(),
        arguments: json!({ "timezone": "Asia/Seoul" }),
        stage: CallStage::Ended("succeeded".to_owned()),
    };
    assert_eq!(turn.calls, [expected]);
}

#[tokio::test(start_paused = true)]
async fn kept_turn_is_offered_again_and_discarding_needs_confirmation() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    let home = killed(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, _) = offered(&mut harness).await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let home = harness.shut_down().await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, _) = offered(&mut harness).await;
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Discard))
        .await;
    let (ask, question) = harness.next_question().await;
    assert_eq!(
        question,
        Ask::ConfirmDiscard {
            prompt: "Tell me".to_owned()
        }
    );
    assert_eq!(journals(&harness.home).len(), 1, "not yet");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Discard))
        .await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn first_turn_that_ended_unanswered_is_not_offered() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty(), "{:?}", journals(&home));
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn turn_with_a_lost_terminal_is_offered() {
    let script = Script::default()
        .answer("One.")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.prompt("second").await;
    let delta = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { text, .. }) if text.starts_with("Half"));
    harness.wait_for("words", delta).await;
    harness.send(Command::ShutdownKeepingTurn).await;
    harness
        .wait_for("the end", |event| *event == Event::ShutDown)
        .await;
    harness.handle.task.await.expect("no panic");
    let mut harness = EngineHarness::start_in(harness.home, Script::default().answer("Two.")).await;
    let (ask, turn) = offered(&mut harness).await;
    assert_eq!(
        (turn.prompt.as_str(), turn.partial_answer.as_str()),
        ("second", "Half a sen")
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let prompt = |event: &Event| matches!(event, Event::PromptOffered(_));
    harness.wait_for("the prompt", prompt).await;
    harness.prompt("second").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Two."));
    assert_eq!(harness.model_messages().len(), 3, "the first turn is sent");
}

#[tokio::test(start_paused = true)]
async fn partial_answer_of_an_unsaved_conversation_is_recovered() {
    let home = home();
    leave_answer(&home, Value::Null, 0);
    let path = journals(&home).remove(0);
    let records = [
        json!({ "type": "turn", "prompt": "r", "model": "m", "session": null,
            "started": "2026-01-02T03:04:05.678Z", "before": 2, "at": "2026-01-02T03:05:00Z" }),
        json!({ "type": "words", "piece": 1, "thinking": false, "text": "Half" }),
        json!({ "type": "ended" }),
    ];
    let lines: String = records.iter().map(|record| format!("\n{record}")).collect();
    let text = fs::read_to_string(&path).expect("a file") + &lines;
    fs::write(&path, text).expect("written");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let files: Vec<Value> = session_files(&home).iter().map(|path| read(path)).collect();
    let note = |file: &Value| file["humble"]["cancelled"][0]["words"].clone();
    let kept: Vec<Value> = files.iter().map(note).collect();
    assert!(kept.contains(&json!("Half")), "{files:#?}");
}

#[tokio::test(start_paused = true)]
async fn quitting_during_a_turn_saves_its_text_and_offers_nothing() {
    let script = Script::default()
        .answer("One.")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.prompt("second").await;
    words_come(&mut harness).await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty(), "{:?}", journals(&home));
    let file = read(&session_files(&home)[0]);
    assert_eq!(file["humble"]["cancelled"][0]["words"], "Half a sen");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
}

/// Leaves the journal of a program that was killed between showing an answer and saving it.
pub fn leave_answer(home: &TempDir, session: Value, before: usize) {
    let folder = home.path().join("journal");
    fs::create_dir_all(&folder).expect("created");
    let records = [
        json!({ "type": "turn", "prompt": "q", "model": "m", "session": session,
            "started": "2026-01-02T03:04:05.678Z", "before": before, "at": "2026-01-02T03:04:06Z" }),
        json!({ "type": "words", "piece": 1, "thinking": true, "text": "음…" }),
        json!({ "type": "later", "unknown": true }),
        json!({ "type": "answer", "text": "a", "input": 3, "output": 1,
            "at": "2026-01-02T03:04:07Z" }),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(folder.join("20260102_030406.jsonl"), lines + "{\"torn").expect("written");
}

pub fn home() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    home
}

#[tokio::test(start_paused = true)]
async fn shown_but_unsaved_answer_is_saved_once_at_the_next_start() {
    let mut home = home();
    for _ in 0..2 {
        leave_answer(&home, Value::Null, 0);
        let harness = EngineHarness::start_in(home, Script::default()).await;
        home = harness.shut_down().await;
        assert!(journals(&home).is_empty());
    }
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    let file = read(&files[0]);
    let expected = json!([
        { "role": "user", "content": "q" }, { "role": "assistant", "content": "a" },
    ]);
    assert_eq!(file["messages"], expected);
    assert_eq!(file["startedAt"], "2026-01-02T03:04:05.678Z");
    assert_eq!(file["humble"]["turns"][0]["thinking"], "음…");
    assert_eq!(file["humble"]["turns"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        file["humble"]["branches"],
        Value::Null,
        "no branch: the answer was there already"
    );
}

#[tokio::test(start_paused = true)]
async fn recovered_answer_becomes_a_branch_if_the_conversation_continued() {
    let home = home();
    fs::create_dir(home.path().join("sessions")).expect("created");
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let messages = [message("user", "x"), message("assistant", "y")];
    let path = home.path().join("sessions/s.json");
    fs::write(&path, json!({ "messages": messages, "k": 1 }).to_string()).expect("written");
    leave_answer(&home, json!("s.json"), 0);
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    let file = read(&path);
    assert_eq!(
        file["messages"],
        json!([message("user", "q"), message("assistant", "a")])
    );
    assert_eq!(file["humble"]["branches"][0]["messages"], json!(messages));
    assert_eq!(file["k"], 1);
    assert_eq!(session_files(&home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn file_that_is_no_journal_is_reported_and_kept() {
    let home = home();
    let folder = home.path().join("journal");
    fs::create_dir(&folder).expect("created");
    fs::write(folder.join("a.jsonl"), "somebody's").expect("written");
    fs::create_dir(folder.join("b.jsonl")).expect("created");
    let harness = EngineHarness::start_in(home, Script::default()).await;
    let home = harness.shut_down().await;
    assert_eq!(
        fs::read_to_string(home.path().join("journal/a.jsonl")).expect("a file"),
        "somebody's"
    );
    assert!(home.path().join("journal/b.jsonl").is_dir());
}

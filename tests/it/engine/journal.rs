//! The journal keeps an unfinished turn when the program is killed; the next start offers to
//! resume it.

use super::*;
use humble::domain::Prompt;
use humble::questions;

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

/// Aborts the engine without a shutdown, like `kill -9`, and returns the home.
pub async fn kill_engine(harness: EngineHarness) -> TempDir {
    harness.handle.task.abort();
    let _ = harness.handle.task.await;
    harness.home
}

/// Waits until the engine offers to resume an unfinished turn. Returns what it shows of it.
pub async fn wait_for_offer(harness: &mut EngineHarness) -> (AskId, String) {
    let unfinished_turn = |event: &Event| match event {
        Event::Asked { ask, question, .. } if question.kind == "unfinished" => {
            Some((*ask, question_text(question)))
        }
        _ => None,
    };
    if let Some(offer) = harness.events.iter().rev().find_map(unfinished_turn) {
        return offer;
    }
    let event = harness
        .wait_for("an offer", |event| unfinished_turn(event).is_some())
        .await;
    unfinished_turn(&event).expect("just matched")
}

/// Waits until the model has sent text and the journal contains it.
pub async fn wait_for_journaled_text(harness: &mut EngineHarness) {
    let is_delta = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("text", is_delta).await;
    // The paused clock advances only after the journal has been written.
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// Completes a turn and asserts that nothing was asked before or during it.
pub async fn assert_no_offer(harness: &mut EngineHarness) {
    harness.prompt("again").await;
    harness.wait_for_turn_end().await;
    let is_question = |event: &Event| matches!(event, Event::Asked { .. });
    assert!(
        !harness.events.iter().any(is_question),
        "{:#?}",
        harness.events
    );
}

/// A reply that stops in the middle of a word and never ends.
pub fn partial_answer_script() -> Script {
    Script::default().round([ScriptStep::text("Half a sen"), ScriptStep::Hang])
}

#[tokio::test(start_paused = true)]
async fn killed_turn_is_offered_and_resumed_without_sending() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 1);
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Whole.")).await;
    let (ask, turn) = wait_for_offer(&mut harness).await;
    let shown = "You asked:\n  Tell me\n\nThe answer so far:\n  Half a sen";
    assert!(turn.contains(shown), "{turn}");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let prompt = harness.wait_for("the prompt", |event| {
        matches!(event, Event::PromptOffered { .. })
    });
    let offered = Event::PromptOffered {
        prompt: Prompt::new("Tell me"),
        notice: None,
    };
    assert_eq!(prompt.await, offered);
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
    let cancelled_turn = &read_json(&session_files(&home)[0])["humble"]["cancelled"][0];
    assert_eq!(cancelled_turn["words"], "Half a sen");
    assert_eq!(cancelled_turn["interrupted"], true);
}

#[tokio::test(start_paused = true)]
async fn call_awaiting_approval_is_shown_in_full_and_never_run() {
    let mut harness = EngineHarness::start(Script::default().answer(GET_TIME_CALL)).await;
    harness.prompt("Time?").await;
    harness.next_approval().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, turn) = wait_for_offer(&mut harness).await;
    let call = "Tool call get_time on humble: awaited your approval, did not run\n  {\n    \"timezone\": \"Asia/Seoul\"\n  }";
    assert!(turn.contains(call), "{turn}");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let is_notice = |event: &Event| {
        matches!(event, Event::PromptOffered { notice: Some(notice), .. }
        if notice.what == "The call awaiting your approval was not run.")
    };
    harness.wait_for("the notice", is_notice).await;
    assert_eq!(harness.requests.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_turn_lists_the_calls_that_ended_before_the_kill() {
    let script = Script::default()
        .answer(GET_TIME_CALL)
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    wait_for_journaled_text(&mut harness).await;
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (_, turn) = wait_for_offer(&mut harness).await;
    let call =
        "Tool call get_time on humble: succeeded\n  {\n    \"timezone\": \"Asia/Seoul\"\n  }";
    assert!(turn.contains(call), "{turn}");
    assert_eq!(turn.matches("Tool call").count(), 1, "{turn}");
}

#[tokio::test(start_paused = true)]
async fn kept_turn_is_offered_again_and_discarding_needs_confirmation() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    let home = kill_engine(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, _) = wait_for_offer(&mut harness).await;
    harness.answer(ask, UserAnswer::Dismissed).await;
    let home = harness.shut_down().await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (ask, _) = wait_for_offer(&mut harness).await;
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Discard))
        .await;
    let (ask, question) = harness.next_question().await;
    assert_eq!(question, questions::discard("Tell me"));
    assert_eq!(
        journals(&harness.home).len(),
        1,
        "the journal is kept until the user confirms"
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Discard))
        .await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn first_turn_that_ended_unanswered_is_not_offered() {
    let mut harness = EngineHarness::start(partial_answer_script()).await;
    harness.prompt("Tell me").await;
    wait_for_journaled_text(&mut harness).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty(), "{:?}", journals(&home));
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn turn_cut_off_by_a_lost_terminal_is_offered() {
    let script = Script::default()
        .answer("One.")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    harness.prompt("second").await;
    let is_partial_answer = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { text, .. }) if text.starts_with("Half"));
    harness.wait_for("text", is_partial_answer).await;
    harness.send(Command::ShutdownKeepingTurn).await;
    harness
        .wait_for("the end", |event| *event == Event::ShutDown)
        .await;
    harness.handle.task.await.expect("no panic");
    let mut harness = EngineHarness::start_in(harness.home, Script::default().answer("Two.")).await;
    let (ask, turn) = wait_for_offer(&mut harness).await;
    let shown = "You asked:\n  second\n\nThe answer so far:\n  Half a sen";
    assert!(turn.contains(shown), "{turn}");
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let is_prompt_offered = |event: &Event| matches!(event, Event::PromptOffered { .. });
    harness.wait_for("the prompt", is_prompt_offered).await;
    harness.prompt("second").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Two."));
    assert_eq!(harness.model_messages().len(), 3, "the first turn is sent");
}

#[tokio::test(start_paused = true)]
async fn partial_answer_of_an_unsaved_conversation_is_recovered() {
    let home = configured_home();
    write_answer_journal(&home, Value::Null, 0);
    append_partial_turn(&home, &[json!({ "type": "ended" })]);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let files: Vec<Value> = session_files(&home)
        .iter()
        .map(|path| read_json(path))
        .collect();
    let partial_answer = |file: &Value| file["humble"]["cancelled"][0]["words"].clone();
    let partial_answers: Vec<Value> = files.iter().map(partial_answer).collect();
    assert!(partial_answers.contains(&json!("Half")), "{files:#?}");
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
    wait_for_journaled_text(&mut harness).await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty(), "{:?}", journals(&home));
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"][3]["content"], "Half a sen");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    assert_no_offer(&mut harness).await;
}

/// Writes the journal of a program that was killed after showing an answer and before saving it.
/// `messages_before` is the number of messages in the conversation before that turn.
pub fn write_answer_journal(home: &TempDir, session: Value, messages_before: usize) {
    let folder = home.path().join("journal");
    fs::create_dir_all(&folder).expect("created");
    let records = [
        json!({ "type": "turn", "prompt": "q", "model": "m", "session": session,
            "started": "2026-01-02T03:04:05.678Z", "before": messages_before,
            "at": "2026-01-02T03:04:06Z" }),
        json!({ "type": "words", "piece": 1, "thinking": true, "text": "음…" }),
        json!({ "type": "later", "unknown": true }),
        json!({ "type": "answer", "text": "a", "input": 3, "output": 1,
            "at": "2026-01-02T03:04:07Z" }),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(folder.join("20260102_030406.jsonl"), lines + "{\"torn").expect("written");
}

/// Appends a second turn, with the prompt `r` and the partial answer `Half`, to the only journal.
pub fn append_partial_turn(home: &TempDir, more_records: &[Value]) {
    let path = journals(home).remove(0);
    let turn = [
        json!({ "type": "turn", "prompt": "r", "model": "m", "session": null,
            "started": "2026-01-02T03:04:05.678Z", "before": 2, "at": "2026-01-02T03:05:00Z" }),
        json!({ "type": "words", "piece": 1, "thinking": false, "text": "Half" }),
    ];
    let records = turn.iter().chain(more_records);
    let lines: String = records.map(|record| format!("\n{record}")).collect();
    let text = fs::read_to_string(&path).expect("a file") + &lines;
    fs::write(&path, text).expect("written");
}

/// A home with one active model.
pub fn configured_home() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    home
}

#[tokio::test(start_paused = true)]
async fn shown_but_unsaved_answer_is_saved_once_at_the_next_start() {
    let mut home = configured_home();
    for _ in 0..2 {
        write_answer_journal(&home, Value::Null, 0);
        let harness = EngineHarness::start_in(home, Script::default()).await;
        home = harness.shut_down().await;
        assert!(journals(&home).is_empty());
    }
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    let file = read_json(&files[0]);
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
        "the second recovery of the same answer creates no branch"
    );
}

#[tokio::test(start_paused = true)]
async fn recovered_answer_replaces_conflicting_messages_which_become_a_branch() {
    let home = configured_home();
    fs::create_dir(home.path().join("sessions")).expect("created");
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let messages = [message("user", "x"), message("assistant", "y")];
    let path = home.path().join("sessions/s.json");
    fs::write(&path, json!({ "messages": messages, "k": 1 }).to_string()).expect("written");
    write_answer_journal(&home, json!("s.json"), 0);
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    let file = read_json(&path);
    assert_eq!(
        file["messages"],
        json!([message("user", "q"), message("assistant", "a")])
    );
    assert_eq!(file["humble"]["branches"][0]["messages"], json!(messages));
    assert_eq!(file["k"], 1);
    assert_eq!(session_files(&home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn file_that_is_not_a_journal_is_kept() {
    let home = configured_home();
    let folder = home.path().join("journal");
    fs::create_dir(&folder).expect("created");
    fs::write(folder.join("a.jsonl"), "another program's text").expect("written");
    fs::create_dir(folder.join("b.jsonl")).expect("created");
    let harness = EngineHarness::start_in(home, Script::default()).await;
    let home = harness.shut_down().await;
    assert_eq!(
        fs::read_to_string(home.path().join("journal/a.jsonl")).expect("a file"),
        "another program's text"
    );
    assert!(home.path().join("journal/b.jsonl").is_dir());
}

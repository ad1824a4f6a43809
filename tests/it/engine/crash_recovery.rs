//! Recovery of journals in edge cases, and the state of the disk when an answer is shown.

use super::journal::words_come;
use super::journal::{half, home, journals, killed, leave_answer, nothing_is_offered, offered};
use super::*;
use humble::domain::Prompt;
use humble::engine::EngineOptions;
use std::fs;

#[tokio::test(start_paused = true)]
async fn answer_is_saved_before_its_end_is_reported() {
    let script = Script::default()
        .answer("one")
        .answer("two")
        .answer("three");
    let mut harness = EngineHarness::start(script).await;
    for answer in ["one", "two", "three"] {
        harness.prompt("?").await;
        assert_eq!(harness.wait_for_turn_end().await, answered(answer));
        let files = [journals(&harness.home), session_files(&harness.home)].concat();
        let has = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.contains(&format!("\"{answer}\""))
        };
        assert!(files.iter().any(has), "{answer}: {files:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn answer_that_cannot_be_recovered_is_kept_for_the_next_start() {
    let home = home();
    leave_answer(&home, Value::Null, 0);
    fs::write(home.path().join("sessions"), "").expect("written");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    let refused = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what.starts_with("Not saved"));
    // The notice may come before the servers are connected.
    if !harness.events.iter().any(refused) {
        harness.wait_for("why", refused).await;
    }
    let home = harness.shut_down().await;
    assert_eq!(journals(&home).len(), 1);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    assert!(journals(&home).is_empty());
    assert_eq!(
        read(&session_files(&home)[0])["messages"][1]["content"],
        "a"
    );
}

#[tokio::test(start_paused = true)]
async fn interrupted_turn_after_an_unsaved_answer_resumes_in_its_conversation() {
    let home = home();
    leave_answer(&home, Value::Null, 0);
    let path = journals(&home).remove(0);
    let records = [
        json!({ "type": "turn", "prompt": "r", "model": "m", "session": null,
            "started": "2026-01-02T03:04:05.678Z", "before": 2, "at": "2026-01-02T03:05:00Z" }),
        json!({ "type": "words", "piece": 1, "thinking": false, "text": "Half" }),
    ];
    let lines: String = records.iter().map(|record| format!("\n{record}")).collect();
    let text = fs::read_to_string(&path).expect("a file") + &lines;
    fs::write(&path, text).expect("written");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("b")).await;
    let (ask, turn) = offered(&mut harness).await;
    assert_eq!(
        (turn.prompt.as_str(), turn.partial_answer.as_str()),
        ("r", "Half")
    );
    harness
        .answer(ask, UserAnswer::Choice(UserChoice::Resume))
        .await;
    let prompt = |event: &Event| matches!(event, Event::PromptOffered(_));
    harness.wait_for("the prompt", prompt).await;
    harness.prompt("r").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("b"));
    let [user, assistant] = [Message::User, Message::Assistant];
    let expected = [user("q".into()), assistant("a".into()), user("r".into())];
    assert_eq!(harness.model_messages(), expected);
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "{files:?}");
    let file = read(&files[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
    assert_eq!(file["humble"]["cancelled"][0]["words"], "Half");
    assert!(journals(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_shot_run_leaves_an_unfinished_turn_for_later() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    let home = killed(harness).await;
    let options = EngineOptions {
        is_one_shot: true,
        ..EngineOptions::default()
    };
    let mut harness =
        EngineHarness::start_with_options(home, Script::default().answer("ok"), options).await;
    nothing_is_offered(&mut harness).await;
    let home = harness.shut_down().await;
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    let (_, turn) = offered(&mut harness).await;
    assert_eq!(turn.prompt, "Tell me");
}

#[tokio::test(start_paused = true)]
async fn first_turn_that_was_stopped_and_undone_is_not_offered() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    harness
        .send(Command::DropCancelled(Prompt::new("Tell me")))
        .await;
    let home = harness.shut_down().await;
    assert!(journals(&home).is_empty());
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
}

#[tokio::test(start_paused = true)]
async fn branch_is_restored_with_its_own_thinking() {
    let round = |thinking: &str, text: &str| {
        [
            ScriptStep::thinking(thinking),
            ScriptStep::text(text),
            ScriptStep::end(),
        ]
    };
    let script = Script::default()
        .round(round("first thoughts", "one"))
        .round(round("second thoughts", "two"));
    let mut harness = EngineHarness::start(script).await;
    for _ in 0..2 {
        harness.prompt("?").await;
        harness.wait_for_turn_end().await;
        harness.wait_for_save().await;
        harness.send(Command::Rewind).await;
        harness.wait_for_save().await;
    }
    harness.send(Command::ListBranches).await;
    let listed = |event: &Event| matches!(event, Event::BranchesListed(_));
    let Event::BranchesListed(branches) = harness.wait_for("branches", listed).await else {
        unreachable!("just matched");
    };
    let mut seen = Vec::new();
    for branch in branches {
        harness.send(Command::SwitchBranch(branch)).await;
        let opened = |event: &Event| matches!(event, Event::SessionOpened(_));
        let Event::SessionOpened(session) = harness.wait_for("the branch", opened).await else {
            unreachable!("just matched");
        };
        let thinking = session
            .metadata
            .turns
            .iter()
            .map(|turn| turn.thinking.clone());
        let answer = session.messages[1].content.to_string();
        seen.push((answer, thinking.collect::<Vec<_>>()));
    }
    let expected = [("two", "second thoughts"), ("one", "first thoughts")]
        .map(|(answer, thinking)| (answer.to_owned(), vec![thinking.to_owned()]));
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn turn_made_private_midway_leaves_no_journal() {
    let mut harness = EngineHarness::start(half()).await;
    harness.prompt("Tell me").await;
    words_come(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 1);
    harness.send(Command::SetPrivate(true)).await;
    let private = |event: &Event| *event == Event::PrivateChanged(true);
    harness.wait_for("the change", private).await;
    // The clock advances once the disk operation is done.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(journals(&harness.home).is_empty());
    let home = killed(harness).await;
    let mut harness = EngineHarness::start_in(home, Script::default().answer("ok")).await;
    nothing_is_offered(&mut harness).await;
}

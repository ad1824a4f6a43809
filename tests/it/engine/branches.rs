//! Undo, branches, forks and private conversations, and their effect on the context meter.

use super::journal::journals;
use super::*;
use humble::protocol::BranchSummary;

fn saved_messages(turns: &[(&str, &str)]) -> Value {
    let messages = turns.iter().flat_map(|(prompt, answer)| {
        [
            json!({ "role": "user", "content": prompt }),
            json!({ "role": "assistant", "content": answer }),
        ]
    });
    messages.collect()
}

async fn complete_and_save_turn(harness: &mut EngineHarness, prompt: &str) {
    harness.prompt(prompt).await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
}

async fn list_branches(harness: &mut EngineHarness) -> Vec<BranchSummary> {
    harness
        .send(Command::ListBranches {
            turns_from_end: None,
        })
        .await;
    let is_listed = |event: &Event| matches!(event, Event::BranchesListed(_));
    match harness.wait_for("the branches", is_listed).await {
        Event::BranchesListed(branches) => branches,
        _ => unreachable!("just matched"),
    }
}

#[tokio::test(start_paused = true)]
async fn retried_prompt_keeps_the_old_answer_as_a_branch() {
    let script = Script::default()
        .answer("one")
        .answer("two")
        .answer("three");
    let mut harness = EngineHarness::start(script).await;
    complete_and_save_turn(&mut harness, "first").await;
    complete_and_save_turn(&mut harness, "second").await;
    harness.send(Command::Rewind).await;
    harness.wait_for_save().await;
    complete_and_save_turn(&mut harness, "second").await;
    let expected = [
        Message::User("first".to_owned()),
        Message::Assistant("one".to_owned()),
        Message::User("second".to_owned()),
    ];
    assert_eq!(
        harness.model_messages(),
        expected,
        "the other answer is not sent"
    );
    let branches = list_branches(&mut harness).await;
    assert_eq!(
        (
            branches[0].shared_messages,
            branches[0].own_messages,
            branches[0].first_prompt_line.as_str()
        ),
        (2, 2, "second")
    );
    let file = read_json(&session_files(&harness.home)[0]);
    assert_eq!(
        file["messages"],
        saved_messages(&[("first", "one"), ("second", "three")])
    );
    assert_eq!(
        file["humble"]["branches"][0]["messages"],
        saved_messages(&[("second", "two")])
    );
    assert_eq!(file["humble"]["turns"].as_array().map(Vec::len), Some(2));

    harness
        .send(Command::SwitchBranch(branches[0].clone()))
        .await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "switching branches creates no other file");
    let file = read_json(&files[0]);
    assert_eq!(
        file["messages"],
        saved_messages(&[("first", "one"), ("second", "two")])
    );
    assert_eq!(
        file["humble"]["branches"][0]["messages"],
        saved_messages(&[("second", "three")])
    );
}

#[tokio::test(start_paused = true)]
async fn undone_turns_survive_a_restart() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    complete_and_save_turn(&mut harness, "first").await;
    complete_and_save_turn(&mut harness, "second").await;
    for _ in 0..3 {
        harness.send(Command::Rewind).await;
    }
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    let messages = saved_messages(&[("first", "one"), ("second", "two")]);
    assert_eq!(
        file["messages"], messages,
        "undoing every turn keeps the saved messages"
    );
    assert_eq!(file["humble"].get("branches"), None);
    let harness = open_saved_session(home, Script::default()).await;
    let Some(Event::SessionOpened(session)) = harness.events.last() else {
        unreachable!("the helper waits for it");
    };
    assert_eq!(session.messages.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn undone_turn_is_saved_as_a_branch_with_the_next_answer() {
    let script = Script::default().answer("one").answer("two");
    let mut harness = EngineHarness::start(script).await;
    complete_and_save_turn(&mut harness, "first").await;
    harness.send(Command::Rewind).await;
    harness.wait_for_save().await;
    let branches = list_branches(&mut harness).await;
    assert_eq!(branches.len(), 1, "the undone turn is a branch");
    complete_and_save_turn(&mut harness, "second").await;
    assert_eq!(
        harness.model_messages(),
        [Message::User("second".to_owned())]
    );
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "the branch is in the same file: {files:?}");
    let file = read_json(&files[0]);
    assert_eq!(file["messages"], saved_messages(&[("second", "two")]));
    let branch = &file["humble"]["branches"][0]["messages"];
    assert_eq!(*branch, saved_messages(&[("first", "one")]));
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
        complete_and_save_turn(&mut harness, "?").await;
        harness.send(Command::Rewind).await;
        harness.wait_for_save().await;
    }
    let mut restored = Vec::new();
    for branch in list_branches(&mut harness).await {
        harness.send(Command::SwitchBranch(branch)).await;
        let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
        let Event::SessionOpened(session) = harness.wait_for("the branch", is_opened).await else {
            unreachable!("just matched");
        };
        let thinking = session
            .metadata
            .turns
            .iter()
            .map(|turn| turn.thinking.clone());
        let answer = session.messages[1].content.to_string();
        restored.push((answer, thinking.collect::<Vec<_>>()));
    }
    let expected = [("two", "second thoughts"), ("one", "first thoughts")]
        .map(|(answer, thinking)| (answer.to_owned(), vec![thinking.to_owned()]));
    assert_eq!(restored, expected);
}

#[tokio::test(start_paused = true)]
async fn undo_and_fork_are_refused_during_a_turn() {
    let script = Script::default().answer("one").round([ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    complete_and_save_turn(&mut harness, "first").await;
    harness.prompt("second").await;
    for command in [Command::Rewind, Command::ForkSession] {
        harness.send(command).await;
        let is_busy_notice = |event: &Event| {
            matches!(event, Event::NoticePosted(notice)
            if notice.what == "A turn is still running.")
        };
        harness.wait_for("the notice", is_busy_notice).await;
    }
    let home = harness.shut_down().await;
    assert_eq!(
        read_json(&session_files(&home)[0])["messages"],
        saved_messages(&[("first", "one")])
    );
}

#[tokio::test(start_paused = true)]
async fn fork_continues_in_its_own_file() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    harness.send(Command::ForkSession).await;
    complete_and_save_turn(&mut harness, "first").await;
    assert_eq!(
        session_files(&harness.home).len(),
        1,
        "there was nothing to fork"
    );
    harness.send(Command::ForkSession).await;
    harness.wait_for_save().await;
    complete_and_save_turn(&mut harness, "second").await;
    let home = harness.shut_down().await;
    let files: Vec<Value> = session_files(&home)
        .iter()
        .map(|path| read_json(path))
        .collect();
    let mut messages: Vec<&Value> = files.iter().map(|file| &file["messages"]).collect();
    messages.sort_by_key(|messages| messages.as_array().map(Vec::len));
    let expected = [
        saved_messages(&[("first", "one")]),
        saved_messages(&[("first", "one"), ("second", "two")]),
    ];
    assert_eq!(messages, [&expected[0], &expected[1]]);
}

#[tokio::test(start_paused = true)]
async fn private_mode_saves_nothing_and_keeps_earlier_saves() {
    let script = Script::default()
        .answer("one")
        .answer("Geheim")
        .answer("three");
    let mut harness = EngineHarness::start(script).await;
    complete_and_save_turn(&mut harness, "first").await;
    harness.send(Command::SetPrivate(true)).await;
    harness.prompt("비밀 secret").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Geheim"));
    harness
        .send(Command::SaveDraft("secret draft".into()))
        .await;
    // A draft of an ordinary conversation stays.
    harness
        .send(Command::SaveSetAsideDraft("ordinary draft".into()))
        .await;
    harness.send(Command::NewSession).await;
    harness
        .wait_for("the end of private mode", |event| {
            *event == Event::PrivateChanged(false)
        })
        .await;
    harness
        .wait_for("the notice about private mode", |event| {
            matches!(event, Event::NoticePosted(notice) if notice.what == "Private mode is off: this conversation is saved.")
        })
        .await;
    complete_and_save_turn(&mut harness, "third").await;
    let home = harness.shut_down().await;
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("read")).into_owned();
            let is_leaked = ["secret", "비밀", "Geheim"]
                .iter()
                .any(|word| text.contains(word));
            assert!(!is_leaked, "private text in {}: {text}", path.display());
        }
    }
    let draft = std::fs::read_to_string(home.path().join("draft"));
    assert_eq!(draft.expect("a draft"), "ordinary draft");
    assert!(journals(&home).is_empty());
    let files: Vec<Value> = session_files(&home)
        .iter()
        .map(|path| read_json(path))
        .collect();
    let messages: Vec<&Value> = files.iter().map(|file| &file["messages"]).collect();
    assert_eq!(files.len(), 2, "{messages:?}");
    assert!(messages.contains(&&saved_messages(&[("first", "one")])));
}

#[tokio::test(start_paused = true)]
async fn new_conversation_starts_with_an_empty_context_meter() {
    use humble::protocol::ContextMeter;
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    complete_and_save_turn(&mut harness, "first").await;
    harness.send(Command::NewSession).await;
    let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    harness.wait_for("the new conversation", is_opened).await;
    let is_measurement = |event: &Event| matches!(event, Event::ContextMeasured(_));
    let event = harness.wait_for("the context meter", is_measurement).await;
    assert_eq!(event, Event::ContextMeasured(ContextMeter::default()));
}

#[tokio::test(start_paused = true)]
async fn context_meter_shrinks_after_an_undo() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    let used_tokens = |event: &Event| match event {
        Event::ContextMeasured(meter) => Some(meter.used),
        _ => None,
    };
    complete_and_save_turn(&mut harness, "first").await;
    complete_and_save_turn(&mut harness, &"word ".repeat(2_000)).await;
    let before = harness
        .events
        .iter()
        .filter_map(used_tokens)
        .next_back()
        .expect("a measurement");
    harness.send(Command::Rewind).await;
    let is_smaller =
        |event: &Event| used_tokens(event).is_some_and(|used_tokens| used_tokens + 1_000 < before);
    harness.wait_for("a smaller measurement", is_smaller).await;
}

#[tokio::test(start_paused = true)]
async fn recent_commands_are_saved_except_in_a_private_conversation() {
    let harness = EngineHarness::start(Script::default()).await;
    harness.send(Command::RememberCommand("raw".into())).await;
    harness.send(Command::SetPrivate(true)).await;
    harness.send(Command::RememberCommand("log".into())).await;
    let home = harness.shut_down().await;
    let file = home.path().join("recent-commands.json");
    assert_eq!(read_json(&file), json!(["raw"]));
}

//! Undo, branches, forks, private conversations, and the session opened at the start.

use super::journal::journals;
use super::*;
use humble::protocol::BranchSummary;

fn saved_messages(turns: &[(&str, &str)]) -> Value {
    let both = turns.iter().flat_map(|(prompt, answer)| {
        [
            json!({ "role": "user", "content": prompt }),
            json!({ "role": "assistant", "content": answer }),
        ]
    });
    both.collect()
}

async fn talks(harness: &mut EngineHarness, prompt: &str) {
    harness.prompt(prompt).await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
}

async fn branches(harness: &mut EngineHarness) -> Vec<BranchSummary> {
    harness.send(Command::ListBranches).await;
    let listed = |event: &Event| matches!(event, Event::BranchesListed(_));
    match harness.wait_for("the branches", listed).await {
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
    talks(&mut harness, "first").await;
    talks(&mut harness, "second").await;
    harness.send(Command::Rewind).await;
    harness.wait_for_save().await;
    talks(&mut harness, "second").await;
    let expected = ["first", "one", "second"].map(str::to_owned);
    let [first, one, second] = expected;
    let expected = [
        Message::User(first),
        Message::Assistant(one),
        Message::User(second),
    ];
    assert_eq!(
        harness.model_messages(),
        expected,
        "the other answer is not sent"
    );
    let list = branches(&mut harness).await;
    assert_eq!(
        (
            list[0].shared_messages,
            list[0].own_messages,
            list[0].first_prompt_line.as_str()
        ),
        (2, 2, "second")
    );
    let file = read(&session_files(&harness.home)[0]);
    assert_eq!(
        file["messages"],
        saved_messages(&[("first", "one"), ("second", "three")])
    );
    assert_eq!(
        file["humble"]["branches"][0]["messages"],
        saved_messages(&[("second", "two")])
    );
    assert_eq!(file["humble"]["turns"].as_array().map(Vec::len), Some(2));

    harness.send(Command::SwitchBranch(list[0].clone())).await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "no fork: nothing was lost");
    let file = read(&files[0]);
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
    talks(&mut harness, "first").await;
    talks(&mut harness, "second").await;
    for _ in 0..3 {
        harness.send(Command::Rewind).await;
    }
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read(&session_files(&home)[0]);
    let both = saved_messages(&[("first", "one"), ("second", "two")]);
    assert_eq!(
        file["messages"], both,
        "a file without messages has no name"
    );
    assert_eq!(file["humble"].get("branches"), None);
    let name = session_files(&home)[0]
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let mut harness = EngineHarness::start_in(home, Script::default()).await;
    harness
        .send(Command::OpenSession(name.expect("a name").as_str().into()))
        .await;
    let opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    let Event::SessionOpened(session) = harness.wait_for("the session", opened).await else {
        unreachable!("just matched");
    };
    assert_eq!(session.messages.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn undone_turn_is_saved_as_a_branch_with_the_next_answer() {
    let script = Script::default().answer("one").answer("two");
    let mut harness = EngineHarness::start(script).await;
    talks(&mut harness, "first").await;
    harness.send(Command::Rewind).await;
    harness.wait_for_save().await;
    let list = branches(&mut harness).await;
    assert_eq!(list.len(), 1, "the undone turn is a branch");
    talks(&mut harness, "second").await;
    assert_eq!(
        harness.model_messages(),
        [Message::User("second".to_owned())]
    );
    let home = harness.shut_down().await;
    let files = session_files(&home);
    assert_eq!(files.len(), 1, "no fork: {files:?}");
    let file = read(&files[0]);
    assert_eq!(file["messages"], saved_messages(&[("second", "two")]));
    let branch = &file["humble"]["branches"][0]["messages"];
    assert_eq!(*branch, saved_messages(&[("first", "one")]));
}

#[tokio::test(start_paused = true)]
async fn undo_is_refused_during_a_turn() {
    let script = Script::default().answer("one").round([ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    talks(&mut harness, "first").await;
    harness.prompt("second").await;
    for command in [Command::Rewind, Command::ForkSession] {
        harness.send(command).await;
        let busy = |event: &Event| {
            matches!(event, Event::NoticePosted(notice)
            if notice.what == "A turn is still running.")
        };
        harness.wait_for("the notice", busy).await;
    }
    let home = harness.shut_down().await;
    assert_eq!(
        read(&session_files(&home)[0])["messages"],
        saved_messages(&[("first", "one")])
    );
}

#[tokio::test(start_paused = true)]
async fn fork_continues_in_its_own_file() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    harness.send(Command::ForkSession).await;
    talks(&mut harness, "first").await;
    assert_eq!(
        session_files(&harness.home).len(),
        1,
        "there was nothing to fork"
    );
    harness.send(Command::ForkSession).await;
    harness.wait_for_save().await;
    talks(&mut harness, "second").await;
    let home = harness.shut_down().await;
    let files: Vec<Value> = session_files(&home).iter().map(|path| read(path)).collect();
    let mut messages: Vec<&Value> = files.iter().map(|file| &file["messages"]).collect();
    messages.sort_by_key(|list| list.as_array().map(Vec::len));
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
    talks(&mut harness, "first").await;
    harness.send(Command::SetPrivate(true)).await;
    harness.prompt("비밀 secret").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Geheim"));
    harness
        .send(Command::SaveDraft("secret draft".to_owned()))
        .await;
    harness.send(Command::NewSession).await;
    harness
        .wait_for("its end", |event| *event == Event::PrivateChanged(false))
        .await;
    harness
        .wait_for("its text", |event| {
            matches!(event, Event::NoticePosted(notice) if notice.what == "Private mode is off: this conversation is saved.")
        })
        .await;
    talks(&mut harness, "third").await;
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
    assert!(journals(&home).is_empty());
    let files: Vec<Value> = session_files(&home).iter().map(|path| read(path)).collect();
    let messages: Vec<&Value> = files.iter().map(|file| &file["messages"]).collect();
    assert_eq!(files.len(), 2, "{messages:?}");
    assert!(messages.contains(&&saved_messages(&[("first", "one")])));
}

#[tokio::test(start_paused = true)]
async fn new_conversation_starts_with_an_empty_context() {
    use humble::protocol::ContextMeter;
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    talks(&mut harness, "first").await;
    harness.send(Command::NewSession).await;
    let opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    harness.wait_for("the new one", opened).await;
    let measured = |event: &Event| matches!(event, Event::ContextMeasured(_));
    let event = harness.wait_for("its meter", measured).await;
    assert_eq!(event, Event::ContextMeasured(ContextMeter::default()));
}

#[tokio::test(start_paused = true)]
async fn meter_follows_an_undone_turn() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    let used = |event: &Event| match event {
        Event::ContextMeasured(meter) => Some(meter.used),
        _ => None,
    };
    talks(&mut harness, "first").await;
    talks(&mut harness, &"word ".repeat(2_000)).await;
    let before = harness
        .events
        .iter()
        .filter_map(used)
        .next_back()
        .expect("a measurement");
    harness.send(Command::Rewind).await;
    let less = |event: &Event| used(event).is_some_and(|used| used + 1_000 < before);
    harness.wait_for("a smaller measure", less).await;
}

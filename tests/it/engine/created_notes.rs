//! Notes that turns create: written when the answer is complete, and removed with their turn.

use super::note_agents::{files, notice, results, resume, with_notes};
use super::*;
use humble::domain::{AgentResult, Prompt, PromptKind};
use humble::provider::FailureCause;
use std::fs;
use std::path::PathBuf;

#[tokio::test(start_paused = true)]
async fn a_note_is_written_when_the_answer_is_complete_and_undone_with_the_turn() {
    let script = Script::default()
        .answer("hi")
        .answer("# 양자 역학\n\n입자.");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("hello").await;
    harness.wait_for_turn_end().await;
    harness.prompt("양자 역학에 대한 노트 만들어줘").await;
    let answer = "# 양자 역학\n\n입자.";
    assert_eq!(harness.wait_for_turn_end().await, answered(answer));
    let note = vault.join("양자-역학.md");
    let text = fs::read_to_string(&note).expect("a note");
    assert_eq!(text, format!("{answer}\n"));
    let result = results(&harness).pop().expect("a result");
    let AgentResult::NoteCreated {
        note: name,
        title,
        path,
        sha256: Some(_),
    } = result
    else {
        panic!("{result:?}");
    };
    assert_eq!((&*name, &*title), ("양자-역학.md", "양자 역학"));
    assert_eq!(path, note.display().to_string());
    let request = harness.last_request();
    let [Message::User(prompt)] = request.messages.as_slice() else {
        panic!("expected only the agent's prompt: {request:?}");
    };
    assert!(prompt.contains("about: 양자 역학\n") && request.tools.is_empty());
    harness.wait_for_save().await;
    harness.send(Command::Rewind).await;
    assert_eq!(
        notice(&mut harness).await,
        "Undone. The note 양자-역학.md was removed."
    );
    assert!(!note.exists());
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(start_paused = true)]
async fn undo_removes_notes_across_turns_without_notes() {
    let script = Script::default()
        .answer("# Tea")
        .answer("hi")
        .answer("# Coffee")
        .round([ScriptStep::Fail(FailureCause::ConnectionRefused)]);
    let (mut harness, vault) = with_notes(&[], script).await;
    for prompt in ["make a note about tea", "hello", "make a note about coffee"] {
        harness.prompt(prompt).await;
        harness.wait_for_turn_end().await;
    }
    harness.prompt("hello again").await;
    let end = harness.wait_for_turn_end().await;
    assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
    // The failed turn left nothing in the session.
    harness.send(Command::Rewind).await;
    let undone = "Undone. The note coffee.md was removed.";
    assert_eq!(notice(&mut harness).await, undone);
    assert_eq!(files(&vault), ["tea.md"]);
    harness.send(Command::Rewind).await;
    harness.send(Command::Rewind).await;
    let undone = "Undone. The note tea.md was removed.";
    assert_eq!(notice(&mut harness).await, undone);
    assert_eq!(files(&vault), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_note_that_changed_or_belongs_to_another_branch_is_kept() {
    let script = Script::default().answer("# Tea").answer("# Tea 2");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    fs::write(vault.join("tea.md"), "mine").expect("written");
    harness.send(Command::Rewind).await;
    let why = "Undone. The note tea.md was not removed: it has changed since it was created.";
    assert_eq!(notice(&mut harness).await, why);
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    assert_eq!(files(&vault), ["tea-2.md", "tea.md"]);
    // The branch of the first turn no longer owns the note, even if its text is the same again.
    fs::write(vault.join("tea.md"), "# Tea\n").expect("written");
    harness
        .send(Command::ListBranches {
            turns_from_end: None,
        })
        .await;
    let is_list = |event: &Event| matches!(event, Event::BranchesListed(_));
    let Event::BranchesListed(branches) = harness.wait_for("branches", is_list).await else {
        unreachable!();
    };
    harness
        .send(Command::SwitchBranch(branches[0].clone()))
        .await;
    let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    let Event::SessionOpened(session) = harness.wait_for("the branch", is_opened).await else {
        unreachable!();
    };
    assert_eq!(session.metadata.written_notes(0), []);
    harness.send(Command::Rewind).await;
    harness
        .send(Command::ListBranches {
            turns_from_end: None,
        })
        .await;
    harness.wait_for("branches", is_list).await;
    assert_eq!(files(&vault), ["tea-2.md", "tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_conversation_still_removes_the_note_of_its_last_turn() {
    let (mut harness, vault) = with_notes(&[], Script::default().answer("# Tea")).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let mut harness = resume(home, Script::default()).await;
    harness.send(Command::Rewind).await;
    let undone = "Undone. The note tea.md was removed.";
    assert_eq!(notice(&mut harness).await, undone);
    assert_eq!(files(&vault), [""; 0]);
}

/// Sends a prompt that replaces the last turn, as `/retry` and `/edit` do.
async fn replace_last(harness: &mut EngineHarness, text: &str) -> TurnEnd {
    let prompt = Prompt::new(text).with_kind(PromptKind::Replace);
    let turn = humble::domain::TurnId(1_000 + harness.requests.count() as u64);
    harness.send(Command::Submit { turn, prompt }).await;
    harness.wait_for_turn_end().await
}

/// Waits for a notice outside a turn. Unlike [`notice`], includes the reason and skips none.
async fn full_notice(harness: &mut EngineHarness) -> String {
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(_));
    match harness.wait_for("a notice", is_notice).await {
        Event::NoticePosted(notice) => notice.summary(),
        _ => unreachable!(),
    }
}

#[tokio::test(start_paused = true)]
async fn replacing_a_turn_removes_its_note() {
    let script = Script::default()
        .answer("# Tea 1")
        .answer("# Tea 2")
        .round([ScriptStep::Fail(FailureCause::ConnectionRefused)])
        .answer("# Coffee")
        .answer("# Coffee 2")
        .answer("Coffee is a drink.");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    let text = |name: &str| fs::read_to_string(vault.join(name)).expect("a note");
    replace_last(&mut harness, "make a note about tea").await;
    assert_eq!(files(&vault), ["tea.md"]);
    assert_eq!(text("tea.md"), "# Tea 2\n");
    let end = replace_last(&mut harness, "make a note about tea").await;
    assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
    assert_eq!(
        text("tea.md"),
        "# Tea 2\n",
        "a failed turn replaces nothing"
    );
    replace_last(&mut harness, "make a note about coffee").await;
    let removed = "The turn was replaced. The note tea.md was removed.";
    assert_eq!(notice(&mut harness).await, removed);
    assert_eq!(files(&vault), ["coffee.md"]);
    fs::write(vault.join("coffee.md"), "mine").expect("written");
    replace_last(&mut harness, "make a note about coffee").await;
    let kept = "The new note is coffee-2.md. The note coffee.md was not removed: it has changed since \
                it was created.";
    assert_eq!(full_notice(&mut harness).await, kept);
    fs::write(vault.join("coffee-2.md"), "mine").expect("written");
    replace_last(&mut harness, "what is coffee?").await;
    let kept = "The turn was replaced. The note coffee-2.md was not removed: it has changed since it \
                was created.";
    assert_eq!(notice(&mut harness).await, kept);
    assert_eq!(text("coffee.md"), "mine");
}

#[tokio::test(start_paused = true)]
async fn a_continued_answer_completes_its_note() {
    let cut = || [ScriptStep::Part(StreamPart::End(EndReason::Length))];
    let script = Script::default()
        .round(
            [ScriptStep::text("# Tea\n\nIt is")]
                .into_iter()
                .chain(cut()),
        )
        .round([ScriptStep::text(" a drink")].into_iter().chain(cut()))
        .answer(" from Asia.")
        .round([ScriptStep::text("Well")].into_iter().chain(cut()))
        .answer(", hello.");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    let last = harness.turn_notices().pop().expect("a notice");
    assert_eq!(last.what, "The note is incomplete and was not saved.");
    assert_eq!(last.advice, [humble::domain::Advice::ContinueNote]);
    for turn in [50, 51] {
        assert_eq!(files(&vault), [""; 0]);
        let (turn, prompt) = (humble::domain::TurnId(turn), Prompt::continuation());
        harness.send(Command::Submit { turn, prompt }).await;
        harness.wait_for_turn_end().await;
    }
    assert_eq!(files(&vault), ["tea.md"]);
    let text = fs::read_to_string(vault.join("tea.md")).expect("a note");
    assert_eq!(text, "# Tea\n\nIt is a drink from Asia.\n");
    assert_eq!(results(&harness).len(), 1);
    // Continuing an ordinary answer creates no note.
    harness.prompt("hello").await;
    harness.wait_for_turn_end().await;
    let (turn, prompt) = (humble::domain::TurnId(52), Prompt::continuation());
    harness.send(Command::Submit { turn, prompt }).await;
    harness.wait_for_turn_end().await;
    assert_eq!(files(&vault), ["tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_truncated_replacement_keeps_the_earlier_note() {
    let script = Script::default().answer("# Tea 1").round([
        ScriptStep::text("# Tea"),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ]);
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    replace_last(&mut harness, "make a note about tea").await;
    // Shutting down waits for all jobs.
    let _home = harness.shut_down().await;
    assert_eq!(files(&vault), ["tea.md"]);
    let text = fs::read_to_string(vault.join("tea.md")).expect("a note");
    assert_eq!(text, "# Tea 1\n");
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_note_of_an_undone_turn_keeps_no_other_notes() {
    let script = Script::default()
        .answer("# Coffee")
        .round([
            ScriptStep::text("# Tea"),
            ScriptStep::Part(StreamPart::End(EndReason::Length)),
        ])
        .answer("Coffee is a drink.");
    let (mut harness, vault) = with_notes(&[], script).await;
    for prompt in ["make a note about coffee", "make a note about tea"] {
        harness.prompt(prompt).await;
        harness.wait_for_turn_end().await;
    }
    harness.send(Command::Rewind).await;
    assert_eq!(files(&vault), ["coffee.md"]);
    replace_last(&mut harness, "what is coffee?").await;
    let removed = "The turn was replaced. The note coffee.md was removed.";
    assert_eq!(notice(&mut harness).await, removed);
}

#[tokio::test(start_paused = true)]
async fn the_style_of_a_phrase_reaches_the_model_but_not_the_name_of_the_note() {
    let script = Script::default().answer("# Le thé\n\nChaud.");
    let (mut harness, vault) = with_notes(&[], script).await;
    let prompt = "write a detailed note about tea";
    harness.prompt(prompt).await;
    harness.wait_for_turn_end().await;
    let Some(Message::User(sent)) = harness.model_messages().pop() else {
        panic!("{:?}", harness.model_messages());
    };
    let start = "Write a note in Markdown about: tea\nStyle: detailed\n";
    assert!(sent.starts_with(start), "{sent}");
    assert_eq!(files(&vault), ["tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_only_a_tool_call_is_not_saved() {
    let calls = [
        r#"{"name": "get_time", "arguments": {"timezone": "Asia/Seoul"}}"#,
        "```json\n{\"name\": \"get_time\", \"arguments\": {}}\n```",
        "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>",
        r#"{"name": "no_such_tool", "parameters": {"text": "Tea"}}"#,
        "<tool_call>{\"name\": \"no_such_tool\", \"arguments\": {}}</tool_call>",
        r#"[{"name": "save_note", "arguments": {"title": "Tea"}}]"#,
        "[get_time(timezone=\"Asia/Seoul\")]",
        "[TOOL_CALLS][{\"name\": \"get_time\", \"arguments\": {}}]",
    ];
    let notes = [
        "# Tea\n\nA call looks like this:\n\n{\"name\": \"get_time\", \"arguments\": {}}",
        "Green tea.",
    ];
    let script = calls.iter().chain(&notes);
    let script = script.fold(Script::default(), |script, answer| script.answer(answer));
    let (mut harness, vault) = with_notes(&[], script).await;
    for call in calls {
        harness.prompt("make a note about tea").await;
        assert_eq!(harness.wait_for_turn_end().await, answered(call));
        let last = harness.turn_notices().pop().expect("a notice");
        let why = "The note was not saved. The answer is only a tool call.";
        assert_eq!(last.summary(), why, "{call}");
        assert_eq!(files(&vault), [""; 0], "{call}");
    }
    for _ in notes {
        harness.prompt("make a note about tea").await;
        harness.wait_for_turn_end().await;
    }
    assert_eq!(files(&vault), ["tea-2.md", "tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn replacing_several_turns_keeps_and_names_their_notes() {
    let script = Script::default()
        .answer("# Tea")
        .answer("# Coffee")
        .answer("Hello.");
    let (mut harness, vault) = with_notes(&[], script).await;
    for prompt in ["make a note about tea", "make a note about coffee"] {
        harness.prompt(prompt).await;
        harness.wait_for_turn_end().await;
    }
    let prompt = Prompt::new("hello").replacing(2);
    let turn = humble::domain::TurnId(1_000);
    harness.send(Command::Submit { turn, prompt }).await;
    let kept = "2 turns were replaced. Their notes stay: tea.md, coffee.md.";
    harness.wait_for_turn_end().await;
    assert_eq!(notice(&mut harness).await, kept);
    assert_eq!(files(&vault), ["coffee.md", "tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_note_in_a_folder_that_is_no_longer_the_vault_is_left_alone() {
    let (mut harness, vault) = with_notes(&[], Script::default().answer("# Tea")).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let other = home.path().join("other");
    fs::create_dir(&other).expect("created");
    fs::copy(vault.join("tea.md"), other.join("tea.md")).expect("copied");
    let config = fs::read_to_string(home.path().join("config.json")).expect("a file");
    let mut config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    config["notes"] = serde_json::json!({ "vault": other });
    fs::write(home.path().join("config.json"), config.to_string()).expect("written");
    let mut harness = resume(home, Script::default().answer("# Tea 2")).await;
    replace_last(&mut harness, "make a note about tea").await;
    let folder = vault.display();
    let kept = format!(
        "The new note is tea-2.md. The note tea.md was not removed: it was created in another \
         folder, {folder}."
    );
    assert_eq!(full_notice(&mut harness).await, kept);
    let text = |note: PathBuf| fs::read_to_string(note).expect("a note");
    assert_eq!(text(other.join("tea.md")), "# Tea\n", "not the turn's note");
    assert_eq!(text(vault.join("tea.md")), "# Tea\n");
    fs::remove_dir_all(&other).expect("removed");
    harness.send(Command::Rewind).await;
    let undone = full_notice(&mut harness).await;
    let gone = "Undone. The note tea-2.md was not removed. The notes folder ";
    assert!(undone.starts_with(gone), "{undone}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_only_a_tool_call_fails() {
    let call = r#"{"name": "get_time", "arguments": {}}"#;
    let script = Script::default().answer(call);
    let (mut harness, _) = with_notes(&[("tea.md", "Tea is hot.")], script).await;
    harness.prompt("summarize tea.md").await;
    harness.wait_for_turn_end().await;
    let last = harness.turn_notices().pop().expect("a notice");
    let why = "There is no summary. The answer is only a tool call.";
    assert_eq!(last.summary(), why);
}

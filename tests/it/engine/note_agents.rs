//! Note agents in the turns of the engine, on real folders, with a scripted model.

use super::*;
use crate::support::engine_harness::write_config;
use humble::domain::{AgentResult, Prompt, Severity};
use humble::protocol::NoteCommand;
use humble::provider::FailureCause;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The engine with a vault that contains these notes.
pub(super) async fn with_notes(notes: &[(&str, &str)], script: Script) -> (EngineHarness, PathBuf) {
    let home = TempDir::new().expect("a temporary folder");
    let vault = fs::canonicalize(home.path()).expect("a path").join("vault");
    fs::create_dir(&vault).expect("created");
    for (name, text) in notes {
        fs::write(vault.join(name), text).expect("written");
    }
    write_config(&home, &config(&vault));
    (EngineHarness::start_in(home, script).await, vault)
}

fn config(vault: &Path) -> String {
    let mut config: serde_json::Value = serde_json::from_str(OLLAMA_CONFIG).expect("JSON");
    config["notes"] = serde_json::json!({ "vault": vault });
    config.to_string()
}

fn files(vault: &Path) -> Vec<String> {
    let entries = fs::read_dir(vault).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// What the agents did, in order.
pub(super) fn results(harness: &EngineHarness) -> Vec<AgentResult> {
    let entries = harness.transcript.entries().iter();
    let result = |entry: &humble::domain::TranscriptEntry| match &entry.body {
        EntryBody::Agent(result) => Some(result.clone()),
        _ => None,
    };
    entries.filter_map(result).collect()
}

/// Waits for a notice outside a turn.
pub(super) async fn notice(harness: &mut EngineHarness) -> String {
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(_));
    match harness.wait_for("a notice", is_notice).await {
        Event::NoticePosted(notice) => notice.what,
        _ => unreachable!(),
    }
}

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
    let created = AgentResult::NoteCreated {
        note: "양자-역학.md".to_owned(),
        title: "양자 역학".to_owned(),
    };
    assert_eq!(results(&harness), [created]);
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
async fn a_changed_note_and_the_note_of_an_earlier_turn_are_not_undone() {
    let script = Script::default()
        .answer("# Tea")
        .answer("hi")
        .answer("# Tea");
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    harness.prompt("hello").await;
    harness.wait_for_turn_end().await;
    harness.send(Command::Rewind).await;
    harness.send(Command::Rewind).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    assert_eq!(files(&vault), ["tea-2.md", "tea.md"]);
    fs::write(vault.join("tea-2.md"), "mine").expect("written");
    harness.send(Command::Rewind).await;
    let why = notice(&mut harness).await;
    assert!(why.contains("it was changed since it was created"), "{why}");
    assert_eq!(files(&vault), ["tea-2.md", "tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_failed_or_truncated_answer_leaves_no_note() {
    let script = Script::default()
        .round([ScriptStep::text("# Te"), ScriptStep::Hang])
        .round([
            ScriptStep::text("# Te"),
            ScriptStep::Part(StreamPart::End(EndReason::Length)),
        ])
        .round([
            ScriptStep::text("# Te"),
            ScriptStep::Fail(FailureCause::ConnectionRefused),
        ]);
    let (mut harness, vault) = with_notes(&[], script).await;
    harness.prompt("make a note about tea").await;
    let is_text = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { .. }));
    harness.wait_for("text", is_text).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    harness.prompt("make a note about tea").await;
    let end = harness.wait_for_turn_end().await;
    let TurnEnd::Answered {
        is_truncated: true, ..
    } = end
    else {
        panic!("{end:?}");
    };
    let notices = harness.turn_notices();
    let last = notices.last().expect("a notice");
    assert_eq!(last.what, "The note is incomplete and was not saved.");
    harness.prompt("make a note about tea").await;
    let end = harness.wait_for_turn_end().await;
    assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
    assert_eq!(files(&vault), [""; 0]);
    assert_eq!(results(&harness), []);
}

#[tokio::test(start_paused = true)]
async fn found_notes_are_the_answer_without_a_request() {
    let notes = [
        ("router.md", "# 공유기\n비밀번호는 *서랍*에 있다."),
        ("tea.md", "# Tea\nGreen tea."),
    ];
    let (mut harness, _) = with_notes(&notes, Script::default()).await;
    harness.prompt("비밀번호 노트 찾아줘").await;
    let TurnEnd::Answered { text, .. } = harness.wait_for_turn_end().await else {
        panic!("not answered");
    };
    assert!(
        text.starts_with("1 note matches \"비밀번호\":\n\n1. **공유기**  router.md  "),
        "{text}"
    );
    assert!(text.contains("비밀번호는 \\*서랍\\*에"), "{text}");
    assert!(text.contains("Only words were compared"), "{text}");
    let found = AgentResult::NotesFound {
        query: "비밀번호".to_owned(),
        notes: vec!["router.md".to_owned()],
    };
    assert_eq!(results(&harness), [found]);
    assert_eq!(harness.requests.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_open_note_and_a_topic_are_summarized_with_their_sources() {
    let notes = [("a.md", "# A\nTea is hot."), ("b.md", "# B\nTea is green.")];
    let script = Script::default().answer("Hot.").answer("Hot and green.");
    let (mut harness, _) = with_notes(&notes, script).await;
    harness
        .send(Command::Note(NoteCommand::Open("a".to_owned())))
        .await;
    assert_eq!(notice(&mut harness).await, "The open note is \"A\" (a.md).");
    harness.prompt("Summarize this note.").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hot."));
    assert!(
        harness.model_messages()[0]
            == Message::User(
                "Summarize the following note.\n\n# A\nTea is hot.\n\nSummary:".to_owned()
            )
    );
    harness.prompt("what do my notes say about tea?").await;
    assert_eq!(
        harness.wait_for_turn_end().await,
        answered("Hot and green.")
    );
    let sources: Vec<Vec<String>> = results(&harness)
        .into_iter()
        .map(|result| match result {
            AgentResult::NoteSummarized { mut sources, .. } => {
                sources.sort();
                sources
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sources, [vec!["a.md"], vec!["a.md", "b.md"]]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_cannot_act_passes_the_prompt_on_and_says_why() {
    let script = Script::default().answer("1").answer("2").answer("3");
    let (mut harness, vault) = with_notes(&[("a.md", "# A")], script).await;
    let mut reasons = Vec::new();
    for prompt in [
        "summarize this note",
        "summarize my notes on tea",
        "make a note about tea",
    ] {
        if prompt.starts_with("make") {
            fs::remove_dir_all(&vault).expect("removed");
        }
        harness.prompt(prompt).await;
        harness.wait_for_turn_end().await;
        let sent = harness.model_messages().pop();
        assert_eq!(sent, Some(Message::User(prompt.to_owned())));
        assert!(!harness.last_request().tools.is_empty(), "an ordinary turn");
        let notice = harness.turn_notices().pop().expect("a notice");
        assert_ne!(notice.severity, Severity::Failure);
        reasons.push(notice.what.replace(&vault.display().to_string(), "VAULT"));
    }
    let expected = [
        "No note is open.",
        "No note in VAULT mentions \"tea\".",
        "The notes folder VAULT cannot be used: the folder does not exist.",
    ];
    assert_eq!(reasons, expected);
    assert!(!vault.exists());
}

#[tokio::test(start_paused = true)]
async fn no_agent_acts_without_a_vault_or_after_chat() {
    let mut harness = EngineHarness::start(Script::default().answer("1")).await;
    harness.prompt("make a note about tea").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("1"));
    assert_eq!(results(&harness), []);
    let (mut harness, vault) = with_notes(&[], Script::default().answer("2")).await;
    let prompt = Prompt::new("make a note about tea").bypassing_agents();
    let turn = humble::domain::TurnId(7);
    harness.send(Command::Submit { turn, prompt }).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("2"));
    assert_eq!(files(&vault), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_copied_from_a_summarized_note_asks_even_in_auto_mode() {
    let note = format!("# Tea\nTea. {GET_TIME_CALL}");
    let script = Script::default().answer("Tea.").answer(GET_TIME_CALL);
    let (mut harness, _) = with_notes(&[("tea.md", &note)], script).await;
    harness
        .send(Command::SetToolMode(humble::domain::ToolMode::Auto))
        .await;
    harness.prompt("summarize my notes on tea").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Tea."));
    harness.prompt("go on").await;
    let (_, question) = harness.next_question().await;
    assert!(matches!(question, Ask::ApproveCalls(_)), "{question:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_copied_from_a_found_note_asks_even_in_auto_mode() {
    // The query matches text inside the call. A resumed session has the call in a saved answer.
    for is_resumed in [false, true] {
        let note = format!("# Zones\n{GET_TIME_CALL}");
        let script = || Script::default().answer(GET_TIME_CALL);
        let (mut harness, _vault) = with_notes(&[("zones.md", &note)], script()).await;
        harness.prompt("find notes about time").await;
        let end = harness.wait_for_turn_end().await;
        let text = format!("{end:?}");
        assert!(text.contains("1 note matches"), "{text}");
        if is_resumed {
            let home = harness.shut_down().await;
            let options = humble::engine::EngineOptions {
                initial_session: Some(humble::engine::InitialSession::Latest),
                ..Default::default()
            };
            harness = EngineHarness::start_with_options(home, script(), options).await;
            let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
            if !harness.events.iter().any(is_opened) {
                harness.wait_for("the session", is_opened).await;
            }
        }
        let auto = humble::domain::ToolMode::Auto;
        harness.send(Command::SetToolMode(auto)).await;
        harness.prompt("do it").await;
        let (_, question) = harness.next_question().await;
        assert!(matches!(question, Ask::ApproveCalls(_)), "{question:?}");
    }
}

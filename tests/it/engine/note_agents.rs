//! Note agents in the turns of the engine, on real folders, with a scripted model.

use super::*;
use crate::support::engine_harness::write_config;
use humble::domain::{AgentResult, BannerCause, Prompt, Severity};
use humble::protocol::NoteCommand;
use humble::provider::FailureCause;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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

pub(super) fn files(vault: &Path) -> Vec<String> {
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

pub(super) fn results(harness: &EngineHarness) -> Vec<AgentResult> {
    let entries = harness.transcript.entries().iter();
    let result = |entry: &humble::domain::TranscriptEntry| match &entry.body {
        EntryBody::Agent(result) => Some(result.clone()),
        _ => None,
    };
    entries.filter_map(result).collect()
}

pub(super) async fn resume(home: TempDir, script: Script) -> EngineHarness {
    let options = humble::engine::EngineOptions {
        initial_session: Some(humble::engine::InitialSession::Latest),
        ..Default::default()
    };
    let mut harness = EngineHarness::start_with_options(home, script, options).await;
    let is_opened = |event: &Event| matches!(event, Event::SessionOpened(_));
    if !harness.events.iter().any(is_opened) {
        harness.wait_for("the session", is_opened).await;
    }
    harness
}

/// Waits for a notice outside a turn, and skips the one about reading the notes. Leaves the reason
/// out.
pub(super) async fn notice(harness: &mut EngineHarness) -> String {
    let is_notice = |event: &Event| match event {
        Event::NoticePosted(notice) => notice.what != "Reading the notes…",
        _ => false,
    };
    match harness.wait_for("a notice", is_notice).await {
        Event::NoticePosted(notice) => notice.what,
        _ => unreachable!(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_note_search_without_hits_goes_to_the_model() {
    let script = Script::default().answer("No idea.");
    let (mut harness, _vault) = with_notes(&[("a.md", "# A")], script).await;
    harness.prompt("find notes about dragons").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("No idea."));
    let sent = harness.model_messages().pop();
    assert_eq!(
        sent,
        Some(Message::User("find notes about dragons".to_owned()))
    );
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(notice.what, "No note matches \"dragons\".");
    assert_eq!(notice.advice, [humble::domain::Advice::BypassNotes]);
}

#[tokio::test(start_paused = true)]
async fn a_remark_about_notes_is_shown_once_in_each_conversation() {
    let (mut harness, _vault) = with_notes(&[("a.md", "# Tea")], Script::default()).await;
    let mut remarks = Vec::new();
    for is_new in [false, false, true] {
        if is_new {
            harness.send(Command::NewSession).await;
        }
        harness.prompt("find notes about tea").await;
        harness.wait_for_turn_end().await;
        let mut result = results(&harness).pop().expect("a result");
        remarks.push(result.remarks_mut().map(|remarks| remarks.len()));
    }
    assert_eq!(remarks, [Some(1), Some(0), Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_remark_of_a_search_without_hits_is_not_shown_again() {
    let script = Script::default().answer("No idea.").answer("None.");
    let (mut harness, _vault) = with_notes(&[("a.md", "# Tea")], script).await;
    harness.prompt("find notes about dragons").await;
    harness.wait_for_turn_end().await;
    let notice = harness.turn_notices().pop().expect("a notice");
    assert!(notice.why.is_some_and(|why| why.starts_with("Only words")));
    harness.prompt("find notes about tea").await;
    harness.wait_for_turn_end().await;
    let mut result = results(&harness).pop().expect("a result");
    assert_eq!(result.remarks_mut().map(|remarks| remarks.len()), Some(0));
    harness.prompt("find notes about knights").await;
    harness.wait_for_turn_end().await;
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(
        (notice.what.as_str(), notice.why),
        ("No note matches \"knights\".", None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_to_summarize_a_deleted_open_note_names_the_note() {
    let script = Script::default().answer("Which one?");
    let (mut harness, vault) = with_notes(&[("a.md", "# A\nTea.")], script).await;
    let open = NoteCommand::Open("a".to_owned());
    harness.send(Command::Note(open)).await;
    notice(&mut harness).await;
    fs::remove_file(vault.join("a.md")).expect("removed");
    harness.prompt("summarize this note").await;
    harness.wait_for_turn_end().await;
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(notice.what, "The open note a.md could not be summarized.");
    let why = notice.why.expect("a reason");
    assert!(
        why.ends_with("cannot be read: there is no such note."),
        "{why}"
    );
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
async fn found_notes_are_the_answer_and_no_request_is_sent() {
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
    let remark = "Only words were compared: no `notes.embedModel` is configured.";
    let found = AgentResult::NotesFound {
        query: "비밀번호".to_owned(),
        notes: vec!["router.md".to_owned()],
        remarks: vec![remark.to_owned()],
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
async fn an_agent_that_cannot_act_passes_the_prompt_on_and_reports_why() {
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
        reasons.push(
            notice
                .summary()
                .replace(&vault.display().to_string(), "VAULT"),
        );
    }
    let expected = [
        "No note is open.",
        "No note in VAULT mentions \"tea\".",
        "The note was not saved. The notes folder VAULT cannot be used: the folder does not exist.",
    ];
    assert_eq!(reasons, expected);
    assert!(!vault.exists());
}

#[tokio::test(start_paused = true)]
async fn no_agent_acts_without_a_vault_or_when_bypassed() {
    let mut harness = EngineHarness::start(Script::default().answer("1")).await;
    harness.prompt("make a note about tea").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("1"));
    assert_eq!(results(&harness), []);
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(
        notice.what,
        "The notes were not used: no notes folder is configured."
    );
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
    assert_eq!(question.kind, "approve");
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
            harness = resume(home, script()).await;
        }
        let auto = humble::domain::ToolMode::Auto;
        harness.send(Command::SetToolMode(auto)).await;
        harness.prompt("do it").await;
        let (_, question) = harness.next_question().await;
        assert_eq!(question.kind, "approve");
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_vault_is_reported_once_and_used_when_it_appears() {
    let home = TempDir::new().expect("a temporary folder");
    let vault = fs::canonicalize(home.path()).expect("a path").join("vault");
    write_config(&home, &config(&vault));
    let options = humble::engine::EngineOptions {
        watch: true,
        ..Default::default()
    };
    let script = Script::default().answer("No.").answer("# Tea");
    let mut harness = EngineHarness::start_with_options(home, script, options).await;
    let causes = |banners: Vec<humble::domain::Banner>| {
        let causes = banners.into_iter().map(|banner| banner.cause);
        causes.collect::<Vec<_>>()
    };
    let missing = BannerCause::UnusableVault;
    assert!(causes(harness.current_banners().await).contains(&missing));
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(notice.summary(), "The note was not saved.");
    fs::create_dir(&vault).expect("created");
    let is_gone = |event: &Event| {
        matches!(event, Event::BannersChanged(banners)
            if banners.iter().all(|banner| banner.cause != BannerCause::UnusableVault))
    };
    harness.wait_for("the banner's end", is_gone).await;
    harness.prompt("make a note about tea").await;
    harness.wait_for_turn_end().await;
    assert_eq!(files(&vault), ["tea.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_named_file_is_summarized_only_if_it_is_a_note() {
    let script = Script::default().answer("Tea is hot.").answer("No idea.");
    let (mut harness, vault) = with_notes(&[], script).await;
    fs::create_dir(vault.join("drinks")).expect("created");
    fs::write(vault.join("drinks/tea.md"), "# Tea\nHot.").expect("written");
    harness.prompt("summarize tea.md").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Tea is hot."));
    let summarized = results(&harness).pop().expect("a result");
    assert_eq!(summarized.summary(), "note summarized  drinks/tea.md");
    harness.prompt("summarize plan.md").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("No idea."));
    let sent = harness.model_messages().pop();
    assert_eq!(sent, Some(Message::User("summarize plan.md".to_owned())));
    let notice = harness.turn_notices().pop().expect("a notice");
    assert_eq!(notice.what, "No note is called plan.md.");
    let failed = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::AgentFailed(_)));
    assert!(!harness.events.iter().any(failed));
}

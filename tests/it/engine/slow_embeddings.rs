//! Turns and commands that wait for an embedding model on a server that accepts requests and never
//! answers.

use super::note_agents::{notice, results};
use super::*;
use crate::support::engine_harness::write_config;
use humble::protocol::NoteCommand;
use std::fs;
use std::net::TcpListener;
use tempfile::TempDir;

async fn with_hanging_model(script: Script) -> (EngineHarness, TcpListener) {
    let home = TempDir::new().expect("a temporary folder");
    let vault = home.path().join("vault");
    fs::create_dir(&vault).expect("created");
    fs::write(vault.join("tea.md"), "# Tea\nGreen tea.").expect("written");
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", server.local_addr().expect("an address"));
    let mut config: serde_json::Value = serde_json::from_str(OLLAMA_CONFIG).expect("JSON");
    let embedder = serde_json::json!({ "name": "mini", "provider": "ollama", "baseUrl": url });
    config["models"]
        .as_array_mut()
        .expect("models")
        .push(embedder);
    config["notes"] = serde_json::json!({ "vault": vault, "embedModel": "mini" });
    write_config(&home, &config.to_string());
    (EngineHarness::start_in(home, script).await, server)
}

async fn wait_for_embedding(harness: &mut EngineHarness) {
    let is_waiting = |event: &Event| match event {
        Event::Turn(_, TurnEvent::AgentWorking { text }) => text.contains("embedding model mini"),
        _ => false,
    };
    harness.wait_for("progress", is_waiting).await;
}

const SLOW_MODEL_REMARK: &str = "The embedding model `mini` has not answered yet; until it does, \
                                 notes are found by their words.";

#[tokio::test(start_paused = true)]
async fn a_waiting_search_names_the_embedding_model_and_can_be_stopped() {
    let (mut harness, _server) = with_hanging_model(Script::default()).await;
    harness.prompt("find notes about tea").await;
    wait_for_embedding(&mut harness).await;
    let activity = harness.transcript.agent_activity();
    assert_eq!(activity, Some("Waiting for the embedding model mini"));
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    assert_eq!(harness.transcript.agent_activity(), None);
}

#[tokio::test(start_paused = true)]
async fn a_search_falls_back_to_words_and_reports_it_once() {
    let (mut harness, _server) = with_hanging_model(Script::default()).await;
    let mut remarks = Vec::new();
    for _ in 0..2 {
        harness.prompt("find notes about tea").await;
        let end = harness.wait_for_turn_end().await;
        assert!(matches!(end, TurnEnd::Answered { .. }), "{end:?}");
        let mut result = results(&harness).pop().expect("a result");
        remarks.push(result.remarks_mut().cloned().expect("a search"));
    }
    assert_eq!(remarks, [vec![SLOW_MODEL_REMARK.to_owned()], vec![]]);
}

#[tokio::test(start_paused = true)]
async fn consulting_notes_reports_the_reading_at_once_and_then_the_slow_model() {
    let (mut harness, _server) = with_hanging_model(Script::default()).await;
    let start = tokio::time::Instant::now();
    let consult = Command::Note(NoteCommand::Consult(true));
    harness.send(consult).await;
    let is_reading = |event: &Event| match event {
        Event::NoticePosted(notice) => notice.what == "Reading the notes…",
        _ => false,
    };
    harness.wait_for("the first notice", is_reading).await;
    let what = notice(&mut harness).await;
    assert!(
        what.starts_with("Excerpts of notes that match a prompt"),
        "{what}"
    );
    let waited = start.elapsed().as_secs();
    assert!(waited <= 4, "{waited} s");
    let Some(Event::NoticePosted(notice)) = harness.events.last() else {
        panic!("no notice");
    };
    assert_eq!(notice.why.as_deref(), Some(SLOW_MODEL_REMARK));
}

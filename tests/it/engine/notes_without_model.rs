//! Requests for notes while no model is selected, and with a model whose context is small.

use super::note_agents::{files, results};
use super::*;
use crate::support::engine_harness::write_config;
use humble::domain::AgentResult;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

async fn with_models(
    models: serde_json::Value,
    notes: &[(&str, &str)],
    script: Script,
) -> (EngineHarness, PathBuf) {
    let home = TempDir::new().expect("a temporary folder");
    let vault = fs::canonicalize(home.path()).expect("a path").join("vault");
    fs::create_dir(&vault).expect("created");
    for (name, text) in notes {
        fs::write(vault.join(name), text).expect("written");
    }
    let config = serde_json::json!({ "models": models, "notes": { "vault": vault } });
    write_config(&home, &config.to_string());
    (EngineHarness::start_in(home, script).await, vault)
}

async fn without_model(notes: &[(&str, &str)]) -> (EngineHarness, PathBuf) {
    with_models(serde_json::json!([]), notes, Script::default()).await
}

#[tokio::test(start_paused = true)]
async fn a_search_of_notes_is_answered_without_a_model() {
    let (mut harness, _) = without_model(&[("tea.md", "# Tea\nGreen tea.")]).await;
    for prompt in [
        "find notes about tea",
        "tea 노트 찾아줘",
        "find notes about tea",
    ] {
        harness.prompt(prompt).await;
        let TurnEnd::Answered { text, .. } = harness.wait_for_turn_end().await else {
            panic!("not answered: {prompt}");
        };
        assert!(text.starts_with("1 note matches "), "{text}");
    }
    assert_eq!(results(&harness).len(), 3);
    assert_eq!(harness.requests.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_model_says_that_none_is_configured() {
    let (mut harness, vault) = without_model(&[("tea.md", "# Tea\nGreen tea.")]).await;
    for prompt in [
        "find notes about dragons",
        "make a note about tea",
        "summarize my notes on tea",
        "What is tea?",
    ] {
        harness.prompt(prompt).await;
        let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
            panic!("the turn did not fail: {prompt}");
        };
        assert_eq!(notice.what, "No active model is configured.", "{prompt}");
    }
    let notices = harness.turn_notices().into_iter();
    let notices: Vec<String> = notices.map(|notice| notice.what).collect();
    assert!(
        notices.contains(&"No note matches \"dragons\".".to_owned()),
        "{notices:?}"
    );
    assert_eq!(files(&vault), ["tea.md"]);
    harness.prompt("find notes about tea").await;
    let end = harness.wait_for_turn_end().await;
    assert!(matches!(end, TurnEnd::Answered { .. }), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_of_a_topic_has_as_many_chunks_as_the_context_holds() {
    let text = format!("# 관측\n\n{}", "관측 장비를 꼼꼼히 점검한다. ".repeat(110));
    let names: Vec<String> = (0..8).map(|number| format!("{number}.md")).collect();
    let notes: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
    let model = serde_json::json!({
        "name": "m", "provider": "ollama", "active": true, "contextLength": 8192,
    });
    let script = Script::default().answer("점검한다.");
    let models = serde_json::json!([model]);
    let (mut harness, _) = with_models(models, &notes, script).await;
    harness.prompt("what do my notes say about 관측?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("점검한다."));
    let Some(Message::User(prompt)) = harness.model_messages().pop() else {
        panic!("no prompt");
    };
    let chunks = prompt.matches("\n# 관측").count();
    assert_eq!(chunks, 5);
    let Some(AgentResult::NoteSummarized {
        sources, remarks, ..
    }) = results(&harness).pop()
    else {
        panic!("no summary");
    };
    assert_eq!(sources.len(), chunks);
    let remark = "Only parts of the notes were summarized, to fit the model's context.";
    assert!(remarks.contains(&remark.to_owned()), "{remarks:?}");
}

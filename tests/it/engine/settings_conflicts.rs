//! Edits from outside against what the person chose, asked and declined meanwhile.

use super::settings_reload::with;
use super::*;
use crate::engine::notice::said;
use humble::domain::Think;
use humble::engine::EngineOptions;
use humble::protocol::Meter;
use std::fs;
use tempfile::TempDir;

fn auto_and(extra: &Value) -> String {
    let mut both = json!({ "toolCallMode": "auto" });
    let extra = extra.as_object().expect("an object").clone();
    both.as_object_mut().expect("an object").extend(extra);
    with(&both)
}

fn asked(bench: &Bench) -> usize {
    let asked = |event: &&Event| matches!(event, Event::Asked { .. });
    bench.events.iter().filter(asked).count()
}

#[tokio::test(start_paused = true)]
async fn what_was_declined_is_not_asked_again_for_what_else_is_edited() {
    let home = TempDir::new().expect("a scratch folder");
    fs::write(home.path().join("config.json"), CONFIG).expect("written");
    let options = EngineOptions {
        watch: true,
        ..EngineOptions::default()
    };
    let mut bench = Bench::opened(home, Script::default(), options).await;
    let path = bench.home.path().join("config.json");
    fs::write(&path, auto_and(&json!({}))).expect("written");
    let (ask, _) = bench.asked_of_edit().await;
    bench.answers(ask, Answer::Dismissed).await;
    fs::write(&path, auto_and(&json!({ "logLevel": "error" }))).expect("written");
    bench.noticed("config.json: logLevel is error now.").await;
    let banner = "config.json has changes that are not in force before the next start: [Reload]";
    assert_eq!(bench.waiting().await, [banner]);
    assert_eq!(asked(&bench), 1);
    // Another change of the same kind is another question.
    let other = json!({ "limits": { "toolRounds": 999 } });
    fs::write(&path, auto_and(&other)).expect("written");
    let (_, changes) = bench.asked_of_edit().await;
    assert_eq!(changes.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_edited_while_a_question_is_open_is_not_undone_by_its_answer() {
    let mut bench = Bench::start(Script::default()).await;
    bench.edits("config.json", &auto_and(&json!({}))).await;
    let (ask, _) = bench.asked_of_edit().await;
    let both = auto_and(&json!({ "logLevel": "error" }));
    bench.edits("config.json", &both).await;
    bench.noticed("logLevel is error now").await;
    bench.chooses(ask, Choice::TakeChanges).await;
    bench.noticed("The change is in force now.").await;
    bench.send(Command::Reload).await;
    bench.noticed("nothing changes").await;
    let told = bench.events.iter().filter(
        |event| matches!(event, Event::Noticed(notice) if said(notice).contains("logLevel")),
    );
    assert_eq!(told.count(), 1);
    assert_eq!(asked(&bench), 1);
}

#[tokio::test(start_paused = true)]
async fn the_command_lines_mode_holds_although_the_files_was_taken() {
    let home = TempDir::new().expect("a scratch folder");
    fs::write(home.path().join("config.json"), CONFIG).expect("written");
    let options = EngineOptions {
        tool_mode: Some(ToolMode::Manual),
        ..EngineOptions::default()
    };
    let script = Script::default().answer(GET_TIME);
    let mut bench = Bench::opened(home, script, options).await;
    bench.edits("config.json", &auto_and(&json!({}))).await;
    let (ask, _) = bench.asked_of_edit().await;
    bench.chooses(ask, Choice::TakeChanges).await;
    bench.noticed("in force now").await;
    bench.says("Time?").await;
    let (_, calls) = bench.asked_to_approve().await;
    assert_eq!(calls.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn thinking_that_was_chosen_for_this_run_outlives_an_edit_of_its_model() {
    let mut bench = Bench::start(Script::default().answer("ok")).await;
    bench.send(Command::SetThink(Think::High)).await;
    let config = CONFIG.replace("\"active\"", "\"contextLength\": 9999, \"active\"");
    bench.edits("config.json", &config).await;
    bench.noticed("contextLength").await;
    bench.says("?").await;
    bench.ended().await;
    let model = bench.last_request().model;
    let expected = (Some(Think::High), Some(9_999));
    assert_eq!((model.think, model.context_length), expected);
}

#[tokio::test(start_paused = true)]
async fn at_another_address_nothing_of_the_context_holds_any_more() {
    let mut bench = Bench::start(Script::default().answer("ok")).await;
    bench.says("?").await;
    bench.ended().await;
    let url = "\"baseUrl\": \"http://box:1\", \"active\"";
    let config = CONFIG.replace("\"active\"", url);
    bench.edits("config.json", &config).await;
    let (ask, _) = bench.asked_of_edit().await;
    bench.chooses(ask, Choice::TakeChanges).await;
    let empty = |event: &Event| *event == Event::ContextMeasured(Meter::default());
    bench.until("an empty meter", empty).await;
}

//! A conversation that cannot be saved for a reason of its own: the other conversations are still
//! saved, and it is not forgotten.

use super::disk_faults::{replace_folder_with_file, unsaved_session_banner, wait_for_copy};
use super::journal::journals;
use super::*;
use humble::domain::Advice;
use std::fs;
use std::os::unix::fs::symlink;

/// Saves a conversation, replaces its file with a link into a missing folder, and renames the
/// conversation to `Trip`, which cannot be saved.
async fn leave_title_unsaved(harness: &mut EngineHarness) {
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let file = session_files(&harness.home).remove(0);
    fs::remove_file(&file).expect("removed");
    symlink(harness.home.path().join("missing/first.json"), &file).expect("linked");
    harness.send(Command::RenameSession("Trip".into())).await;
    harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    harness.send(Command::NewSession).await;
}

/// The first answers of the conversations in the folder.
fn saved_answers(home: &TempDir) -> Vec<Value> {
    let files = session_files(home).into_iter().filter(|path| path.exists());
    files
        .map(|path| read_json(&path)["messages"][1]["content"].take())
        .collect()
}

async fn wait_for_end(harness: &mut EngineHarness) {
    harness
        .wait_for("the end", |event| *event == Event::ShutDown)
        .await;
}

#[tokio::test(start_paused = true)]
async fn other_conversations_are_saved_and_the_banner_stays() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    leave_title_unsaved(&mut harness).await;
    harness.prompt("second").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    assert_eq!(saved_answers(&harness.home), ["two"]);
    let folder = harness.home.path().join("missing");
    fs::create_dir(&folder).expect("created");
    let is_saved_again = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what == "The conversation is saved again.");
    harness.wait_for("the notice", is_saved_again).await;
    let file = read_json(&folder.join("first.json"));
    assert_eq!(file["humble"]["title"], "Trip");
    let is_cleared =
        |event: &&Event| matches!(event, Event::BannersChanged(banners) if banners.is_empty());
    let cleared_count = harness.events.iter().filter(is_cleared).count();
    assert_eq!(cleared_count, 1);
}

#[tokio::test(start_paused = true)]
async fn exit_saves_the_other_conversations_and_rescues_the_unsavable_one() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    leave_title_unsaved(&mut harness).await;
    let sessions = harness.home.path().join("sessions");
    let moved_away = harness.home.path().join("moved");
    fs::rename(&sessions, &moved_away).expect("moved");
    replace_folder_with_file(&harness.home, "sessions");
    harness.prompt("second").await;
    harness.wait_for_turn_end().await;
    let has_failed = |event: &Event| {
        let banner = unsaved_session_banner(event);
        banner.is_some_and(|banner| {
            let advice = banner.notice.advice.first();
            matches!(advice, Some(Advice::Sentence(advice)) if advice.starts_with("Move the file"))
        })
    };
    harness.wait_for("a banner", has_failed).await;
    fs::remove_file(&sessions).expect("removed");
    fs::rename(&moved_away, &sessions).expect("moved back");
    harness.send(Command::Shutdown).await;
    let copy = wait_for_copy(&mut harness).await;
    assert_eq!(read_json(&copy)["humble"]["title"], "Trip");
    fs::remove_file(copy).expect("removed");
    wait_for_end(&mut harness).await;
    assert_eq!(saved_answers(&harness.home), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn unsaved_conversation_is_rescued_although_another_one_is_in_the_journal() {
    let script = Script::default()
        .answer("one")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    leave_title_unsaved(&mut harness).await;
    harness.prompt("second").await;
    let is_partial_answer = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { text, .. }) if text.starts_with("Half"));
    harness.wait_for("text", is_partial_answer).await;
    harness.send(Command::ShutdownKeepingTurn).await;
    let copy = wait_for_copy(&mut harness).await;
    assert_eq!(read_json(&copy)["humble"]["title"], "Trip");
    fs::remove_file(copy).expect("removed");
    wait_for_end(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn answer_in_the_journal_of_an_earlier_conversation_is_recovered_at_the_next_start() {
    let script = Script::default()
        .answer("one")
        .round([ScriptStep::text("Half a sen"), ScriptStep::Hang]);
    let mut harness = EngineHarness::start(script).await;
    replace_folder_with_file(&harness.home, "sessions");
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    harness.send(Command::NewSession).await;
    harness.prompt("second").await;
    let is_partial_answer = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Delta { text, .. }) if text.starts_with("Half"));
    harness.wait_for("text", is_partial_answer).await;
    harness.send(Command::ShutdownKeepingTurn).await;
    wait_for_end(&mut harness).await;
    assert_eq!(journals(&harness.home).len(), 2);
    fs::remove_file(harness.home.path().join("sessions")).expect("removed");
    let home = EngineHarness::start_in(harness.home, Script::default())
        .await
        .shut_down()
        .await;
    assert_eq!(saved_answers(&home), ["one"]);
}

//! Failing disks: the failure is reported, and the conversation continues and is saved as soon as
//! possible. If it is neither saved nor in the journal when the program exits, a copy goes to
//! another folder and a notice names it.

use super::journal::journals;
use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::{Advice, BannerCause, SessionId};
use humble::protocol::{SavedSessionCommand, SavedSessionEvent};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Replaces the folder with a file, so that not even root can create files in it.
pub fn replace_folder_with_file(home: &TempDir, folder: &str) {
    let path = home.path().join(folder);
    let _ = fs::remove_dir_all(&path);
    fs::write(path, "").expect("written");
}

pub fn unsaved_session_banner(event: &Event) -> Option<&humble::domain::Banner> {
    match event {
        Event::BannersChanged(banners) => banners
            .iter()
            .find(|banner| banner.cause == BannerCause::UnsavedSession),
        _ => None,
    }
}

/// Waits for the notice that an unsaved conversation was copied elsewhere, and returns the copy.
pub async fn wait_for_copy(harness: &mut EngineHarness) -> PathBuf {
    let path_of_copy = |event: &Event| match event {
        Event::NoticePosted(notice) => notice.advice.first().and_then(|advice| {
            let Advice::Sentence(advice) = advice else {
                return None;
            };
            let path = advice.strip_prefix("A copy is in ")?;
            path.strip_suffix(": move it to a safe place.")
                .map(PathBuf::from)
        }),
        _ => None,
    };
    let event = harness
        .wait_for("the notice", |event| path_of_copy(event).is_some())
        .await;
    path_of_copy(&event).expect("just seen")
}

#[tokio::test(start_paused = true)]
async fn failed_writes_are_reported_and_retried_until_they_succeed() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    replace_folder_with_file(&harness.home, "sessions");
    harness.prompt("first").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("one"));
    let event = harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    let notice = &unsaved_session_banner(&event).expect("just seen").notice;
    assert!(notice.what.starts_with("Not saved: "), "{notice:?}");
    assert!(!notice.advice.is_empty());
    harness.prompt("second").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("two"));
    assert_eq!(
        harness.model_messages().len(),
        3,
        "the conversation continues"
    );
    fs::remove_file(harness.home.path().join("sessions")).expect("removed");
    harness.wait_for_save().await;
    let is_cleared =
        |event: &Event| matches!(event, Event::BannersChanged(banners) if banners.is_empty());
    harness.wait_for("no banner", is_cleared).await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
    assert!(journals(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn unwritable_home_is_reported_until_a_save_succeeds() {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    replace_folder_with_file(&home, "sessions");
    let folder = home.path().join("sessions");
    let mut harness = EngineHarness::start_in(home, Script::default().answer("one")).await;
    let banner_text = harness.events.iter().find_map(|event| match event {
        Event::BannersChanged(banners) => Some(notice_text(&banners[0].notice)),
        _ => None,
    });
    let folder = folder.display();
    let expected = format!(
        "The folder {folder} is not writable: part of the path is a file, not a folder. \
         Conversations and settings are not saved. Move that file away, or name \
         another folder with --home."
    );
    assert_eq!(banner_text, Some(expected));
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    let event = harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    let notice = &unsaved_session_banner(&event).expect("just seen").notice;
    let expected = format!("Move the file {folder}: a folder is needed there.");
    assert_eq!(notice.advice, [Advice::from(expected)]);
    fs::remove_file(harness.home.path().join("sessions")).expect("removed");
    harness.wait_for_save().await;
    let is_cleared =
        |event: &Event| matches!(event, Event::BannersChanged(banners) if banners.is_empty());
    harness.wait_for("no banner", is_cleared).await;
}

#[tokio::test(start_paused = true)]
async fn unsaved_turn_is_recovered_from_the_journal_at_the_next_start() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    replace_folder_with_file(&harness.home, "sessions");
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    let home = harness.shut_down().await;
    assert_eq!(journals(&home).len(), 1);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    assert!(journals(&home).is_empty());
    assert_eq!(
        read_json(&session_files(&home)[0])["messages"][1]["content"],
        "one"
    );
}

#[tokio::test(start_paused = true)]
async fn unwritable_home_leaves_a_copy_elsewhere_and_names_it() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    replace_folder_with_file(&harness.home, "sessions");
    replace_folder_with_file(&harness.home, "journal");
    harness.prompt("first").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("one"));
    harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    harness.send(Command::Shutdown).await;
    let path = wait_for_copy(&mut harness).await;
    assert_eq!(read_json(&path)["messages"][1]["content"], "one");
    fs::remove_file(path).expect("removed");
}

#[tokio::test(start_paused = true)]
async fn a_home_removed_during_a_run_is_created_again() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    fs::remove_dir_all(harness.home.path()).expect("removed");
    harness.prompt("second").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("two"));
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn corrupted_file_is_kept_and_the_conversation_continues_in_a_new_one() {
    let mut harness = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let corrupted = session_files(&harness.home).remove(0);
    fs::write(&corrupted, "{ cut in ha").expect("written");
    harness.prompt("second").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    assert_eq!(
        fs::read_to_string(&corrupted).expect("a file"),
        "{ cut in ha"
    );
    let new_file = session_files(&home)
        .into_iter()
        .find(|path| *path != corrupted);
    let file = read_json(&new_file.expect("a new session file"));
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn quitting_retries_failed_writes_at_once() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    replace_folder_with_file(&harness.home, "sessions");
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness
        .wait_for("a banner", |event| unsaved_session_banner(event).is_some())
        .await;
    fs::remove_file(harness.home.path().join("sessions")).expect("removed");
    let home = harness.shut_down().await;
    assert_eq!(
        read_json(&session_files(&home)[0])["messages"][1]["content"],
        "one"
    );
    assert!(journals(&home).is_empty());
}

async fn notice_after(harness: &mut EngineHarness, command: Command) -> String {
    harness.events.clear();
    harness.send(command).await;
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(_));
    match harness.wait_for("a notice", is_notice).await {
        Event::NoticePosted(notice) => notice_text(&notice),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_title_is_confirmed_only_once_it_is_saved() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let sessions = harness.home.path().join("sessions");
    let moved_away = harness.home.path().join("moved");
    fs::rename(&sessions, &moved_away).expect("moved");
    fs::write(&sessions, "").expect("written");
    let notice = notice_after(&mut harness, Command::RenameSession("Trip".into())).await;
    assert!(
        notice.starts_with("The new title is not saved: "),
        "{notice}"
    );
    let is_confirmed = |event: &Event| {
        matches!(
            event,
            Event::SavedSession(SavedSessionEvent::Renamed { .. })
        )
    };
    assert!(!harness.events.iter().any(is_confirmed));
    fs::remove_file(&sessions).expect("removed");
    fs::rename(&moved_away, &sessions).expect("moved back");
    harness
        .send(Command::RenameSession("Trip to Busan".into()))
        .await;
    harness.wait_for("the confirmation", is_confirmed).await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["humble"]["title"], "Trip to Busan");
}

#[tokio::test(start_paused = true)]
async fn each_action_on_a_saved_session_reports_its_own_failure() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    harness.prompt("first").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
    let file = session_files(&harness.home).remove(0);
    let name = file.file_name().expect("a name").to_string_lossy();
    let session = SessionId::new(name.clone());
    harness.send(Command::NewSession).await;
    replace_folder_with_file(&harness.home, "trash");
    let notice = notice_after(&mut harness, Command::DeleteSession(session.clone())).await;
    assert!(notice.starts_with("Not deleted: "), "{notice}");
    assert!(file.exists());
    replace_folder_with_file(&harness.home, "sessions");
    let title = "Trip".to_owned();
    let command = SavedSessionCommand::Rename { session, title };
    let notice = notice_after(&mut harness, Command::SavedSession(command)).await;
    assert!(notice.starts_with("Not renamed: "), "{notice}");
}

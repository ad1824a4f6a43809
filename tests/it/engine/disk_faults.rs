//! Disks that refuse: it is said, the conversation goes on, and it is saved as soon
//! as that can be. What cannot be saved at all is put somewhere, and that is said.

use super::journal::journals;
use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::{Advice, BannerCause};
use std::fs;
use tempfile::TempDir;

/// A file stands where the folder should be: nobody can write there, not even the
/// superuser.
fn block(home: &TempDir, folder: &str) {
    let path = home.path().join(folder);
    let _ = fs::remove_dir_all(&path);
    fs::write(path, "").expect("written");
}

fn banner(event: &Event) -> Option<&humble::domain::Banner> {
    match event {
        Event::BannersChanged(banners) => banners
            .iter()
            .find(|one| one.cause == BannerCause::UnsavedSession),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn failed_writes_are_reported_and_retried_until_they_succeed() {
    let mut bench = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    block(&bench.home, "sessions");
    bench.prompt("first").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("one"));
    let event = bench
        .wait_for("a banner", |event| banner(event).is_some())
        .await;
    let notice = &banner(&event).expect("just seen").notice;
    assert!(notice.what.starts_with("Not saved: "), "{notice:?}");
    assert!(!notice.advice.is_empty());
    bench.prompt("second").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("two"));
    assert_eq!(bench.model_messages().len(), 3, "the conversation goes on");
    fs::remove_file(bench.home.path().join("sessions")).expect("removed");
    bench.wait_for_save().await;
    let gone = |event: &Event| matches!(event, Event::BannersChanged(all) if all.is_empty());
    bench.wait_for("no banner", gone).await;
    let home = bench.shut_down().await;
    let file = read(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
    assert!(journals(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_home_that_could_not_be_written_says_so_until_a_save_succeeds() {
    let home = TempDir::new().expect("a scratch folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    block(&home, "sessions");
    let folder = home.path().join("sessions");
    let mut bench = EngineHarness::start_in(home, Script::default().answer("one")).await;
    let told = bench.events.iter().find_map(|event| match event {
        Event::BannersChanged(banners) => Some(notice_text(&banners[0].notice)),
        _ => None,
    });
    let folder = folder.display();
    let expected = format!(
        "The folder {folder} cannot be written: it, or a part of its path, is a file. \
         Conversations and settings are not saved until it can. Move that file away, or name \
         another folder with --home."
    );
    assert_eq!(told, Some(expected));
    bench.prompt("first").await;
    bench.wait_for_turn_end().await;
    let event = bench
        .wait_for("a banner", |event| banner(event).is_some())
        .await;
    let notice = &banner(&event).expect("just seen").notice;
    let expected = format!("Move the file {folder} away: a folder belongs there.");
    assert_eq!(notice.advice, [Advice::from(expected)]);
    fs::remove_file(bench.home.path().join("sessions")).expect("removed");
    bench.wait_for_save().await;
    let gone = |event: &Event| matches!(event, Event::BannersChanged(all) if all.is_empty());
    bench.wait_for("no banner", gone).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_saved_at_the_end_is_in_the_journal_and_saved_at_the_next_start() {
    let mut bench = EngineHarness::start(Script::default().answer("one")).await;
    block(&bench.home, "sessions");
    bench.prompt("first").await;
    bench.wait_for_turn_end().await;
    bench
        .wait_for("a banner", |event| banner(event).is_some())
        .await;
    let home = bench.shut_down().await;
    assert_eq!(journals(&home).len(), 1);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    let home = EngineHarness::start_in(home, Script::default())
        .await
        .shut_down()
        .await;
    assert!(journals(&home).is_empty());
    assert_eq!(
        read(&session_files(&home)[0])["messages"][1]["content"],
        "one"
    );
}

#[tokio::test(start_paused = true)]
async fn if_nothing_can_be_written_a_copy_is_left_elsewhere_and_named() {
    let mut bench = EngineHarness::start(Script::default().answer("one")).await;
    block(&bench.home, "sessions");
    block(&bench.home, "journal");
    bench.prompt("first").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("one"));
    bench
        .wait_for("a banner", |event| banner(event).is_some())
        .await;
    bench.send(Command::Shutdown).await;
    let told = |event: &Event| match event {
        Event::NoticePosted(notice) => notice.advice.first().and_then(|advice| {
            let Advice::Sentence(advice) = advice else {
                return None;
            };
            let path = advice.strip_prefix("All of it is in ")?;
            path.strip_suffix(": move it from there.")
                .map(str::to_owned)
        }),
        _ => None,
    };
    let event = bench
        .wait_for("the sentence", |event| told(event).is_some())
        .await;
    let path = std::path::PathBuf::from(told(&event).expect("just seen"));
    assert_eq!(read(&path)["messages"][1]["content"], "one");
    fs::remove_file(path).expect("ours");
}

#[tokio::test(start_paused = true)]
async fn a_removed_folder_is_created_again() {
    let mut bench = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    bench.prompt("first").await;
    bench.wait_for_turn_end().await;
    bench.wait_for_save().await;
    fs::remove_dir_all(bench.home.path()).expect("removed");
    bench.prompt("second").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("two"));
    bench.wait_for_save().await;
    let home = bench.shut_down().await;
    let file = read(&session_files(&home)[0]);
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_somebody_broke_is_left_alone_and_the_conversation_goes_on_beside_it() {
    let mut bench = EngineHarness::start(Script::default().answer("one").answer("two")).await;
    bench.prompt("first").await;
    bench.wait_for_turn_end().await;
    bench.wait_for_save().await;
    let broken = session_files(&bench.home).remove(0);
    fs::write(&broken, "{ cut in ha").expect("written");
    bench.prompt("second").await;
    bench.wait_for_turn_end().await;
    bench.wait_for_save().await;
    let home = bench.shut_down().await;
    assert_eq!(fs::read_to_string(&broken).expect("there"), "{ cut in ha");
    let other = session_files(&home)
        .into_iter()
        .find(|path| *path != broken);
    let file = read(&other.expect("a file of its own"));
    assert_eq!(file["messages"].as_array().map(Vec::len), Some(4));
}

#[tokio::test(start_paused = true)]
async fn quitting_retries_failed_writes_at_once() {
    let mut bench = EngineHarness::start(Script::default().answer("one")).await;
    block(&bench.home, "sessions");
    bench.prompt("first").await;
    bench.wait_for_turn_end().await;
    bench
        .wait_for("a banner", |event| banner(event).is_some())
        .await;
    fs::remove_file(bench.home.path().join("sessions")).expect("removed");
    let home = bench.shut_down().await;
    assert_eq!(
        read(&session_files(&home)[0])["messages"][1]["content"],
        "one"
    );
    assert!(journals(&home).is_empty());
}

//! The order of saves and the handling of failed ones.

use super::*;
use crate::domain::SavedMessage;
use std::fs;
use tempfile::TempDir;

const FIRST: ConversationSeq = ConversationSeq(1);
const SECOND: ConversationSeq = ConversationSeq(2);

fn writer() -> (TempDir, SessionWriter) {
    let home = TempDir::new().expect("a scratch folder");
    let sessions = SessionStore::new(home.path().join("sessions"));
    (home, SessionWriter::new(Arc::new(sessions)))
}

fn session_with(turns: usize) -> Session {
    let mut session = Session::new("m");
    for turn in 0..turns {
        let (prompt, answer) = (format!("q{turn}"), format!("a{turn}"));
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
    }
    session
}

/// Puts a file in place of the folder, so that not even root can write into it.
fn make_unwritable(home: &TempDir) {
    fs::write(home.path().join("sessions"), "").expect("written");
}

#[tokio::test(start_paused = true)]
async fn queued_saves_of_one_conversation_write_one_file_with_the_latest_state() {
    let (home, mut writer) = writer();
    writer.save(FIRST, session_with(1), SessionChoices::default());
    writer.save(FIRST, session_with(2), SessionChoices::default());
    let last = writer.save(FIRST, session_with(3), SessionChoices::default());
    let first = writer.next_saved().await;
    let id = first.result.expect("saved");
    let second = writer.next_saved().await;
    assert_eq!((second.save, second.result), (last, Ok(id.clone())));
    assert!(writer.is_idle());
    let sessions = SessionStore::new(home.path().join("sessions"));
    let files: Vec<_> = sessions.list().into_iter().map(|entry| entry.id).collect();
    assert_eq!(files, std::slice::from_ref(&id));
    let saved = sessions.open(&id).expect("there");
    assert_eq!(saved.messages, session_with(3).messages);
}

#[tokio::test(start_paused = true)]
async fn failed_save_never_overwrites_a_newer_one() {
    let (home, mut writer) = writer();
    make_unwritable(&home);
    writer.save(FIRST, session_with(1), SessionChoices::default());
    writer.save(FIRST, session_with(2), SessionChoices::default());
    assert!(writer.next_saved().await.result.is_err());
    let unsaved: Vec<_> = writer
        .into_unsaved()
        .into_iter()
        .map(|queued| queued.session.messages.clone())
        .collect();
    assert_eq!(unsaved, [session_with(2).messages]);
}

#[tokio::test(start_paused = true)]
async fn a_save_that_is_still_running_is_unsaved() {
    let (_home, mut writer) = writer();
    writer.save(FIRST, session_with(1), SessionChoices::default());
    writer.save(SECOND, session_with(1), SessionChoices::default());
    writer.save(SECOND, session_with(2), SessionChoices::default());
    let unsaved = writer.into_unsaved().into_iter();
    let unsaved: Vec<_> = unsaved
        .map(|queued| (queued.conversation, queued.session.messages.len()))
        .collect();
    assert_eq!(unsaved, [(SECOND, 4), (FIRST, 2)]);
}

#[tokio::test(start_paused = true)]
async fn failing_disk_is_retried_with_backoff() {
    let (home, mut writer) = writer();
    make_unwritable(&home);
    writer.save(FIRST, session_with(1), SessionChoices::default());
    let mut pauses = Vec::new();
    let mut last_attempt = Instant::now();
    for _ in 0..9 {
        assert!(writer.next_saved().await.result.is_err());
        pauses.push(last_attempt.elapsed().as_secs());
        last_attempt = Instant::now();
    }
    assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    assert!(writer.next_saved().await.result.is_ok());
    assert_eq!(writer.into_unsaved(), []);
}

/// A session that can never be saved, although the folder is writable.
fn unsavable_session() -> Session {
    let mut session = session_with(1);
    session.id = Some("../elsewhere.json".into());
    session
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_cannot_be_saved_does_not_delay_the_others() {
    let (_home, mut writer) = writer();
    writer.save(FIRST, unsavable_session(), SessionChoices::default());
    writer.save(SECOND, session_with(1), SessionChoices::default());
    let started_at = Instant::now();
    let first = writer.next_saved().await;
    assert_eq!((first.conversation, first.result.is_ok()), (FIRST, false));
    assert!(!writer.is_idle(), "the second save has not been attempted");
    let second = writer.next_saved().await;
    assert_eq!((second.conversation, second.result.is_ok()), (SECOND, true));
    assert!(writer.is_idle());
    assert_eq!(started_at.elapsed(), Duration::ZERO);
    writer.save(SECOND, session_with(2), SessionChoices::default());
    let third = writer.next_saved().await;
    assert_eq!((third.conversation, third.result.is_ok()), (SECOND, true));
    let retried = writer.next_saved().await;
    assert_eq!(
        (retried.conversation, retried.result.is_ok()),
        (FIRST, false)
    );
    let unsaved = writer.into_unsaved().into_iter();
    let unsaved: Vec<_> = unsaved.map(|queued| queued.conversation).collect();
    assert_eq!(unsaved, [FIRST]);
}

#[tokio::test(start_paused = true)]
async fn conversations_that_fail_together_are_retried_together() {
    let (home, mut writer) = writer();
    make_unwritable(&home);
    writer.save(FIRST, session_with(1), SessionChoices::default());
    writer.save(SECOND, session_with(2), SessionChoices::default());
    let started_at = Instant::now();
    let mut attempts = Vec::new();
    for _ in 0..6 {
        let outcome = writer.next_saved().await;
        assert!(outcome.result.is_err());
        attempts.push((outcome.conversation, started_at.elapsed().as_secs()));
    }
    let expected = [
        (FIRST, 0),
        (SECOND, 0),
        (FIRST, 1),
        (SECOND, 1),
        (FIRST, 3),
        (SECOND, 3),
    ];
    assert_eq!(attempts, expected);
    fs::remove_file(home.path().join("sessions")).expect("removed");
    assert!(writer.next_saved().await.result.is_ok());
    assert!(writer.next_saved().await.result.is_ok());
    assert_eq!(writer.into_unsaved(), []);
}

#[tokio::test(start_paused = true)]
async fn file_name_contains_the_time_of_the_first_answer_even_if_saved_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions");
    std::fs::write(&path, "in the way").unwrap();
    let mut writer = SessionWriter::new(Arc::new(SessionStore::new(path.clone())));
    let mut session = Session::new("m");
    session.messages.push(SavedMessage::user("hi"));
    writer.save(
        ConversationSeq(1),
        session.clone(),
        SessionChoices::default(),
    );
    assert!(writer.next_saved().await.result.is_err());
    let first_answer_at: Zoned = "2001-02-03T04:05:06[UTC]".parse().unwrap();
    assert!(
        writer
            .first_answer_at
            .insert(ConversationSeq(1), first_answer_at)
            .is_some()
    );
    writer.save(
        ConversationSeq(1),
        session.clone(),
        SessionChoices::default(),
    );
    assert!(writer.next_saved().await.result.is_err());
    std::fs::remove_file(path).unwrap();
    let saved = writer.next_saved().await.result;
    assert_eq!(saved, Ok("20010203_040506_hi.json".into()));
}

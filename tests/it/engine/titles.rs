//! Two programs that rename one conversation: the latest title stays, in the file and on the screen.

use super::*;
use humble::protocol::SavedSessionEvent;
use humble::store::SessionStore;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    RenameHere,
    /// To the title that it had here last.
    RenameHereAgain,
    RenameElsewhere,
    Answer,
}

async fn answer(harness: &mut EngineHarness) {
    harness.prompt("go on").await;
    harness.wait_for_turn_end().await;
    harness.wait_for_save().await;
}

/// Runs the steps and an answer, and checks the title after that.
async fn check(steps: &[Step]) {
    let script = (0..=steps.len() + 1).fold(Script::default(), |script, _| script.answer("one"));
    let mut harness = EngineHarness::start(script).await;
    answer(&mut harness).await;
    let store = SessionStore::new(harness.home.path().join("sessions"));
    let id = store.list()[0].id.clone();
    let (mut latest, mut here) = ("go on".to_owned(), "go on".to_owned());
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::RenameHere | Step::RenameHereAgain => {
                if *step == Step::RenameHere {
                    here = format!("here {number}");
                }
                latest.clone_from(&here);
                harness.send(Command::RenameSession(latest.clone())).await;
                let is_confirmed = |event: &Event| matches!(event, Event::SavedSession(SavedSessionEvent::Renamed { title, .. }) if *title == latest);
                harness.wait_for("the new title", is_confirmed).await;
            }
            Step::RenameElsewhere => {
                latest = format!("elsewhere {number}");
                store.rename(&id, &latest).expect("renamed");
            }
            Step::Answer => answer(&mut harness).await,
        }
    }
    answer(&mut harness).await;
    let shown = harness.events.iter().rev().find_map(|event| match event {
        Event::SessionRenamed(title) => Some(title.clone()),
        _ => None,
    });
    assert_eq!(shown.unwrap_or("go on".to_owned()), latest, "{steps:?}");
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    let title = file["humble"]["title"].as_str().unwrap_or("go on");
    assert_eq!(title, latest, "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn the_latest_title_of_two_programs_stays_in_every_order() {
    let kinds = [
        Step::RenameHere,
        Step::RenameHereAgain,
        Step::RenameElsewhere,
        Step::Answer,
    ];
    for first in kinds {
        for second in kinds {
            for third in kinds {
                check(&[first, second, third]).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_title_that_replaces_one_of_another_program_is_reported() {
    let mut harness = EngineHarness::start(Script::default().answer("one")).await;
    answer(&mut harness).await;
    let store = SessionStore::new(harness.home.path().join("sessions"));
    store
        .rename(&store.list()[0].id, "Theirs")
        .expect("renamed");
    harness.send(Command::RenameSession("Ours".into())).await;
    let is_reported = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what == "Your title replaces \"Theirs\", which another program had chosen.");
    harness.wait_for("the notice", is_reported).await;
}

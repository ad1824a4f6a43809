//! Decisions that cannot be written, such as on a full disk: they apply, are written as soon as
//! possible, and are named at exit.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::domain::Severity;

/// Makes every write of `trust.json` fail, even for root.
fn block_writes(home: &TempDir) {
    let lock = home.path().join("trust.json.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(lock).expect("a folder in the way");
}

fn allow_writes(home: &TempDir) {
    fs::remove_dir(home.path().join("trust.json.lock")).expect("removed");
}

/// The texts of the notices about failures.
fn failures(events: &[Event]) -> Vec<String> {
    let failures = events.iter().filter_map(|event| match event {
        Event::NoticePosted(notice) if notice.severity == Severity::Failure => {
            Some(notice_text(notice))
        }
        _ => None,
    });
    failures.collect()
}

/// The notice may come before or after the end of the turn.
async fn wait_for_failure(harness: &mut EngineHarness) {
    if failures(&harness.events).is_empty() {
        harness.wait_for_notice("trust.json").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_could_not_be_written_is_written_later() {
    let script = Script::default()
        .round([ScriptStep::text(GET_TIME_CALL), ScriptStep::end()])
        .answer("Blocked.")
        .answer("Still here.");
    let mut harness = EngineHarness::start(script).await;
    block_writes(&harness.home);
    harness.prompt_and_decide(Decision::Never).await;
    wait_for_failure(&mut harness).await;
    // Meanwhile the file lacks the decision, which does not revoke it.
    harness.send(Command::Reload).await;
    harness.wait_for_notice("nothing changes").await;
    assert_eq!(harness.trust_entries().len(), 1);
    tokio::time::sleep(Duration::from_secs(120)).await;
    harness.prompt("Go on.").await;
    harness.wait_for_turn_end().await;
    let failures = failures(&harness.events);
    assert_eq!(failures.len(), 1, "each retry is silent: {failures:?}");
    allow_writes(&harness.home);
    let file = harness.home.path().join("trust.json");
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if file.exists() {
            break;
        }
    }
    let text = fs::read_to_string(&file).expect("written");
    assert!(text.contains("\"kind\": \"never\""), "{text}");
}

#[tokio::test(start_paused = true)]
async fn decisions_are_written_at_exit_or_named() {
    for is_blocked in [false, true] {
        let script = Script::default()
            .round([ScriptStep::text(GET_TIME_CALL), ScriptStep::end()])
            .answer("Blocked.");
        let mut harness = EngineHarness::start(script).await;
        block_writes(&harness.home);
        harness.prompt_and_decide(Decision::Never).await;
        wait_for_failure(&mut harness).await;
        if !is_blocked {
            allow_writes(&harness.home);
        }
        harness.events.clear();
        harness.send(Command::Shutdown).await;
        harness
            .wait_for("the end", |event| *event == Event::ShutDown)
            .await;
        let failures = failures(&harness.events);
        let file = harness.home.path().join("trust.json");
        assert_eq!(file.exists(), !is_blocked);
        if is_blocked {
            let start = "trust.json could not be written, so this is forgotten: `get_time` of \
                         `humble`: never.";
            assert!(failures[0].starts_with(start), "{failures:?}");
        } else {
            assert_eq!(failures, [""; 0]);
        }
    }
}

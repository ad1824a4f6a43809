//! Automatic retries, and stopping a model that repeats itself.

use super::*;
use crate::engine::notice_text::notice_text;
use humble::provider::FailureCause;

fn http_failure(status: u16, retry_after: Option<u64>) -> ScriptStep {
    ScriptStep::Fail(FailureCause::Status {
        status,
        message: None,
        retry_after: retry_after.map(Duration::from_secs),
        path: None,
    })
}

/// In seconds.
fn retry_delays(harness: &EngineHarness) -> Vec<u64> {
    let events = harness.events.iter();
    let delay = |event: &Event| match event {
        Event::Turn(_, TurnEvent::Retrying { after, .. }) => Some(after.as_secs()),
        _ => None,
    };
    events.filter_map(delay).collect()
}

#[tokio::test(start_paused = true)]
async fn busy_server_is_retried_with_increasing_delays() {
    let script = Script::default()
        .round([http_failure(429, None)])
        .round([http_failure(503, None)])
        .round([ScriptStep::Fail(FailureCause::ConnectionReset)])
        .answer("At last.");
    let mut harness = EngineHarness::start(script).await;
    let started = tokio::time::Instant::now();
    harness.prompt("Hello?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("At last."));
    assert_eq!(retry_delays(&harness), [1, 2, 4]);
    assert_eq!(started.elapsed().as_secs(), 7);
    assert_eq!(harness.requests.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn retry_after_from_the_server_is_respected() {
    let script = Script::default()
        .round([http_failure(429, Some(30))])
        .answer("ok");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Hello?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("ok"));
    assert_eq!(retry_delays(&harness), [30]);
}

#[tokio::test(start_paused = true)]
async fn retry_after_of_zero_waits_one_second() {
    let script = Script::default()
        .round([http_failure(429, Some(0))])
        .answer("ok");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Hello?").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("ok"));
    assert_eq!(retry_delays(&harness), [1]);
}

#[tokio::test(start_paused = true)]
async fn retry_delays_restart_in_each_round() {
    let script = Script::default()
        .round([http_failure(503, None)])
        .round([http_failure(503, None)])
        .answer(GET_TIME_CALL)
        .round([http_failure(503, None)])
        .answer("Noon.");
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Time?").await;
    let (ask, calls) = harness.next_approval().await;
    let run = vec![(calls[0], Decision::Run)];
    harness.answer(ask, UserAnswer::Calls(run)).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Noon."));
    assert_eq!(retry_delays(&harness), [1, 2, 1]);
}

#[tokio::test(start_paused = true)]
async fn exhausted_retries_and_a_long_retry_after_fail_the_turn() {
    let rounds = (0..9).map(|_| vec![http_failure(503, None)]);
    let mut harness = EngineHarness::start(Script::new(rounds)).await;
    harness.prompt("Hello?").await;
    assert!(matches!(
        harness.wait_for_turn_end().await,
        TurnEnd::Failed { .. }
    ));
    assert_eq!(retry_delays(&harness), [1, 2, 4, 8, 16]);
    let script = Script::default().round([http_failure(429, Some(3_600))]);
    let mut harness = EngineHarness::start(script).await;
    harness.prompt("Hello?").await;
    assert!(matches!(
        harness.wait_for_turn_end().await,
        TurnEnd::Failed { .. }
    ));
    assert!(retry_delays(&harness).is_empty());
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_and_errors_after_the_first_byte_are_not_retried() {
    let rounds = [
        vec![
            ScriptStep::text("Half"),
            ScriptStep::Fail(FailureCause::ReplyCutOff),
        ],
        vec![ScriptStep::text("Half"), http_failure(503, None)],
        vec![
            ScriptStep::Part(StreamPart::Heartbeat),
            ScriptStep::Fail(FailureCause::ConnectionReset),
        ],
        vec![http_failure(500, None)],
        vec![ScriptStep::Fail(FailureCause::ConnectionRefused)],
    ];
    for round in rounds {
        let mut harness = EngineHarness::start(Script::new([round])).await;
        harness.prompt("Hello?").await;
        assert!(matches!(
            harness.wait_for_turn_end().await,
            TurnEnd::Failed { .. }
        ));
        assert!(retry_delays(&harness).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn retry_now_skips_the_delay_and_an_interrupt_cancels_the_turn() {
    let script = Script::default()
        .round([http_failure(429, Some(100))])
        .answer("ok")
        .round([http_failure(429, Some(100))]);
    let mut harness = EngineHarness::start(script).await;
    let is_retry = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Retrying { .. }));
    let started = tokio::time::Instant::now();
    harness.prompt("one").await;
    harness.wait_for("a retry delay", is_retry).await;
    harness.send(Command::SendNow).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("ok"));
    harness.prompt("two").await;
    harness.wait_for("a retry delay", is_retry).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(harness.requests.count(), 3);
}

/// The notice when repetition is first detected in a reply of the model `m`.
const REPETITION_NOTICE: &str = "m repeats itself.";

fn repetition_notices(harness: &EngineHarness) -> Vec<String> {
    let notices = harness
        .turn_notices()
        .into_iter()
        .map(|notice| notice_text(&notice));
    notices.filter(|text| text.contains("repeat")).collect()
}

fn transcript_text(harness: &EngineHarness) -> String {
    let entries = harness.transcript.entries().iter();
    let text = entries.filter_map(|entry| match &entry.body {
        EntryBody::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    text.collect()
}

#[tokio::test(start_paused = true)]
async fn repetition_that_ends_by_itself_is_kept_in_full() {
    let sentence = "I must not talk in class, not even quietly.\n";
    let mut steps = vec![ScriptStep::text("Well:\n")];
    steps.extend((0..100).map(|_| ScriptStep::text(sentence)));
    steps.push(ScriptStep::text("Done."));
    steps.push(ScriptStep::Part(StreamPart::End(EndReason::Stop)));
    let mut harness = EngineHarness::start(Script::new([steps])).await;
    harness.prompt("Write it a hundred times.").await;
    let expected = format!("Well:\n{}Done.", sentence.repeat(100));
    assert_eq!(harness.wait_for_turn_end().await, answered(&expected));
    assert_eq!(
        repetition_notices(&harness),
        [format!("{REPETITION_NOTICE} [Stop]")]
    );
}

#[tokio::test(start_paused = true)]
async fn endless_repetition_is_stopped_and_its_text_is_kept() {
    let sentence = "And so it goes on and on. ";
    let mut steps = vec![ScriptStep::text("Well: ")];
    steps.extend((0..2_000).map(|_| ScriptStep::text(sentence)));
    let mut harness = EngineHarness::start(Script::new([steps])).await;
    harness.prompt("Talk.").await;
    let TurnEnd::Answered {
        text,
        is_truncated: false,
    } = harness.wait_for_turn_end().await
    else {
        panic!("the turn did not end with an answer");
    };
    let rest = text.strip_prefix("Well: ").expect("the prefix is kept");
    let repeats = rest.len() / sentence.len();
    assert_eq!(rest, sentence.repeat(repeats));
    assert!((16 << 10..18 << 10).contains(&rest.len()), "{}", rest.len());
    let notices = repetition_notices(&harness);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].starts_with(REPETITION_NOTICE), "{notices:?}");
    assert!(
        notices[1].contains("times and was stopped. The text so far is kept."),
        "{notices:?}"
    );
    assert_eq!(transcript_text(&harness), text);
    harness.wait_for_save().await;
    let home = harness.shut_down().await;
    let file = read_json(&session_files(&home)[0]);
    assert_eq!(file["messages"][1]["content"], text);
}

#[tokio::test(start_paused = true)]
async fn repetitive_thinking_leads_to_one_notice_and_may_continue() {
    let steps = (0..100).map(|_| ScriptStep::thinking("잠깐만요, 다시 생각해 보겠습니다. "));
    let end = ScriptStep::Part(StreamPart::End(EndReason::Stop));
    let steps = steps.chain([ScriptStep::text("네."), end]);
    let mut harness = EngineHarness::start(Script::new([steps.collect()])).await;
    harness.prompt("Think.").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("네."));
    assert_eq!(repetition_notices(&harness).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn endless_repetitive_thinking_is_stopped() {
    let steps = (0..2_000).map(|_| ScriptStep::thinking("잠깐만요, 다시 생각해 보겠습니다. "));
    let mut harness = EngineHarness::start(Script::new([steps.collect()])).await;
    harness.prompt("Think.").await;
    let TurnEnd::Failed { notice } = harness.wait_for_turn_end().await else {
        panic!("the turn did not fail");
    };
    assert!(notice.what.contains("while thinking"), "{notice:?}");
    let notices = repetition_notices(&harness);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].starts_with(REPETITION_NOTICE), "{notices:?}");
}

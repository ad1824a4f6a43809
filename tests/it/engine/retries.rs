//! Asking again by itself, and stopping a model that runs in circles.

use super::*;
use humble::provider::FailureCause;

fn busy(status: u16, retry_after: Option<u64>) -> ScriptStep {
    ScriptStep::Fail(FailureCause::Status {
        status,
        message: None,
        retry_after: retry_after.map(Duration::from_secs),
        path: None,
    })
}

/// The pauses that were announced.
fn pauses(bench: &EngineHarness) -> Vec<u64> {
    let events = bench.events.iter();
    let pause = |event: &Event| match event {
        Event::Turn(_, TurnEvent::Retrying { after, .. }) => Some(after.as_secs()),
        _ => None,
    };
    events.filter_map(pause).collect()
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_asked_again_with_longer_pauses() {
    let script = Script::default()
        .round([busy(429, None)])
        .round([busy(503, None)])
        .round([ScriptStep::Fail(FailureCause::ConnectionReset)])
        .answer("At last.");
    let mut bench = EngineHarness::start(script).await;
    let since = tokio::time::Instant::now();
    bench.prompt("Hello?").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("At last."));
    assert_eq!(pauses(&bench), [1, 2, 4]);
    assert_eq!(since.elapsed().as_secs(), 7);
    assert_eq!(bench.requests.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_pause_that_the_server_names_is_kept() {
    let script = Script::default().round([busy(429, Some(30))]).answer("ok");
    let mut bench = EngineHarness::start(script).await;
    bench.prompt("Hello?").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("ok"));
    assert_eq!(pauses(&bench), [30]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_names_no_time_at_all_is_left_alone_for_a_second() {
    let script = Script::default().round([busy(429, Some(0))]).answer("ok");
    let mut bench = EngineHarness::start(script).await;
    bench.prompt("Hello?").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("ok"));
    assert_eq!(pauses(&bench), [1]);
}

#[tokio::test(start_paused = true)]
async fn the_pauses_begin_anew_with_each_round() {
    let script = Script::default()
        .round([busy(503, None)])
        .round([busy(503, None)])
        .answer(GET_TIME_CALL)
        .round([busy(503, None)])
        .answer("Noon.");
    let mut bench = EngineHarness::start(script).await;
    bench.prompt("Time?").await;
    let (ask, calls) = bench.next_approval().await;
    let run = vec![(calls[0], Decision::Run)];
    bench.answer(ask, UserAnswer::Calls(run)).await;
    assert_eq!(bench.wait_for_turn_end().await, answered("Noon."));
    assert_eq!(pauses(&bench), [1, 2, 1]);
}

#[tokio::test(start_paused = true)]
async fn after_the_last_attempt_and_for_a_long_pause_the_person_is_told() {
    let rounds = (0..9).map(|_| vec![busy(503, None)]);
    let mut bench = EngineHarness::start(Script::new(rounds)).await;
    bench.prompt("Hello?").await;
    assert!(matches!(
        bench.wait_for_turn_end().await,
        TurnEnd::Failed { .. }
    ));
    assert_eq!(pauses(&bench), [1, 2, 4, 8, 16]);
    let script = Script::default().round([busy(429, Some(3_600))]);
    let mut bench = EngineHarness::start(script).await;
    bench.prompt("Hello?").await;
    assert!(matches!(
        bench.wait_for_turn_end().await,
        TurnEnd::Failed { .. }
    ));
    assert!(pauses(&bench).is_empty());
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_and_errors_after_the_first_byte_are_not_retried() {
    let rounds = [
        vec![
            ScriptStep::text("Half"),
            ScriptStep::Fail(FailureCause::ReplyCutOff),
        ],
        vec![ScriptStep::text("Half"), busy(503, None)],
        vec![
            ScriptStep::Part(StreamPart::Heartbeat),
            ScriptStep::Fail(FailureCause::ConnectionReset),
        ],
        vec![busy(500, None)],
        vec![ScriptStep::Fail(FailureCause::ConnectionRefused)],
    ];
    for round in rounds {
        let mut bench = EngineHarness::start(Script::new([round])).await;
        bench.prompt("Hello?").await;
        assert!(matches!(
            bench.wait_for_turn_end().await,
            TurnEnd::Failed { .. }
        ));
        assert!(pauses(&bench).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn retrying_now_skips_the_pause_and_an_interrupt_ends_it() {
    let script = Script::default()
        .round([busy(429, Some(100))])
        .answer("ok")
        .round([busy(429, Some(100))]);
    let mut bench = EngineHarness::start(script).await;
    let retrying = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Retrying { .. }));
    let since = tokio::time::Instant::now();
    bench.prompt("one").await;
    bench.wait_for("the pause", retrying).await;
    bench.send(Command::RetryNow).await;
    assert_eq!(bench.wait_for_turn_end().await, answered("ok"));
    bench.prompt("two").await;
    bench.wait_for("the pause", retrying).await;
    bench.send(Command::Interrupt).await;
    assert_eq!(bench.wait_for_turn_end().await, TurnEnd::Cancelled);
    assert!(since.elapsed() < Duration::from_secs(5));
    assert_eq!(bench.requests.count(), 3);
}

const QUIET: &str = "m repeats itself.";

/// The notices about repetition.
fn about_repeats(bench: &EngineHarness) -> Vec<String> {
    let said = bench
        .turn_notices()
        .into_iter()
        .map(|notice| crate::engine::notice_text::notice_text(&notice));
    said.filter(|sentence| sentence.contains("repeat"))
        .collect()
}

/// The text on the screen.
fn shown(bench: &EngineHarness) -> String {
    let entries = bench.transcript.entries().iter();
    let text = entries.filter_map(|entry| match &entry.body {
        EntryBody::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    text.collect()
}

#[tokio::test(start_paused = true)]
async fn a_line_that_was_asked_for_a_hundred_times_is_answered_in_full() {
    let block = "I must not talk in class, not even quietly.\n";
    let mut steps = vec![ScriptStep::text("Well:\n")];
    steps.extend((0..100).map(|_| ScriptStep::text(block)));
    steps.push(ScriptStep::text("Done."));
    steps.push(ScriptStep::Part(StreamPart::End(EndReason::Stop)));
    let mut bench = EngineHarness::start(Script::new([steps])).await;
    bench.prompt("Write it a hundred times.").await;
    let whole = format!("Well:\n{}Done.", block.repeat(100));
    assert_eq!(bench.wait_for_turn_end().await, answered(&whole));
    assert_eq!(about_repeats(&bench), [format!("{QUIET} [Stop]")]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_repeats_a_block_without_end_is_stopped_and_kept_whole() {
    let block = "And so it goes on and on. ";
    let mut steps = vec![ScriptStep::text("Well: ")];
    steps.extend((0..2_000).map(|_| ScriptStep::text(block)));
    let mut bench = EngineHarness::start(Script::new([steps])).await;
    bench.prompt("Talk.").await;
    let TurnEnd::Answered {
        text,
        is_truncated: false,
    } = bench.wait_for_turn_end().await
    else {
        panic!("an answer");
    };
    let rest = text.strip_prefix("Well: ").expect("it begins so");
    let times = rest.len() / block.len();
    assert_eq!(rest, block.repeat(times));
    assert!((16 << 10..18 << 10).contains(&rest.len()), "{}", rest.len());
    let said = about_repeats(&bench);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with(QUIET), "{said:?}");
    assert!(
        said[1].contains("times, and was stopped. Everything that came is kept."),
        "{said:?}"
    );
    assert_eq!(shown(&bench), text);
    bench.wait_for_save().await;
    let home = bench.shut_down().await;
    let file = read(&session_files(&home)[0]);
    assert_eq!(file["messages"][1]["content"], text);
}

#[tokio::test(start_paused = true)]
async fn thinking_that_repeats_itself_is_noted_and_goes_on_to_its_answer() {
    let steps = (0..100).map(|_| ScriptStep::thinking("잠깐만요, 다시 생각해 보겠습니다. "));
    let end = ScriptStep::Part(StreamPart::End(EndReason::Stop));
    let steps = steps.chain([ScriptStep::text("네."), end]);
    let mut bench = EngineHarness::start(Script::new([steps.collect()])).await;
    bench.prompt("Think.").await;
    assert_eq!(bench.wait_for_turn_end().await, answered("네."));
    assert_eq!(about_repeats(&bench).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn thinking_that_repeats_itself_without_end_is_stopped() {
    let steps = (0..2_000).map(|_| ScriptStep::thinking("잠깐만요, 다시 생각해 보겠습니다. "));
    let mut bench = EngineHarness::start(Script::new([steps.collect()])).await;
    bench.prompt("Think.").await;
    let TurnEnd::Failed { notice } = bench.wait_for_turn_end().await else {
        panic!("a failure");
    };
    assert!(notice.what.contains("while it thought"), "{notice:?}");
    let said = about_repeats(&bench);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with(QUIET), "{said:?}");
}

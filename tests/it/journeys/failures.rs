//! Busy servers, truncated answers, `/compact`, and the queue after a failure.

use super::*;
use humble::provider::{EndReason, FailureCause, StreamPart};

fn busy(seconds: u64) -> ScriptStep {
    ScriptStep::Fail(FailureCause::Status {
        status: 429,
        message: None,
        retry_after: Some(Duration::from_secs(seconds)),
        path: None,
    })
}

#[test]
fn a_retry_delay_is_counted_down_and_ctrl_c_stops_it() {
    chat(script().round([busy(5)]).round([busy(60)]).answer("never"))
        .says("hello")
        .sees("429")
        .sees("Retrying in 5 s (1 of 5)")
        .waits(Duration::from_millis(2_100))
        .sees("Retrying in 3 s (1 of 5)")
        .waits_until_sees("Retrying in 60 s (2 of 5)")
        .ctrl('c')
        .sees("(cancelled)")
        .does_not_see("Retrying")
        .assert_running()
        .model_received_requests(2);
}

#[test]
fn alt_r_retries_without_waiting() {
    chat(script().round([busy(60)]).answer("At last."))
        .says("hello")
        .sees("Retrying in 60 s")
        .press(KeyCode::Char('r'), KeyModifiers::ALT)
        .sees("At last.");
}

#[test]
fn alt_c_continues_a_truncated_answer() {
    let truncated = [
        ScriptStep::text("The first half"),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ];
    chat(script().round(truncated).answer("and the second."))
        .says("Tell me")
        .sees("The answer was cut off at the token limit.")
        .sees("Alt+C continue the answer")
        .press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("and the second.")
        .model_receives("The first half")
        .does_not_see("Alt+C continue the answer")
        .press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("Nothing to continue: the last answer was not truncated.")
        .model_received_requests(2);
}

#[test]
fn the_compact_command_shows_the_summary_and_explains_its_effect() {
    chat(script().answer("1").answer("2").answer("요약입니다."))
        .says("one")
        .says("two")
        .says("/compact")
        .sees("요약입니다.")
        .sees("The model now receives this summary instead of the messages before it.");
}

#[test]
fn the_compact_command_with_nothing_to_summarize_shows_only_a_notice() {
    chat(script().answer("1"))
        .says("/compact")
        .sees("· There is nothing to summarize yet.")
        .does_not_see("▌ /compact")
        .says("one")
        .sees("1")
        .says("/compact")
        .sees("· There is nothing to summarize yet.")
        .does_not_see("▌ /compact")
        .model_received_requests(1);
}

#[test]
fn undo_removes_the_summary_first() {
    chat(
        script()
            .answer("1")
            .answer("2")
            .answer("요약입니다.")
            .answer("3"),
    )
    .says("one")
    .says("two")
    .says("/compact")
    .sees("요약입니다.")
    .says("/undo")
    .does_not_see("요약입니다.")
    .sees("Summary removed. The model gets the earlier messages again.")
    .says("three")
    .sees("3")
    .model_receives("one");
}

#[test]
fn the_chat_marks_where_the_model_receives_a_summary() {
    chat(
        script()
            .answer("1")
            .answer("2")
            .answer("요약입니다.")
            .answer("3"),
    )
    .says("one")
    .says("two")
    .says("/compact")
    .says("/retry")
    .sees("The model now receives a summary instead of the messages above.")
    .model_receives("요약입니다.");
}

#[test]
fn the_queue_waits_after_a_failure() {
    let failure = [
        ScriptStep::Wait(Duration::from_millis(500)),
        ScriptStep::Fail(FailureCause::ConnectionRefused),
    ];
    chat(script().round(failure).answer("never sent by itself"))
        .says("one")
        .says("two")
        .waits_until_sees("Nothing listens")
        .sees("two")
        .sees("resume the queue")
        .model_received_requests(1);
}

#[test]
fn a_model_that_only_thought_can_be_asked_again_or_without_thinking() {
    let as_thinking = [ScriptStep::thinking("What is the time?"), ScriptStep::end()];
    let as_text = [
        ScriptStep::text("What is the time?</think>\n"),
        ScriptStep::end(),
    ];
    let script = script().round(as_thinking.clone()).round(as_text);
    let mut chat = chat(script.round(as_thinking));
    let summary = "m only thought and did not answer.";
    let advice = "/retry tries again, or switch thinking off with /think off.";
    chat.says("Time?").sees(summary).sees(advice);
    chat.says("/new").does_not_see(summary);
    chat.says("Time?").sees(summary).sees(advice);
    chat.says("/think off").says("/new").does_not_see(summary);
    chat.says("Time?")
        .sees(summary)
        .sees("/retry tries again.")
        .does_not_see("/think off.");
}

#[test]
fn a_model_that_thought_until_the_token_limit_can_be_asked_without_thinking() {
    let truncated = [
        ScriptStep::thinking("What is the time?"),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ];
    chat(script().round(truncated))
        .says("Time?")
        .sees("m reached the token limit before it answered.")
        .sees("Raise the limit in the model's `options`, or switch thinking off with /think off.");
}

//! Snapshots of `/probe`: running, with a result to store, and without one.

use super::at_two_sizes;
use crate::support::screen_harness;
use crossterm::event::KeyCode;
use humble::domain::probe::{CallOutcome, DialectTrial, ProbeReport, ProbeState};
use humble::domain::{AskId, Dialect, ModelRef, Notice, ProviderKind};
use humble::protocol::{Event, ModelJob, QuestionOwner};
use humble::questions;
use screen_harness::{ScreenHarness, screen_harness};
use std::sync::Arc;
use std::time::Duration;

fn trial(dialect: Dialect, call: CallOutcome, used_result: bool, millis: u64) -> DialectTrial {
    DialectTrial {
        dialect,
        call,
        used_result,
        elapsed: Duration::from_millis(millis),
        is_complete: true,
        problem: None,
    }
}

fn report(name: &str, trials: Vec<DialectTrial>) -> ProbeReport {
    let model = ModelRef {
        name: name.to_owned(),
        provider: ProviderKind::Ollama,
        model: name.to_owned(),
    };
    ProbeReport {
        trials,
        ..ProbeReport::new(model, Dialect::Prompt)
    }
}

fn state(dialect: Option<Dialect>, is_loading: bool) -> Event {
    Event::ProbeChanged(Some(ProbeState {
        model: "qwen3:4b".to_owned(),
        dialect,
        is_loading,
        is_finished: false,
    }))
}

fn ask(story: &mut ScreenHarness, report: ProbeReport, to: Option<Dialect>) {
    let report = Arc::new(report);
    story.event(Event::Asked {
        ask: AskId(7),
        owner: QuestionOwner::Job(ModelJob::Probe),
        question: questions::save_dialect(&report, to),
    });
    story.advance_clock(600);
}

/// The report of a model that works best with `xml`, and whose server does not list `tools`.
fn better_as_xml() -> ProbeReport {
    let why = "not tried, because the model server does not list `tools` among its capabilities (completion, vision).";
    let trials = vec![
        DialectTrial::skipped(Dialect::Native, why),
        trial(
            Dialect::Prompt,
            CallOutcome::OtherForm("Hermes, repaired".to_owned()),
            false,
            12_345,
        ),
        trial(Dialect::Xml, CallOutcome::WellFormed, true, 3_140),
    ];
    report("qwen3:4b", trials)
}

fn broken() -> ProbeReport {
    let mut report = report("한국어-모델\u{1b}[31m:8b\u{202e}", Vec::new());
    report.is_partial = true;
    let message = "Nothing listens at http://localhost:11434.";
    report.error =
        Some(Notice::failure(message).with_advice("Start Ollama, or correct `baseUrl`."));
    report
}

#[test]
fn a_probe_in_progress() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.event(state(None, false));
        story.event(state(Some(Dialect::Native), false));
        story.event(state(Some(Dialect::Prompt), false));
        story
            .advance_clock(12_000)
            .types("안녕")
            .key(KeyCode::Enter);
    }));
}

#[test]
fn loading_the_model() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.event(state(Some(Dialect::Native), true));
        story.advance_clock(72_000);
    }));
}

#[test]
fn a_better_dialect() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        ask(story, better_as_xml(), Some(Dialect::Xml));
    }));
}

#[test]
fn a_probe_ended_by_an_error() {
    insta::assert_snapshot!(at_two_sizes(|story| ask(story, broken(), None)));
}

#[test]
fn result_for_an_unlisted_model_cannot_be_stored() {
    let mut story = screen_harness((104, 30));
    ask(&mut story, better_as_xml(), None);
    let screen = story.screen();
    let text = "config.json does not list qwen3:4b, so the setting";
    assert!(screen.contains(text), "{screen}");
    assert!(screen.contains("/models keep adds it to"), "{screen}");
    assert!(!screen.contains("save and use"), "{screen}");
}

#[test]
fn no_size_breaks_the_screens_of_a_probe() {
    for width in 0..64 {
        for height in 0..16 {
            let mut story = screen_harness((width, height));
            story.event(state(Some(Dialect::Xml), false));
            story.advance_clock(5_000).screen();
            ask(&mut story, better_as_xml(), Some(Dialect::Xml));
            for key in [KeyCode::PageDown, KeyCode::Char('?'), KeyCode::End] {
                story.key(key).screen();
            }
        }
    }
}

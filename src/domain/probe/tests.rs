//! Tests of the comparison of dialects and of the texts that describe a result.

use super::*;
use crate::domain::ProviderKind;

fn trial(dialect: Dialect, call: CallOutcome, used_result: bool) -> DialectTrial {
    DialectTrial {
        dialect,
        call,
        used_result,
        elapsed: Duration::from_millis(3_140),
        is_complete: true,
        problem: None,
    }
}

fn report(provider: ProviderKind, current: Dialect, trials: Vec<DialectTrial>) -> ProbeReport {
    let model = ModelRef {
        name: "m".to_owned(),
        provider,
        model: "m".to_owned(),
    };
    ProbeReport {
        trials,
        ..ProbeReport::new(model, current)
    }
}

use CallOutcome::{InvalidCall, NoCall, WellFormed};
use Dialect::{Native, Prompt, Xml};
use ProviderKind::{Ollama, OpenAi};

fn other_form() -> CallOutcome {
    CallOutcome::OtherForm("Hermes".to_owned())
}

#[test]
fn using_the_result_beats_calling_and_a_well_formed_call_beats_other_forms() {
    let best = |trials| report(Ollama, Prompt, trials).best_dialect();
    assert_eq!(
        best(vec![
            trial(Native, WellFormed, false),
            trial(Prompt, NoCall, false),
            trial(Xml, other_form(), true),
        ]),
        Some(Xml)
    );
    assert_eq!(
        best(vec![
            trial(Native, InvalidCall, false),
            trial(Prompt, other_form(), true),
            trial(Xml, WellFormed, true),
        ]),
        Some(Xml)
    );
    assert_eq!(
        best(vec![
            trial(Native, InvalidCall, false),
            trial(Prompt, NoCall, false),
        ]),
        None
    );
}

#[test]
fn ties_go_to_the_default_dialect_and_the_current_one_is_kept() {
    let all = || {
        Dialect::ALL
            .map(|dialect| trial(dialect, WellFormed, true))
            .to_vec()
    };
    let outcome = |provider, current| {
        let report = report(provider, current, all());
        (report.best_dialect(), report.recommended_dialect())
    };
    assert_eq!(outcome(Ollama, Prompt), (Some(Prompt), None));
    assert_eq!(outcome(OpenAi, Native), (Some(Native), None));
    assert_eq!(outcome(Ollama, Xml), (Some(Prompt), None));
    let without_default = vec![
        trial(Native, WellFormed, true),
        trial(Xml, WellFormed, true),
    ];
    let report = report(Ollama, Prompt, without_default);
    assert_eq!(report.best_dialect(), Some(Native));
}

#[test]
fn a_better_dialect_is_recommended_only_after_a_complete_probe() {
    let trials = vec![
        DialectTrial::skipped(Native, "no tools"),
        trial(Prompt, WellFormed, false),
        trial(Xml, WellFormed, true),
    ];
    let complete = report(Ollama, Prompt, trials);
    assert_eq!(complete.recommended_dialect(), Some(Xml));
    let text = "`prompt` is in use, but `xml` does better.";
    assert_eq!(complete.recommendation_text().as_deref(), Some(text));
    let partial = ProbeReport {
        is_partial: true,
        ..complete
    };
    assert_eq!(
        (partial.best_dialect(), partial.recommended_dialect()),
        (Some(Xml), None)
    );
    let text = "Not every dialect was tested, so nothing was saved.";
    assert_eq!(partial.recommendation_text().as_deref(), Some(text));
}

#[test]
fn the_verdict_states_whether_the_model_works_with_tools() {
    let verdict = |trials| report(Ollama, Prompt, trials).verdict_text();
    assert_eq!(
        verdict(vec![trial(Prompt, WellFormed, true)]),
        "m works with tools: best in `prompt`."
    );
    let text = verdict(vec![trial(Xml, other_form(), false)]);
    let start = "m calls tools but does not use their results; `xml` came closest.";
    assert!(text.starts_with(start), "{text}");
    let text = verdict(vec![trial(Xml, InvalidCall, false)]);
    let start = "m tried to call a tool, but made no valid call in any dialect.";
    assert!(text.starts_with(start), "{text}");
    let incomplete = DialectTrial {
        is_complete: false,
        ..trial(Prompt, NoCall, false)
    };
    let text = verdict(vec![incomplete.clone()]);
    let end = "whether m works with tools: no reply was complete.";
    assert!(text.ends_with(end), "{text}");
    let text = verdict(vec![incomplete, trial(Xml, NoCall, false)]);
    assert!(
        text.starts_with("m did not call a tool in any dialect."),
        "{text}"
    );
    let text = verdict(vec![DialectTrial::skipped(Native, "why")]);
    assert_eq!(text, "It is not known whether m works with tools.");
}

#[test]
fn a_table_row_shows_the_result_of_a_dialect() {
    let rows = [
        (trial(Native, WellFormed, true), "native yes yes yes 3.1"),
        (
            trial(Prompt, other_form(), false),
            "prompt yes no: Hermes no 3.1",
        ),
        (trial(Xml, InvalidCall, false), "xml no no no 3.1"),
        (trial(Xml, NoCall, false), "xml no - no 3.1"),
        (DialectTrial::skipped(Native, "why"), "native - - - -"),
    ];
    for (trial, expected) in rows {
        assert_eq!(trial.table_row().join(" "), expected);
    }
}

#[test]
fn the_secret_word_is_found_regardless_of_formatting() {
    for answer in [
        "The word is **Tavokimiru**.",
        "ta-vo-ki-mi-ru",
        "T A V O K I M I R U",
    ] {
        assert!(contains_secret(answer, "tavokimiru"), "{answer}");
    }
    for answer in ["", "tavokimir", "비밀 단어를 모릅니다"] {
        assert!(!contains_secret(answer, "tavokimiru"), "{answer}");
    }
    assert!(!contains_secret("anything", ""));
}

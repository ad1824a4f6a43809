//! Comparing dialects, and the texts of the result.

use super::*;
use crate::domain::ProviderKind;

fn trial(dialect: Dialect, wrote: Wrote, answered: bool) -> Trial {
    Trial {
        dialect,
        wrote,
        answered,
        elapsed: Duration::from_millis(3_140),
        is_whole: true,
        fault: None,
    }
}

fn report(provider: ProviderKind, in_force: Dialect, trials: Vec<Trial>) -> Report {
    let model = ModelRef {
        name: "m".to_owned(),
        provider,
        model: "m".to_owned(),
    };
    Report {
        trials,
        ..Report::new(model, in_force)
    }
}

use Dialect::{Native, Prompt, Xml};
use ProviderKind::{Ollama, OpenAi};
use Wrote::{AsTaught, Nothing, Unusable};

fn other() -> Wrote {
    Wrote::Otherwise("Hermes".to_owned())
}

#[test]
fn answered_beats_called_and_called_as_taught_beats_called() {
    let best = |trials| report(Ollama, Prompt, trials).best();
    assert_eq!(
        best(vec![
            trial(Native, AsTaught, false),
            trial(Prompt, Nothing, false),
            trial(Xml, other(), true),
        ]),
        Some(Xml)
    );
    assert_eq!(
        best(vec![
            trial(Native, Unusable, false),
            trial(Prompt, other(), true),
            trial(Xml, AsTaught, true),
        ]),
        Some(Xml)
    );
    assert_eq!(
        best(vec![
            trial(Native, Unusable, false),
            trial(Prompt, Nothing, false),
        ]),
        None
    );
}

#[test]
fn of_those_that_did_alike_the_usual_one_is_best_and_what_is_in_use_stays() {
    let all = || {
        Dialect::ALL
            .map(|dialect| trial(dialect, AsTaught, true))
            .to_vec()
    };
    let outcome = |provider, in_force| {
        let report = report(provider, in_force, all());
        (report.best(), report.worth_storing())
    };
    assert_eq!(outcome(Ollama, Prompt), (Some(Prompt), None));
    assert_eq!(outcome(OpenAi, Native), (Some(Native), None));
    assert_eq!(outcome(Ollama, Xml), (Some(Prompt), None));
    let without_default = vec![trial(Native, AsTaught, true), trial(Xml, AsTaught, true)];
    let report = report(Ollama, Prompt, without_default);
    assert_eq!(report.best(), Some(Native));
}

#[test]
fn the_better_one_is_worth_storing_once_all_were_tried() {
    let trials = vec![
        Trial::skipped(Native, "no tools"),
        trial(Prompt, AsTaught, false),
        trial(Xml, AsTaught, true),
    ];
    let whole = report(Ollama, Prompt, trials);
    assert_eq!(whole.worth_storing(), Some(Xml));
    let text = "`prompt` is in use: `xml` does better.";
    assert_eq!(whole.setting_words().as_deref(), Some(text));
    let cut = Report {
        is_cut: true,
        ..whole
    };
    assert_eq!((cut.best(), cut.worth_storing()), (Some(Xml), None));
    let text = "Not every dialect was tested, so nothing was saved.";
    assert_eq!(cut.setting_words().as_deref(), Some(text));
}

#[test]
fn the_words_say_whether_the_model_works_with_tools() {
    let verdict = |trials| report(Ollama, Prompt, trials).words();
    assert_eq!(
        verdict(vec![trial(Prompt, AsTaught, true)]),
        "m works with tools: best in `prompt`."
    );
    let text = verdict(vec![trial(Xml, other(), false)]);
    let start = "m calls tools but does not use their results; `xml` came closest.";
    assert!(text.starts_with(start), "{text}");
    let text = verdict(vec![trial(Xml, Unusable, false)]);
    let start = "m tried to call a tool, but made no valid call in any dialect.";
    assert!(text.starts_with(start), "{text}");
    let late = Trial {
        is_whole: false,
        ..trial(Prompt, Nothing, false)
    };
    let text = verdict(vec![late.clone()]);
    let end = "whether m works with tools: no reply was complete.";
    assert!(text.ends_with(end), "{text}");
    let text = verdict(vec![late, trial(Xml, Nothing, false)]);
    assert!(
        text.starts_with("m did not call a tool in any dialect."),
        "{text}"
    );
    let text = verdict(vec![Trial::skipped(Native, "why")]);
    assert_eq!(text, "It is not known whether m works with tools.");
}

#[test]
fn a_row_tells_what_came_of_a_dialect() {
    let rows = [
        (trial(Native, AsTaught, true), "native yes yes yes 3.1"),
        (
            trial(Prompt, other(), false),
            "prompt yes no: Hermes no 3.1",
        ),
        (trial(Xml, Unusable, false), "xml no no no 3.1"),
        (trial(Xml, Nothing, false), "xml no - no 3.1"),
        (Trial::skipped(Native, "why"), "native - - - -"),
    ];
    for (trial, expected) in rows {
        assert_eq!(trial.row().join(" "), expected);
    }
}

#[test]
fn the_word_is_found_however_it_is_set() {
    for answer in [
        "The word is **Tavokimiru**.",
        "ta-vo-ki-mi-ru",
        "T A V O K I M I R U",
    ] {
        assert!(holds(answer, "tavokimiru"), "{answer}");
    }
    for answer in ["", "tavokimir", "비밀 단어를 모릅니다"] {
        assert!(!holds(answer, "tavokimiru"), "{answer}");
    }
    assert!(!holds("anything", ""));
}

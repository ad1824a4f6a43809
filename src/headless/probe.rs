//! The output of `humble probe`, and the question of whether to save the result. Text from servers
//! is sanitized here, except in JSON.

use super::signals::ExitSignals;
use super::tty_prompt::{CallTexts, TtyPrompt};
use crate::domain::probe::{CallOutcome, DialectTrial, ProbeReport, trial_rows};
use crate::domain::{AskId, Dialect};
use crate::headless::{advice, lines};
use crate::protocol::{Question, UserAnswer, UserChoice};
use crate::questions;
use crate::text::columns::Columns;
use serde_json::{Value, json};

/// The verdict, the table, and the setting to use.
pub fn render_text(report: &ProbeReport) -> String {
    let mut out = line(&report.verdict_text());
    if !report.trials.is_empty() {
        out.push('\n');
        out += &render_table(&report.trials);
    }
    let failures: String = report.failure_lines().map(|text| line(&text)).collect();
    if !failures.is_empty() {
        out.push('\n');
        out += &failures;
    }
    if let Some(advice) = report.recommendation_text() {
        out.push('\n');
        out += &line(&advice);
    }
    out
}

fn line(text: &str) -> String {
    lines::clean_line(text) + "\n"
}

fn render_table(trials: &[DialectTrial]) -> String {
    let rows: Vec<_> = trial_rows(trials)
        .map(|row| row.map(|cell| lines::clean_line(&cell)))
        .collect();
    let columns = Columns::fit(&rows).right_align_last();
    let lines = rows.iter().map(|row| columns.format_row(row) + "\n");
    lines.collect()
}

/// The report as one JSON object, not sanitized.
pub fn render_json(report: &ProbeReport, is_saved: bool) -> Value {
    let results: Vec<Value> = report.trials.iter().map(result_json).collect();
    let mut value = json!({
        "model": report.model.name,
        "provider": report.model.provider,
        "results": results,
        "best": report.best_dialect(),
        "in_use": report.current_dialect,
        "verdict": report.verdict(),
        "words": report.verdict_text(),
        "is_complete": !report.is_partial,
        "saved": is_saved,
    });
    if let Some(notice) = &report.error {
        value["error"] = json!(advice::notice_line(notice));
    }
    value
}

fn result_json(trial: &DialectTrial) -> Value {
    let form = match &trial.call {
        CallOutcome::OtherForm(form) => Some(form),
        _ => None,
    };
    json!({
        "dialect": trial.dialect,
        "tried": trial.was_tried(),
        "called": trial.made_call(),
        "well_formed": trial.call == CallOutcome::WellFormed,
        "form": form,
        "answered": trial.used_result,
        "seconds": (trial.elapsed.as_secs_f64() * 10.0).round() / 10.0,
        "fault": trial.problem,
    })
}

/// Asks on the terminal whether to save the best dialect. Returns `None` without a terminal.
///
/// # Errors
/// A signal arrived before the answer; the error is its exit status.
pub async fn confirm_save(
    report: &ProbeReport,
    dialect: Dialect,
    signals: &mut ExitSignals,
) -> Result<Option<bool>, u8> {
    let mut tty_prompt = TtyPrompt::open();
    if !tty_prompt.is_available() {
        return Ok(None);
    }
    // The report has been printed.
    let question = Question {
        blocks: Vec::new(),
        ..questions::save_dialect(report, Some(dialect))
    };
    tty_prompt.ask(AskId(1), question, CallTexts::default());
    tokio::select! {
        (_, answer, _) = tty_prompt.next_answer() => {
            Ok(Some(answer == UserAnswer::Choice(UserChoice::Save)))
        }
        code = signals.next() => Err(code),
    }
}

//! Dialog body for a probe's report: a summary and a table, or one line per dialect if the
//! table does not fit.

use crate::domain::Dialect;
use crate::domain::probe::{DialectTrial, ProbeReport, trial_rows};
use crate::text::Clean;
use crate::text::columns::Columns;
use crate::tui::advice;
use crate::tui::widgets::painter::wrapped_rows;

pub fn report_rows(report: &ProbeReport, to: Option<Dialect>, columns: u16) -> Vec<String> {
    let wrap = |words: &str| wrapped_rows(&Clean::single_line(words), columns);
    let mut rows = Vec::new();
    if let Some(error) = &report.error {
        rows.extend(wrap(&advice::notice_line(error)));
        rows.push(String::new());
    }
    rows.extend(wrap(&report.verdict_text()));
    if !report.trials.is_empty() {
        rows.push(String::new());
        rows.extend(table(&report.trials, columns));
    }
    let failures: Vec<String> = report.failure_lines().collect();
    if !failures.is_empty() {
        rows.push(String::new());
        rows.extend(failures.iter().flat_map(|failure| wrap(failure)));
    }
    if let Some(words) = report.recommendation_text() {
        rows.push(String::new());
        rows.extend(wrap(&words));
        if report.recommended_dialect() != to {
            let name = &report.model.name;
            rows.extend(wrap(&format!(
                "config.json does not list {name}, so the setting cannot be saved. /models keep adds it."
            )));
        }
    }
    rows
}

fn table(trials: &[DialectTrial], columns: u16) -> Vec<String> {
    let clean = |cell: String| Clean::single_line(&cell).as_str().to_owned();
    let rows: Vec<_> = trial_rows(trials).map(|row| row.map(clean)).collect();
    let table = Columns::fit(&rows).right_align_last();
    if table.total_width() <= usize::from(columns) {
        return rows.iter().map(|row| table.format_row(row)).collect();
    }
    trials
        .iter()
        .zip(&rows[1..])
        .map(|(trial, cells)| trial_line(trial, cells))
        .flat_map(|line| wrapped_rows(&Clean::single_line(&line), columns))
        .collect()
}

fn trial_line(
    trial: &DialectTrial,
    [dialect, called, well_formed, answered, seconds]: &[String; 5],
) -> String {
    if !trial.was_tried() {
        return format!("{dialect}: not tried");
    }
    let form = match trial.made_call() {
        true => format!(", well-formed {well_formed}"),
        false => String::new(),
    };
    format!("{dialect}: called {called}{form}, answered {answered}, {seconds} s")
}

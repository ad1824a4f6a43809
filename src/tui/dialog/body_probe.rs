//! Dialog body for a probe's report: a summary and a table, or one line per dialect if the
//! table does not fit.

use crate::domain::Dialect;
use crate::domain::probe::{Report, Trial, trial_rows};
use crate::text::Clean;
use crate::text::columns::Columns;
use crate::tui::advice;
use crate::tui::widgets::painter::rows_of;

pub fn rows(report: &Report, to: Option<Dialect>, columns: u16) -> Vec<String> {
    let say = |words: &str| rows_of(&Clean::single_line(words), columns);
    let mut rows = Vec::new();
    if let Some(fault) = &report.fault {
        rows.extend(say(&advice::sentence(fault)));
        rows.push(String::new());
    }
    rows.extend(say(&report.words()));
    if !report.trials.is_empty() {
        rows.push(String::new());
        rows.extend(table(&report.trials, columns));
    }
    let faults: Vec<String> = report.faults().collect();
    if !faults.is_empty() {
        rows.push(String::new());
        rows.extend(faults.iter().flat_map(|fault| say(fault)));
    }
    if let Some(words) = report.setting_words() {
        rows.push(String::new());
        rows.extend(say(&words));
        if report.worth_storing() != to {
            let name = &report.model.name;
            rows.extend(say(&format!(
                "config.json does not list {name}, so the setting cannot be stored."
            )));
        }
    }
    rows
}

fn table(trials: &[Trial], columns: u16) -> Vec<String> {
    let clean = |cell: String| Clean::single_line(&cell).as_str().to_owned();
    let rows: Vec<_> = trial_rows(trials).map(|row| row.map(clean)).collect();
    let table = Columns::of(&rows).with_last_right();
    if table.total() <= usize::from(columns) {
        return rows.iter().map(|row| table.line(row)).collect();
    }
    trials
        .iter()
        .zip(&rows[1..])
        .map(|(trial, cells)| line(trial, cells))
        .flat_map(|line| rows_of(&Clean::single_line(&line), columns))
        .collect()
}

fn line(trial: &Trial, [dialect, called, well_formed, answered, seconds]: &[String; 5]) -> String {
    if !trial.was_tried() {
        return format!("{dialect}: not tried");
    }
    let form = match trial.called() {
        true => format!(", well-formed {well_formed}"),
        false => String::new(),
    };
    format!("{dialect}: called {called}{form}, answered {answered}, {seconds} s")
}

//! What a probe found, in words and as a table; where that has no room, a line for
//! each dialect.

use crate::domain::Dialect;
use crate::domain::probe::{HEAD, Report, Trial};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::advice;
use crate::tui::widgets::painter::rows_of;

/// Columns between two columns of the table.
const GAP: usize = 2;

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
                "config.json does not list {name}: there is nowhere to store it."
            )));
        }
    }
    rows
}

fn table(trials: &[Trial], columns: u16) -> Vec<String> {
    let clean = |cell: String| Clean::single_line(&cell).as_str().to_owned();
    let cells: Vec<[String; 5]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(trials.iter().map(Trial::row))
        .map(|row| row.map(clean))
        .collect();
    let widest = |column: usize| cells.iter().map(|row| width(&row[column])).max();
    let widths: Vec<usize> = (0..HEAD.len()).filter_map(widest).collect();
    let whole = widths.iter().sum::<usize>() + GAP * (HEAD.len() - 1);
    if whole > usize::from(columns) {
        let rows = trials.iter().zip(&cells[1..]);
        let told = rows
            .flat_map(|(trial, cells)| rows_of(&Clean::single_line(&line(trial, cells)), columns));
        return told.collect();
    }
    cells.iter().map(|row| aligned(row, &widths)).collect()
}

/// Words from the left, seconds at the right.
fn aligned(row: &[String; 5], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, columns)) in row.iter().zip(widths).enumerate() {
        let room = " ".repeat(columns - width(cell));
        if column + 1 == widths.len() {
            line += &room;
            line += cell;
        } else {
            line += cell;
            line += &room;
            line += &" ".repeat(GAP);
        }
    }
    line
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

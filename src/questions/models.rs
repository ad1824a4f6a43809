//! Questions about models: removing one, and the result of a probe.

use super::{C, paragraph, question, row};
use crate::domain::model_catalog::format_size;
use crate::domain::probe::{DialectTrial, ProbeReport, trial_rows};
use crate::domain::{Advice, Dialect, ModelServer, Notice};
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;
use crate::text::columns::Columns;

/// Its list of models is covered by this question.
pub const REMOVE_MODEL_KIND: &str = "remove_model";

pub(super) const REMOVE_MODEL: &[ChoiceRow] = &[
    row(C::Remove, 'y', "remove", "Remove it"),
    row(C::Stop, 'n', "keep", "Keep it"),
];

pub(super) const SAVE_DIALECT: &[ChoiceRow] = &[
    row(
        C::Save,
        'y',
        "save and use",
        "Save it in config.json and use it",
    ),
    row(C::Stop, 'n', "leave as it is", "Leave the setting as it is"),
];

pub(super) const PROBE_RESULT: &[ChoiceRow] = &[row(C::Stop, 'n', "close", "Close")];

/// Whether to delete this model from the server's disk. `is_in_use`: it is the selected model.
pub fn remove_model(
    server: &ModelServer,
    name: &str,
    bytes: Option<u64>,
    is_in_use: bool,
) -> Question {
    let size = bytes.map_or_else(String::new, |bytes| format!(", {}", format_size(bytes)));
    let used = match is_in_use {
        true => "This model is in use; the next prompt will have no model to answer it. ",
        false => "",
    };
    let [name, url] = [name, &server.url].map(Clean::escaped_line);
    let blocks = vec![
        paragraph(&format!("{name}{size}\n{url}")),
        paragraph(&format!(
            "{used}Its files will be deleted from the server. Pulling it again restores them."
        )),
    ];
    question(
        REMOVE_MODEL_KIND,
        "Remove model",
        "Remove it?",
        REMOVE_MODEL,
        blocks,
    )
}

/// Shows the result of a probe and asks whether to save `to`, the recommended value of `toolCalls`, if
/// there is one.
pub fn save_dialect(report: &ProbeReport, to: Option<Dialect>) -> Question {
    let mut blocks: Vec<Block> = report.error.iter().cloned().map(Block::Notice).collect();
    blocks.push(paragraph(&report.verdict_text()));
    if !report.trials.is_empty() {
        blocks.push(table(&report.trials));
    }
    let failures: Vec<String> = report
        .failure_lines()
        .map(|text| Clean::escaped_line(&text).to_string())
        .collect();
    if !failures.is_empty() {
        blocks.push(paragraph(&failures.join("\n")));
    }
    if let Some(text) = report.recommendation_text() {
        blocks.push(paragraph(&text));
        if report.recommended_dialect() != to {
            let name = Clean::escaped_line(&report.model.name);
            let what = format!("config.json does not list {name}, so the setting cannot be saved.");
            blocks.push(Block::Notice(
                Notice::info(what).with_advice(Advice::KeepModel),
            ));
        }
    }
    let (prompt, choices) = match to {
        Some(_) => ("Save it?", SAVE_DIALECT),
        None => ("Nothing was changed.", PROBE_RESULT),
    };
    question("save_dialect", "Probe", prompt, choices, blocks)
}

fn table(trials: &[DialectTrial]) -> Block {
    let clean = |cell: String| Clean::single_line(&cell).to_string();
    let rows: Vec<_> = trial_rows(trials).map(|row| row.map(clean)).collect();
    let table = Columns::fit(&rows).right_align_last();
    let lines = trials.iter().zip(&rows[1..]);
    Block::Table {
        rows: rows
            .iter()
            .map(|row| Clean::new(&table.format_row(row)))
            .collect(),
        lines: lines
            .map(|(trial, cells)| Clean::single_line(&trial_line(trial, cells)))
            .collect(),
    }
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

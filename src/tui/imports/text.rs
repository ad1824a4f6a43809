//! The servers of another client as text. Every value comes from outside, so each is on a line of
//! its own, in quotes if it could be read in two ways.

use crate::domain::{ImportPlan, ImportSource, ServerCandidate, SkippedServer, variables_of};
use crate::text::Clean;
use crate::text::labeled::labeled_value;

/// Columns of the frame around a text.
const FRAME_COLUMNS: u16 = 4;

/// For example `3 servers, 1 skipped`.
pub fn plan_summary(plan: &ImportPlan) -> String {
    let count = plan.candidates.len();
    let plural = if count == 1 { "" } else { "s" };
    let servers = format!("{count} server{plural}");
    match plan.skipped.len() {
        0 => servers,
        skipped => format!("{servers}, {skipped} skipped"),
    }
}

/// The files of the client, on one line.
pub fn files_line(source: &ImportSource) -> String {
    let files = source.files.iter();
    let files = files.map(|file| {
        Clean::single_line(&file.to_string_lossy())
            .as_str()
            .to_owned()
    });
    files.collect::<Vec<_>>().join(", ")
}

/// The servers to add with everything that they run or reach, and those that are skipped, for a
/// screen of this width.
pub fn plan_text(files: &str, plan: &ImportPlan, columns: u16) -> String {
    let columns = columns.saturating_sub(FRAME_COLUMNS);
    let mut text = format!("From {files}\n");
    for candidate in &plan.candidates {
        text += &candidate_text(candidate, columns);
    }
    if !plan.skipped.is_empty() {
        text.push('\n');
    }
    for SkippedServer { name, reason, .. } in &plan.skipped {
        let (name, reason) = (Clean::name(name), Clean::unambiguous_line(reason));
        text += &format!("Skipped {}: {}.\n", name.as_str(), reason.as_str());
    }
    if plan.candidates.is_empty() {
        text += "\nThere is nothing to add.\n";
    }
    let variables = variables_of(&plan.candidates);
    if !variables.is_empty() {
        let names = variables.join(", ");
        text += &format!("\nSet these variables before you switch the servers on: {names}.\n");
    }
    text
}

fn candidate_text(candidate: &ServerCandidate, columns: u16) -> String {
    let name = Clean::name(&candidate.server.name);
    let mut text = format!("\n{}\n", name.as_str());
    for (label, value) in candidate.fields() {
        text += &labeled_value(label, &value, Some(columns));
    }
    text
}

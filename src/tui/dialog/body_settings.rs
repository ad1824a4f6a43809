//! Dialog bodies for edited settings files and for an outdated system prompt. Each change
//! shows the running value and the file's value, with invisible characters escaped.

use crate::domain::{ChangeImpact, SettingsChange};
use crate::text::Clean;
use crate::tui::widgets::painter::{single_line, wrapped_rows};

/// Changes listed at most.
const CHANGES_MAX: usize = 200;
/// Lines listed of one value at most.
const LINES_MAX: usize = 2_000;

pub fn settings_change_rows(changes: &[SettingsChange], columns: u16) -> Vec<String> {
    let intro = "Settings files were edited while humble is running. Changes you reject here \
                 still apply at the next start:";
    let mut rows = wrapped_rows(&Clean::single_line(intro), columns);
    let mut file = "";
    let (waiting, applied): (Vec<&SettingsChange>, Vec<&SettingsChange>) = changes
        .iter()
        .partition(|change| change.impact == ChangeImpact::NeedsConsent);
    for change in waiting.iter().take(CHANGES_MAX) {
        if change.file != file {
            file = &change.file;
            rows.push(String::new());
            rows.extend(wrapped_rows(&single_line(file), columns));
        }
        push_prefixed_rows(&mut rows, "  ", &single_line(&change.what), columns);
        push_value_rows(&mut rows, "-", change.before.as_deref(), columns);
        push_value_rows(&mut rows, "+", change.after.as_deref(), columns);
    }
    let more = waiting.len().saturating_sub(CHANGES_MAX);
    if more > 0 {
        let rest =
            format!("… and {more} more, not shown here. Read the file before you apply them.");
        rows.extend(wrapped_rows(&Clean::single_line(&rest), columns));
    }
    if !applied.is_empty() {
        rows.push(String::new());
        rows.extend(wrapped_rows(
            &Clean::from_static("Already applied:"),
            columns,
        ));
    }
    for change in applied.iter().take(CHANGES_MAX) {
        let entry = format!("{}: {}", change.file, change.what);
        push_prefixed_rows(&mut rows, "  ", &single_line(&entry), columns);
    }
    rows
}

/// The full text of the prompt that would be replaced.
pub fn replaced_prompt_rows(path: &str, text: &str, columns: u16) -> Vec<String> {
    let intro = format!("{path} teaches an outdated format for tool calls:");
    let mut rows = wrapped_rows(&single_line(&intro), columns);
    rows.push(String::new());
    push_value_rows(&mut rows, "-", Some(text), columns);
    rows.push(String::new());
    let note = "The built-in prompt would replace it. A copy stays next to it as \
                system_prompt.txt.bak, with a number added if that name is taken.";
    rows.extend(wrapped_rows(&Clean::single_line(note), columns));
    rows
}

/// The lines of a value, each behind a sign, so that no line can pass for another value.
fn push_value_rows(rows: &mut Vec<String>, sign: &str, value: Option<&str>, columns: u16) {
    let Some(value) = value else { return };
    let lead = format!("    {sign} ");
    let mut lines = value.split('\n');
    for line in lines.by_ref().take(LINES_MAX) {
        let line = match line {
            "" => Clean::single_line("(empty)"),
            line => Clean::escaped(line),
        };
        push_prefixed_rows(rows, &lead, &line, columns);
    }
    let more = lines.count();
    if more > 0 {
        let rest = format!("… {more} more lines, not shown here. Read the file first.");
        push_prefixed_rows(rows, &lead, &Clean::single_line(&rest), columns);
    }
}

/// Wraps text behind a prefix, with a hanging indent.
pub fn push_prefixed_rows(rows: &mut Vec<String>, lead: &str, text: &Clean, columns: u16) {
    let room = columns.saturating_sub(lead.chars().count() as u16).max(1);
    let blank = " ".repeat(lead.chars().count());
    for (index, row) in wrapped_rows(text, room).into_iter().enumerate() {
        let lead = if index == 0 { lead } else { &blank };
        rows.push(format!("{lead}{row}"));
    }
}

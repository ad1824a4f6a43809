//! What a dialog says about edited files: each change with what is in force before
//! it and what the file says, every sign of it made visible.

use crate::domain::{ChangeImpact, SettingsChange};
use crate::text::Clean;
use crate::tui::widgets::painter::{single_line, wrapped_rows};

/// Changes that are listed.
const CHANGES_MAX: usize = 200;
/// Lines of one value that are listed.
const LINES_MAX: usize = 2_000;

pub fn settings_change_rows(changes: &[SettingsChange], columns: u16) -> Vec<String> {
    let said = "Settings were edited while humble runs. What you keep out comes into force at \
                the next start:";
    let mut rows = wrapped_rows(&Clean::single_line(said), columns);
    let mut file = "";
    let (waiting, told): (Vec<&SettingsChange>, Vec<&SettingsChange>) = changes
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
        let said = format!("… and {more} more, which are not shown: read the file first.");
        rows.extend(wrapped_rows(&Clean::single_line(&said), columns));
    }
    if !told.is_empty() {
        rows.push(String::new());
        rows.extend(wrapped_rows(
            &Clean::from_static("These are in force already:"),
            columns,
        ));
    }
    for change in told.iter().take(CHANGES_MAX) {
        let said = format!("{}: {}", change.file, change.what);
        push_prefixed_rows(&mut rows, "  ", &single_line(&said), columns);
    }
    rows
}

/// The text that would be replaced, all of it.
pub fn replaced_prompt_rows(path: &str, text: &str, columns: u16) -> Vec<String> {
    let said = format!("{path} teaches a form of tool calls that is not used any more:");
    let mut rows = wrapped_rows(&single_line(&said), columns);
    rows.push(String::new());
    push_value_rows(&mut rows, "-", Some(text), columns);
    rows.push(String::new());
    let said = "This program's own prompt would take its place. A copy of the file is kept \
                beside it as system_prompt.txt.bak, or with a number where that is taken.";
    rows.extend(wrapped_rows(&Clean::single_line(said), columns));
    rows
}

/// The lines of a value, each behind its sign: no line of it can pass for another's.
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
        let said = format!("… {more} more lines, which are not shown: read the file first.");
        push_prefixed_rows(rows, &lead, &Clean::single_line(&said), columns);
    }
}

/// Wrapped behind a lead; further rows stand below the first one's text.
pub fn push_prefixed_rows(rows: &mut Vec<String>, lead: &str, text: &Clean, columns: u16) {
    let room = columns.saturating_sub(lead.chars().count() as u16).max(1);
    let blank = " ".repeat(lead.chars().count());
    for (index, row) in wrapped_rows(text, room).into_iter().enumerate() {
        let lead = if index == 0 { lead } else { &blank };
        rows.push(format!("{lead}{row}"));
    }
}

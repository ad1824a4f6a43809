//! Dialog bodies for edited settings files and for an outdated system prompt. Each change
//! shows the current value and the value in the file, with invisible characters escaped.

use crate::domain::{ChangeImpact, SettingsChange};
use crate::text::Clean;
use crate::tui::widgets::painter::{single_line, wrapped_rows};

/// The most changes listed.
const CHANGES_MAX: usize = 200;
/// The most lines listed per value.
const LINES_MAX: usize = 2_000;

pub fn settings_change_rows(changes: &[SettingsChange], columns: u16) -> Vec<String> {
    let intro = "Settings files were edited while humble is running. Changes you reject here \
                 still apply at the next start:";
    let mut rows = wrapped_rows(&Clean::single_line(intro), columns);
    let mut file = "";
    let (need_consent, applied): (Vec<&SettingsChange>, Vec<&SettingsChange>) = changes
        .iter()
        .partition(|change| change.impact == ChangeImpact::NeedsConsent);
    for change in need_consent.iter().take(CHANGES_MAX) {
        if change.file != file {
            file = &change.file;
            rows.push(String::new());
            rows.extend(wrapped_rows(&single_line(file), columns));
        }
        push_prefixed_rows(&mut rows, "  ", &single_line(&change.what), columns);
        push_value_rows(&mut rows, "-", change.before.as_deref(), columns);
        push_value_rows(&mut rows, "+", change.after.as_deref(), columns);
    }
    let omitted = need_consent.len().saturating_sub(CHANGES_MAX);
    if omitted > 0 {
        let note =
            format!("… and {omitted} more, not shown here. Read the file before you apply them.");
        rows.extend(wrapped_rows(&Clean::single_line(&note), columns));
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

/// Prefixes each line of a value with `sign`, so that no line can pass for a different value.
fn push_value_rows(rows: &mut Vec<String>, sign: &str, value: Option<&str>, columns: u16) {
    let Some(value) = value else { return };
    let prefix = format!("    {sign} ");
    let mut lines = value.split('\n');
    for line in lines.by_ref().take(LINES_MAX) {
        let line = match line {
            "" => Clean::single_line("(empty)"),
            line => Clean::escaped(line),
        };
        push_prefixed_rows(rows, &prefix, &line, columns);
    }
    let omitted = lines.count();
    if omitted > 0 {
        let note = format!("… {omitted} more lines, not shown here. Read the file first.");
        push_prefixed_rows(rows, &prefix, &Clean::single_line(&note), columns);
    }
}

/// Wraps text after a prefix, with a hanging indent.
pub fn push_prefixed_rows(rows: &mut Vec<String>, prefix: &str, text: &Clean, columns: u16) {
    let text_columns = columns.saturating_sub(prefix.chars().count() as u16).max(1);
    let indent = " ".repeat(prefix.chars().count());
    for (index, row) in wrapped_rows(text, text_columns).into_iter().enumerate() {
        let prefix = if index == 0 { prefix } else { &indent };
        rows.push(format!("{prefix}{row}"));
    }
}

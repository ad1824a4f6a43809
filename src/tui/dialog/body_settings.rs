//! Dialog bodies for edited settings files, an outdated system prompt and the notes folder. Each change
//! shows the current value and the value in the file, with invisible characters escaped.

use crate::domain::{ChangeImpact, SettingsChange};
use crate::text::Clean;
use crate::text::markdown::TextStyle;
use crate::tui::dialog::body_pin::{added_style, removed_style};
use crate::tui::widgets::painter::{single_line, wrapped_rows};
use crate::tui::widgets::styled_line::StyledLine;

const CHANGES_MAX: usize = 200;
/// Per value.
const LINES_MAX: usize = 2_000;

pub fn settings_change_rows(changes: &[SettingsChange], columns: u16) -> Vec<StyledLine> {
    let intro = "Settings files were edited while humble was running. Changes you reject \
                 are not used, and the next start asks again:";
    let mut rows = to_lines(wrapped_rows(&Clean::single_line(intro), columns));
    let mut file = "";
    let (need_consent, applied): (Vec<&SettingsChange>, Vec<&SettingsChange>) = changes
        .iter()
        .partition(|change| change.impact == ChangeImpact::NeedsConsent);
    for change in need_consent.iter().take(CHANGES_MAX) {
        if change.file != file {
            file = &change.file;
            rows.push(StyledLine::default());
            rows.extend(to_lines(wrapped_rows(&single_line(file), columns)));
        }
        let what = single_line(&change.what);
        push_prefixed_rows(&mut rows, "  ", &what, columns, TextStyle::default());
        push_value_rows(&mut rows, "-", change.before.as_deref(), columns);
        push_value_rows(&mut rows, "+", change.after.as_deref(), columns);
    }
    let omitted = need_consent.len().saturating_sub(CHANGES_MAX);
    if omitted > 0 {
        let note =
            format!("… and {omitted} more, not shown here. Read the file before you apply them.");
        rows.extend(to_lines(wrapped_rows(&Clean::single_line(&note), columns)));
    }
    if !applied.is_empty() {
        rows.push(StyledLine::default());
        let heading = Clean::from_static("Already applied:");
        rows.extend(to_lines(wrapped_rows(&heading, columns)));
    }
    for change in applied.iter().take(CHANGES_MAX) {
        let entry = format!("{}: {}", change.file, change.what);
        let entry = single_line(&entry);
        push_prefixed_rows(&mut rows, "  ", &entry, columns, TextStyle::default());
    }
    rows
}

/// The full path of the folder, and the use of its notes.
pub fn notes_folder_rows(
    folder: &str,
    previous: Option<&str>,
    is_new: bool,
    columns: u16,
) -> Vec<StyledLine> {
    let mut text = folder.to_owned();
    if is_new {
        text += "\n\nThis folder does not exist yet. It will be created.";
    }
    text += "\n\nIts Markdown files become your notes: prompts and tools can search them and \
             create new ones. No existing note is changed.";
    if let Some(previous) = previous {
        text += &format!("\n\nYour current notes folder is\n{previous}");
    }
    to_lines(wrapped_rows(&Clean::escaped(&text), columns))
}

/// The full text of the prompt that would be replaced.
pub fn replaced_prompt_rows(path: &str, text: &str, columns: u16) -> Vec<StyledLine> {
    let intro = format!("{path} teaches an outdated format for tool calls:");
    let mut rows = to_lines(wrapped_rows(&single_line(&intro), columns));
    rows.push(StyledLine::default());
    push_value_rows(&mut rows, "-", Some(text), columns);
    rows.push(StyledLine::default());
    let note = "The built-in prompt would replace it. A copy is kept next to it as \
                system_prompt.txt.bak, with a number added if that name is taken.";
    rows.extend(to_lines(wrapped_rows(&Clean::single_line(note), columns)));
    rows
}

/// Prefixes each line of a value with the diff sign `sign`, so that no line can be mistaken for
/// another value.
fn push_value_rows(rows: &mut Vec<StyledLine>, sign: &str, value: Option<&str>, columns: u16) {
    let Some(value) = value else { return };
    let style = match sign {
        "-" => removed_style(),
        _ => added_style(),
    };
    let prefix = format!("    {sign} ");
    let mut lines = value.split('\n');
    for line in lines.by_ref().take(LINES_MAX) {
        let line = match line {
            "" => Clean::single_line("(empty)"),
            line => Clean::unambiguous(line),
        };
        push_prefixed_rows(rows, &prefix, &line, columns, style);
    }
    let omitted = lines.count();
    if omitted > 0 {
        let note = format!("… {omitted} more, not shown here. Read the file first.");
        let note = Clean::single_line(&note);
        push_prefixed_rows(rows, &prefix, &note, columns, TextStyle::default());
    }
}

/// Wraps text after a prefix, with a hanging indent.
pub fn push_prefixed_rows(
    rows: &mut Vec<StyledLine>,
    prefix: &str,
    text: &Clean,
    columns: u16,
    style: TextStyle,
) {
    let text_columns = columns.saturating_sub(prefix.chars().count() as u16).max(1);
    let indent = " ".repeat(prefix.chars().count());
    for (index, text) in wrapped_rows(text, text_columns).into_iter().enumerate() {
        let prefix = if index == 0 { prefix } else { &indent };
        let mut row = StyledLine::default();
        row.push(format!("{prefix}{text}"), style);
        rows.push(row);
    }
}

pub fn to_lines(rows: Vec<String>) -> Vec<StyledLine> {
    rows.into_iter().map(StyledLine::from).collect()
}

//! The pages behind `a` and `?`: the choices that last, with what each covers; and all choices,
//! with everything that the server says of its tool.

use crate::domain::tool::SERVER_TEXT_HEADING;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::dialog::arguments::editable::{EditableValue, editable_values};
use crate::tui::dialog::body;
use crate::tui::dialog::state::{Dialog, DialogBody, DialogChoice};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::wrapped_rows;

/// Columns before the text of a choice.
const CHOICE_INDENT: u16 = 8;

/// What 6 to 9 cover.
pub fn lasting_choices(
    shared: SharedUiState,
    dialog: &Dialog,
    rows: &[DialogChoice],
    columns: u16,
) -> DialogBody {
    let lasting = |row: &DialogChoice| row.action.is_lasting();
    let mut body = choice_list(rows, lasting, columns);
    let heading = body::call_heading(shared, dialog);
    let note = format!(
        "For {}. Kept in trust.json until you revoke it with /trust.",
        heading.as_str().trim().replacen("   ", " on ", 1)
    );
    body.rows.push(String::new().into());
    let note = wrapped_rows(&Clean::single_line(&note), columns.saturating_sub(3).max(1));
    body.rows
        .extend(note.into_iter().map(|row| format!("  {row}").into()));
    body
}

/// All choices with their digits, then the server's own words.
pub fn details(
    shared: SharedUiState,
    dialog: &Dialog,
    rows: &[DialogChoice],
    columns: u16,
) -> DialogBody {
    let mut body = choice_list(rows, |_| true, columns);
    let Some(offered) = dialog.call() else {
        return body;
    };
    let about = body::description_rows(shared, &offered.tool, columns);
    if !about.is_empty() {
        body.rows.push(String::new().into());
        let heading = wrapped_rows(&Clean::from_static(SERVER_TEXT_HEADING), columns);
        body.rows
            .extend(heading.into_iter().chain(about).map(Into::into));
    }
    body
}

/// One choice per row, more if it wraps. The list knows which rows belong to which choice.
fn choice_list(
    rows: &[DialogChoice],
    is_shown: impl Fn(&DialogChoice) -> bool,
    columns: u16,
) -> DialogBody {
    let mut lines = Vec::new();
    let mut starts = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| is_shown(row)) {
        starts.push((index, lines.len()));
        let room = columns.saturating_sub(CHOICE_INDENT).max(1);
        let label = wrapped_rows(&Clean::single_line(&row.label), room);
        let digit = row.digit.unwrap_or(' ');
        let key = row.key.unwrap_or(' ');
        for (index, text) in label.into_iter().enumerate() {
            lines.push(match index {
                0 => format!("  {digit}  {key}  {text}"),
                _ => format!("{:1$}{text}", "", usize::from(CHOICE_INDENT)),
            });
        }
    }
    let mut body = DialogBody::from_rows(lines);
    body.choice_starts = starts;
    body
}

/// The values among the arguments, to choose the one to edit.
pub fn values(dialog: &Dialog, columns: u16) -> DialogBody {
    let arguments = dialog.drawn_arguments.get(dialog.call_index);
    let Some(arguments) = arguments.and_then(Option::as_ref) else {
        return DialogBody::default();
    };
    let values = editable_values(arguments.arguments());
    let labels = values.iter().map(|value| width(&value.label)).max();
    let label_columns = labels.unwrap_or(0).min(usize::from(columns / 2));
    let row = |(index, value): (usize, &EditableValue)| {
        let digit = match index {
            0..9 => (index + 1).to_string(),
            _ => " ".to_owned(),
        };
        let padding = " ".repeat(label_columns.saturating_sub(width(&value.label)));
        format!("  {digit}  {}{padding}  {}", value.label, value.summary)
    };
    let mut rows: Vec<String> = values.iter().enumerate().map(row).collect();
    rows.push("  0  all as JSON".to_owned());
    let fits = |row: String| truncate_to_width(&row, columns.into()).to_owned();
    let choice_starts = (0..rows.len()).map(|index| (index, index)).collect();
    DialogBody {
        choice_starts,
        ..DialogBody::from_rows(rows.into_iter().map(fits))
    }
}

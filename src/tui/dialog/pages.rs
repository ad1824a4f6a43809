//! The pages of a dialog: the lasting choices with the scope of each, all choices with the server's
//! description of its tool, and the values of the arguments, from which the user chooses one to edit.

use crate::domain::tool::SERVER_DESCRIPTION_HEADING;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::styled_line::StyledLine;
use crate::tui::dialog::arguments::editable::{EditableValue, editable_values};
use crate::tui::dialog::body;
use crate::tui::dialog::read_only_tools::ReadOnlyTools;
use crate::tui::dialog::state::{Dialog, DialogAction, DialogBody, DialogChoice};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::wrapped_rows;

/// Columns before the text of a choice.
const CHOICE_INDENT: u16 = 8;

/// Why an edited call has fewer lasting choices.
const EDITED_RUNS_ONCE: &str =
    "Edited arguments can be run only once: permissions apply to the model's.";

/// The scope and duration of the lasting choices.
pub fn lasting_choices(
    shared: SharedUiState,
    dialog: &Dialog,
    rows: &[DialogChoice],
    columns: u16,
) -> DialogBody {
    let heading = body::call_heading(shared, dialog);
    let heading = heading.as_str().trim().replacen("   ", " on ", 1);
    let heading = format!("{heading}, until you revoke it with /trust:");
    let wrapped = wrapped_rows(
        &Clean::single_line(&heading),
        columns.saturating_sub(3).max(1),
    );
    let mut above: Vec<_> = wrapped
        .into_iter()
        .map(|row| format!("  {row}").into())
        .collect();
    if dialog.is_edited() {
        let room = columns.saturating_sub(3).max(1);
        let reason = wrapped_rows(&Clean::from_static(EDITED_RUNS_ONCE), room);
        above.extend(reason.into_iter().map(|row| format!("  {row}").into()));
    }
    above.push(String::new().into());
    let lasting = |row: &DialogChoice| row.action.is_lasting();
    let scope = |row: &DialogChoice| scope(shared, dialog, row.action);
    let mut body = choice_list(rows, lasting, scope, columns);
    for (_, start) in &mut body.choice_starts {
        *start += above.len();
    }
    body.rows.splice(0..0, above);
    body
}

fn scope(shared: SharedUiState, dialog: &Dialog, action: DialogAction) -> String {
    match action {
        DialogAction::RunAlways => {
            "Any arguments, while the tool's definition and the server's command or address \
             stay the same."
                .to_owned()
        }
        DialogAction::RunServer => {
            let tools = match available_tool_count(shared, dialog) {
                Some(1) => "The one tool it offers now".to_owned(),
                Some(2) => "Both tools it offers now".to_owned(),
                Some(count) => format!("All {count} tools it offers now"),
                None => "All tools it offers now".to_owned(),
            };
            format!("{tools}, with any arguments. Tools added or changed later are not included.")
        }
        DialogAction::RunReadOnly => {
            let tools = dialog.call().and_then(|offered| {
                let call = shared.transcript.call(offered.call)?;
                ReadOnlyTools::of_call(offered, call, shared.servers)
            });
            tools.map(|tools| tools.scope()).unwrap_or_default()
        }
        DialogAction::RunMatching => {
            "This tool, only while the arguments match a pattern that you edit first.".to_owned()
        }
        DialogAction::Never => {
            "Neither run nor asked about again, even if its definition changes.".to_owned()
        }
        _ => String::new(),
    }
}

fn available_tool_count(shared: SharedUiState, dialog: &Dialog) -> Option<usize> {
    let call = shared.transcript.call(dialog.call()?.call)?;
    let server = shared
        .servers
        .iter()
        .find(|server| server.id == call.server)?;
    Some(server.available_tools().count())
}

/// All choices with their digits, then the server's description of the tool.
pub fn details(
    shared: SharedUiState,
    dialog: &Dialog,
    rows: &[DialogChoice],
    columns: u16,
) -> DialogBody {
    let mut body = choice_list(rows, |_| true, |_| String::new(), columns);
    let Some(offered) = dialog.call() else {
        return body;
    };
    let about = body::description_rows(shared, &offered.tool, columns);
    if !about.is_empty() {
        body.rows.push(String::new().into());
        let heading = wrapped_rows(&Clean::from_static(SERVER_DESCRIPTION_HEADING), columns);
        body.rows
            .extend(heading.into_iter().chain(about).map(Into::into));
    }
    body
}

/// One row per choice, or several if it wraps, with a note below. `choice_starts` records the first
/// row of each choice.
fn choice_list(
    rows: &[DialogChoice],
    is_shown: impl Fn(&DialogChoice) -> bool,
    note: impl Fn(&DialogChoice) -> String,
    columns: u16,
) -> DialogBody {
    let mut lines = Vec::new();
    let mut starts = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| is_shown(row)) {
        starts.push((index, lines.len()));
        let room = columns.saturating_sub(CHOICE_INDENT).max(1);
        let label = wrapped_rows(&Clean::single_line(&row.label), room);
        let digit = row.digit.unwrap_or(' ');
        let key = row.shown_letter().unwrap_or(' ');
        for (index, text) in label.into_iter().enumerate() {
            lines.push(match index {
                0 => format!("  {digit}  {key}  {text}").into(),
                _ => format!("{:1$}{text}", "", usize::from(CHOICE_INDENT)).into(),
            });
        }
        let note = Clean::single_line(&note(row));
        if !note.is_empty() {
            lines.extend(wrapped_rows(&note, room).into_iter().map(|text| {
                let mut line = StyledLine::default();
                line.push_dim(format!("{:1$}{text}", "", usize::from(CHOICE_INDENT)));
                line
            }));
        }
    }
    DialogBody {
        rows: lines,
        choice_starts: starts,
        ..DialogBody::default()
    }
}

/// The list of values in the arguments, to choose the one to edit.
pub fn values(dialog: &Dialog, columns: u16, more_mark: &str) -> DialogBody {
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
    let truncated = |row: String| match width(&row) <= usize::from(columns) {
        true => row,
        false => {
            let room = usize::from(columns).saturating_sub(width(more_mark));
            format!("{}{more_mark}", truncate_to_width(&row, room))
        }
    };
    let choice_starts = (0..rows.len()).map(|index| (index, index)).collect();
    DialogBody {
        choice_starts,
        ..DialogBody::from_rows(rows.into_iter().map(truncated))
    }
}

//! The body of a dialog, as rows. Untrusted text is escaped here, so that none of its characters is
//! invisible.

use crate::domain::tool::{QUOTE_PREFIX, Tool, ToolCall};
use crate::front_end::advice;
use crate::questions::rows::block_rows;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::lines::split_lines;
use crate::text::lossless_wrap::MARGIN_COLUMNS;
use crate::text::styled_line::StyledLine;
use crate::tui::dialog::arguments::DrawnArguments;
use crate::tui::dialog::state::{Dialog, DialogBody};
use crate::tui::elicitation;
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::{single_line, wrapped_rows};

/// Narrower dialogs have no left margin.
const MARGIN_DIALOG_COLUMNS_MIN: u16 = 40;
const SERVER_LINE_LABEL: &str = "The server says: ";

/// Reloads the current call's arguments. Changed arguments count as undrawn.
pub fn refresh_arguments(shared: SharedUiState, dialog: &mut Dialog) {
    let Some(offered) = dialog.call() else { return };
    let edited = dialog
        .edited_arguments
        .get(dialog.call_index)
        .and_then(Option::as_ref);
    let call = shared.transcript.call(offered.call);
    let Some(arguments) = edited.or(call.map(|call| &call.arguments)) else {
        return;
    };
    let arguments = arguments.clone();
    match dialog.drawn_arguments.get_mut(dialog.call_index) {
        Some(Some(drawn)) => drawn.update(&arguments),
        Some(drawn) => *drawn = Some(DrawnArguments::new(&arguments)),
        None => {}
    }
}

/// The body: everything the question is about.
pub fn dialog_body(
    shared: SharedUiState,
    dialog: &Dialog,
    columns: u16,
    with_heading: bool,
) -> DialogBody {
    if dialog.call().is_some() {
        return call_body(shared, dialog, columns, with_heading);
    }
    // The margin of the arguments, so that all dialogs have the same left edge.
    let margin = if columns < MARGIN_DIALOG_COLUMNS_MIN {
        0
    } else {
        MARGIN_COLUMNS
    };
    let columns = columns.saturating_sub(margin + 1).max(1);
    let mut rows = block_rows(&dialog.question.blocks, columns, advice::notice_line);
    if let Some(form) = &dialog.form {
        rows.extend(elicitation::review::value_rows(form, columns));
    }
    let heading_rows = rows.iter().take_while(|row| row.width() > 0).count();
    rows.iter_mut().for_each(|row| row.indent(margin.into()));
    DialogBody {
        rows,
        heading_rows,
        ..DialogBody::default()
    }
}

/// Tool and server of the current call, on one line.
pub fn call_heading(shared: SharedUiState, dialog: &Dialog) -> Clean {
    let Some(offered) = dialog.call() else {
        return Clean::default();
    };
    heading_of(&offered.tool.name, shared.transcript.call(offered.call))
}

pub fn heading_of(tool: &str, call: Option<&ToolCall>) -> Clean {
    let server = call.map_or_else(String::new, |call| call.server.to_string());
    let (tool, server) = (
        Clean::quoted_if_needed(tool),
        Clean::quoted_if_needed(&server),
    );
    single_line(&format!("{tool}   {server}"))
}

/// The arguments, then one line of the server's description. It comes last so that it can
/// neither push the arguments out of view nor be mistaken for them; `?` shows all of it.
fn call_body(
    shared: SharedUiState,
    dialog: &Dialog,
    columns: u16,
    with_heading: bool,
) -> DialogBody {
    let Some(offered) = dialog.call() else {
        return DialogBody::default();
    };
    let (tool, call) = (&offered.tool, shared.transcript.call(offered.call));
    let mut rows = Vec::new();
    if with_heading {
        let heading = heading_of(&tool.name, call);
        let heading = rows_with_continuation_marker(&heading, columns, shared);
        rows.extend(heading.into_iter().map(StyledLine::from));
    }
    let heading_rows = rows.len();
    if let Some(call) = call.filter(|_| !dialog.is_edited()) {
        rows.extend(warning_rows(call, columns));
    }
    let first_argument = rows.len();
    let drawn = dialog
        .drawn_arguments
        .get(dialog.call_index)
        .and_then(Option::as_ref);
    let drawn_rows = drawn.map(|drawn| drawn.rows(columns, &shared.glyphs));
    let arguments = drawn_rows.map(|drawn_rows| {
        rows.extend(drawn_rows.rows);
        (first_argument, drawn_rows.starts)
    });
    rows.extend(description_line(shared, tool, columns));
    DialogBody {
        rows,
        heading_rows,
        arguments,
        ..DialogBody::default()
    }
}

/// The differences between the model's JSON and the arguments shown, and the passage from which the call
/// may have been copied. Each row has a `!` in the margin, where arguments never have one.
fn warning_rows(call: &ToolCall, columns: u16) -> Vec<StyledLine> {
    let room = columns.saturating_sub(MARGIN_COLUMNS).max(1);
    let changes = call.json_changes.iter().map(ToString::to_string);
    let sentences = changes.chain(call.quoted_sentence());
    let rows = sentences.flat_map(|text| wrapped_rows(&Clean::unambiguous_line(&text), room));
    rows.map(|text| {
        let mut row = StyledLine::default();
        row.push_bold(format!("! {text}"));
        row
    })
    .collect()
}

/// `The server says: …`, truncated at the end of the row.
fn description_line(shared: SharedUiState, tool: &Tool, columns: u16) -> Option<StyledLine> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let mut lines = split_lines(description);
    let first = Clean::escaped(lines.next()?);
    let room = usize::from(columns).saturating_sub(width(SERVER_LINE_LABEL) + 3);
    if first.as_str().trim().is_empty() || room == 0 {
        return None;
    }
    let mut text = truncate_to_width(first.as_str(), room).to_owned();
    if text.len() < first.as_str().len() || lines.next().is_some() {
        text.push_str(shared.glyphs.more);
    }
    let mut line = StyledLine::default();
    line.push_dim(format!("{SERVER_LINE_LABEL}{text}"));
    Some(line)
}

fn rows_with_continuation_marker(text: &Clean, columns: u16, shared: SharedUiState) -> Vec<String> {
    let mut rows = wrapped_rows(text, columns);
    if rows.len() > 1 {
        let [_, marker, _] = shared.glyphs.continuations;
        let narrow = wrapped_rows(text, columns.saturating_sub(2).max(1));
        let marked = narrow
            .into_iter()
            .enumerate()
            .map(|(index, row)| match index {
                0 => row,
                _ => format!("{marker} {row}"),
            });
        rows = marked.collect();
    }
    rows
}

/// The server's description of its tool. Each row starts with our own marker.
pub fn description_rows(shared: SharedUiState, tool: &Tool, columns: u16) -> Vec<String> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let labels = annotation_labels(tool, shared.glyphs.dot);
    let mut lines: Vec<Clean> = Vec::new();
    if !description.is_empty() {
        lines.extend(split_lines(description).map(Clean::escaped));
    }
    if !labels.is_empty() {
        lines.push(Clean::single_line(&format!("{labels} (the server says)")));
    }
    let columns = columns.saturating_sub(width(QUOTE_PREFIX) as u16).max(1);
    lines
        .iter()
        .flat_map(|line| wrapped_rows(line, columns))
        .map(|row| format!("{QUOTE_PREFIX}{row}"))
        .collect()
}

/// The server's own claims about its tool: displayed, never trusted.
fn annotation_labels(tool: &Tool, dot: &str) -> String {
    tool.annotations.labels().join(&format!(" {dot} "))
}

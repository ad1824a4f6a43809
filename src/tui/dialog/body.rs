//! The body of a dialog, as rows. Untrusted text is escaped here, so that none of its characters is
//! invisible.

use crate::domain::CallId;
use crate::domain::model_catalog::format_size;
use crate::domain::tool::{QUOTE_PREFIX, Tool, ToolCall, ToolOutcome, ToolState};
use crate::protocol::Ask;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::lines::split_lines;
use crate::text::lossless_wrap::MARGIN_COLUMNS;
use crate::tui::dialog::arguments::DrawnArguments;
use crate::tui::dialog::body_settings::to_lines;
use crate::tui::dialog::state::{Dialog, DialogBody};
use crate::tui::dialog::{body_pin, body_probe, body_settings, body_unfinished, question_rows};
use crate::tui::elicitation;
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::{indented_rows, single_line, wrapped_rows};
use crate::tui::widgets::styled_line::StyledLine;

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
    if let Ask::ApproveCalls(_) = &dialog.question {
        return call_body(shared, dialog, columns, with_heading);
    }
    // The margin of the arguments, so that all dialogs have the same left edge.
    let margin = if columns < MARGIN_DIALOG_COLUMNS_MIN {
        0
    } else {
        MARGIN_COLUMNS
    };
    let columns = columns.saturating_sub(margin + 1).max(1);
    let mut rows = match &dialog.question {
        Ask::ExternalEdit(changes) => body_settings::settings_change_rows(changes, columns),
        Ask::ReplacePrompt { path, text } => {
            body_settings::replaced_prompt_rows(path, text, columns)
        }
        Ask::UseNotesFolder {
            folder,
            previous,
            is_new,
        } => body_settings::notes_folder_rows(folder, previous.as_deref(), *is_new, columns),
        Ask::PinChanged(change) => body_pin::pin_change_rows(change, columns),
        Ask::AskModel {
            server,
            request,
            model,
        } => elicitation::sampling_body::request_rows(server, request, model, columns),
        Ask::SendModelAnswer { server, answer } => {
            elicitation::sampling_body::answer_rows(server, answer, columns)
        }
        Ask::PageVisited { server, host } => elicitation::body::visited_rows(server, host, columns),
        Ask::SendInstructions { server, text } => body_pin::instruction_rows(server, text, columns),
        Ask::FillForm { server, .. } => {
            let form = dialog.form.as_ref();
            form.map_or_else(Vec::new, |form| {
                elicitation::body::form_rows(server, form, columns)
            })
        }
        Ask::VisitPage { server, page } => elicitation::body::page_rows(server, page, columns),
        _ => to_lines(plain_rows(shared, dialog, columns)),
    };
    let heading_rows = rows.iter().take_while(|row| row.width() > 0).count();
    rows.iter_mut().for_each(|row| row.indent(margin.into()));
    DialogBody {
        rows,
        heading_rows,
        ..DialogBody::default()
    }
}

fn plain_rows(shared: SharedUiState, dialog: &Dialog, columns: u16) -> Vec<String> {
    match &dialog.question {
        Ask::ApproveCalls(_)
        | Ask::ExternalEdit(_)
        | Ask::ReplacePrompt { .. }
        | Ask::UseNotesFolder { .. }
        | Ask::PinChanged(_)
        | Ask::FillForm { .. }
        | Ask::VisitPage { .. }
        | Ask::PageVisited { .. }
        | Ask::AskModel { .. }
        | Ask::SendModelAnswer { .. }
        | Ask::SendInstructions { .. } => Vec::new(),
        Ask::UnusableCall { raw, why } => {
            let text = format!("The model wrote an invalid tool call: {why}\n\n{raw}");
            wrapped_rows(&Clean::escaped(&text), columns)
        }
        Ask::ChooseServer { tool, servers, raw } => {
            question_rows::server_choice_rows(tool, servers, raw, columns)
        }
        Ask::AfterError {
            failed,
            requested_tools,
        } => failed_call_rows(shared, *failed, requested_tools, columns),
        Ask::Stalled { seconds } => {
            let text = format!("The model has sent nothing for {seconds} s.");
            wrapped_rows(&Clean::single_line(&text), columns)
        }
        Ask::RemoveModel {
            server,
            name,
            bytes,
            is_in_use,
        } => {
            let size = bytes.map_or_else(String::new, |bytes| format!(", {}", format_size(bytes)));
            let used = if *is_in_use {
                "This model is in use; the next prompt will have no model to answer it. "
            } else {
                ""
            };
            let text = format!(
                "{name}{size}\n{}\n\n{used}Its files will be deleted from the server. Pulling it again restores them.",
                server.url
            );
            wrapped_rows(&Clean::escaped(&text), columns)
        }
        Ask::RoundLimit {
            rounds,
            was_told_to_answer,
        } => {
            let text = round_limit_text(*rounds, *was_told_to_answer);
            wrapped_rows(&Clean::single_line(&text), columns)
        }
        Ask::GrowContext { .. } => wrapped_rows(
            &Clean::single_line(&context_growth_text(&dialog.question)),
            columns,
        ),
        Ask::UnfinishedTurn(turn) => body_unfinished::unfinished_rows(turn, columns),
        Ask::ConfirmDiscard { prompt } => body_unfinished::discard_rows(prompt, columns),
        Ask::SaveDialect { report, to } => body_probe::report_rows(report, *to, columns),
    }
}

fn round_limit_text(rounds: u32, was_told_to_answer: bool) -> String {
    match (was_told_to_answer, rounds) {
        (true, _) => "The model was asked to answer now, but still calls tools.".to_owned(),
        (false, 1) => "The model has called tools in 1 round of this turn.".to_owned(),
        (false, _) => format!("The model has called tools in {rounds} rounds of this turn."),
    }
}

fn context_growth_text(question: &Ask) -> String {
    match question {
        Ask::GrowContext { estimate, from, to } => format!(
            "The request takes about {estimate} tokens, but the context holds {from}. With {to}, the model is reloaded, needs more memory and runs slower."
        ),
        _ => String::new(),
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
        rows = to_lines(rows_with_continuation_marker(&heading, columns, shared));
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

/// The failed call and the tools the model calls next. Names come first, because an error
/// text has no length limit.
fn failed_call_rows(
    shared: SharedUiState,
    failed: CallId,
    requested_tools: &[String],
    columns: u16,
) -> Vec<String> {
    let call = shared.transcript.call(failed);
    let tool = call.map_or("A call", |call| call.tool.as_str());
    let mut rows = wrapped_rows(&heading_of(tool, call), columns);
    rows.push(String::new());
    let wanted = format!(
        "It failed. The model now wants to call: {}",
        requested_tools.join(", ")
    );
    rows.extend(wrapped_rows(&single_line(&wanted), columns));
    rows.extend([String::new(), "Error:".to_owned()]);
    rows.extend(indented_rows(&error_text(call), columns));
    rows.extend([String::new(), "Arguments:".to_owned()]);
    rows.extend(indented_rows(&arguments_json(call), columns));
    rows
}

fn error_text(call: Option<&ToolCall>) -> String {
    let Some(ToolState::Done(outcome)) = call.map(|call| &call.state) else {
        return String::new();
    };
    match outcome {
        ToolOutcome::Failed { text, .. } => text.clone(),
        ToolOutcome::Unreachable { why, .. } => why.clone(),
        ToolOutcome::TimedOut { elapsed } => {
            format!("No result arrived within {} s.", elapsed.as_secs())
        }
        _ => String::new(),
    }
}

fn arguments_json(call: Option<&ToolCall>) -> String {
    let arguments = call.map(|call| serde_json::to_string_pretty(&call.arguments));
    arguments.and_then(Result::ok).unwrap_or_default()
}

/// The server's own claims about its tool: displayed, never trusted.
fn annotation_labels(tool: &Tool, dot: &str) -> String {
    tool.annotations.labels().join(&format!(" {dot} "))
}

//! The body of a question as plain rows, for output without the screen.

use crate::domain::ServerId;
use crate::protocol::{Ask, SERVER_CHOICES_MAX};
use crate::text::Clean;
use crate::tui::dialog::{body_pin, body_probe, body_settings, body_unfinished};
use crate::tui::widgets::painter::wrapped_rows;
use crate::tui::widgets::styled_line::StyledLine;

/// The rows to be read before the question is answered. Empty if the question itself says everything,
/// and for calls and requests of servers, which have their own texts.
pub fn question_rows(question: &Ask, columns: u16) -> Vec<String> {
    let columns = columns.max(1);
    let text_of = |rows: Vec<StyledLine>| rows.iter().map(StyledLine::text).collect();
    match question {
        Ask::ExternalEdit(changes) => {
            text_of(body_settings::settings_change_rows(changes, columns))
        }
        Ask::ReplacePrompt { path, text } => {
            text_of(body_settings::replaced_prompt_rows(path, text, columns))
        }
        Ask::UseNotesFolder {
            folder,
            previous,
            is_new,
        } => text_of(body_settings::notes_folder_rows(
            folder,
            previous.as_deref(),
            *is_new,
            columns,
        )),
        Ask::PinChanged(change) => text_of(body_pin::pin_change_rows(change, columns)),
        Ask::SendInstructions { server, text } => {
            text_of(body_pin::instruction_rows(server, text, columns))
        }
        Ask::UnfinishedTurn(turn) => body_unfinished::unfinished_rows(turn, columns),
        Ask::ConfirmDiscard { prompt } => body_unfinished::discard_rows(prompt, columns),
        Ask::SaveDialect { report, to } => body_probe::report_rows(report, *to, columns),
        Ask::UnusableCall { raw, why } => {
            let text = format!("The model wrote an invalid tool call: {why}\n{raw}");
            wrapped_rows(&Clean::escaped(&text), columns)
        }
        Ask::ChooseServer { tool, servers, raw } => server_choice_rows(tool, servers, raw, columns),
        Ask::AfterError {
            requested_tools, ..
        } => {
            let text = format!(
                "The model now wants to call: {}",
                requested_tools.join(", ")
            );
            wrapped_rows(&Clean::single_line(&text), columns)
        }
        _ => Vec::new(),
    }
}

/// The servers that can be chosen, and the call as the model wrote it.
pub fn server_choice_rows(
    tool: &str,
    servers: &[ServerId],
    raw: &str,
    columns: u16,
) -> Vec<String> {
    let tool = Clean::name(tool);
    let text = format!("Several servers have {tool}, and the model named none of them:");
    let mut rows = wrapped_rows(&Clean::single_line(&text), columns);
    for (index, server) in servers.iter().take(SERVER_CHOICES_MAX).enumerate() {
        let text = format!("{}  {}", index + 1, Clean::name(server.as_str()));
        rows.extend(wrapped_rows(&Clean::single_line(&text), columns));
    }
    rows.push(String::new());
    rows.extend(wrapped_rows(&Clean::escaped(raw), columns));
    rows
}

//! Text of a dialog: body rows, question and footer. Text from outside is escaped here, so
//! that no character of it stays invisible.

use crate::domain::CallId;
use crate::domain::model_catalog::size_words;
use crate::domain::schema::UNCHECKED;
use crate::domain::tool::{CallOrigin, QUOTE, SERVER_SAYS, Tool, ToolCall, ToolOutcome, ToolState};
use crate::protocol::Ask;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::lines::split_lines;
use crate::tui::dialog::arguments::Argued;
use crate::tui::dialog::state::{Body, OpenAsk, Row};
use crate::tui::dialog::{body_pin, body_probe, body_settings, body_unfinished};
use crate::tui::layer::Shared;
use crate::tui::widgets::painter::{indented, one_line, rows_of};

/// The parts of a dialog that never scroll.
pub struct Words {
    pub title: &'static str,
    pub question: &'static str,
    pub rows: Vec<Row>,
    pub footer: String,
}

pub fn words(shared: Shared, ask: &OpenAsk) -> Words {
    let (title, question) = match &ask.question {
        Ask::Approve(_) => ("Tool call", "Call now? (Y/N)"),
        Ask::Repair { .. } | Ask::AfterError { .. } => ("Tool call", "What now?"),
        Ask::Stalled { .. } => ("No answer", "Keep waiting?"),
        Ask::Bound { .. } => ("Round limit", "Continue?"),
        Ask::GrowContext { .. } => ("Context", "Enlarge the context?"),
        Ask::AddModel { .. } => ("Add model", "Add it?"),
        Ask::RemoveModel { .. } => ("Remove model", "Remove it?"),
        Ask::StoreDialect { to: Some(_), .. } => ("Probe", "Store it?"),
        Ask::StoreDialect { to: None, .. } => ("Probe", "Nothing was changed."),
        Ask::OutsideEdit(_) => ("Settings changed", "Apply the changes?"),
        Ask::ReplacePrompt { .. } => ("System prompt", "Replace it?"),
        Ask::Unfinished(_) => ("Unfinished turn", "Resume it?"),
        Ask::Discard { .. } => ("Unfinished turn", "Discard it?"),
        Ask::PinChanged(_) => ("Tool changed", "The tool is withheld until you decide."),
        Ask::Instructions { .. } => ("Instructions", "Send them to the model?"),
    };
    Words {
        title,
        question,
        rows: ask.rows(shared.transcript),
        footer: footer(shared, ask),
    }
}

/// Reloads the current call's arguments. Changed arguments count as undrawn.
pub fn renew_arguments(shared: Shared, ask: &mut OpenAsk) {
    let Some(offered) = ask.call() else { return };
    let edited = ask.edited.get(ask.at).and_then(Option::as_ref);
    let call = shared.transcript.call(offered.call);
    let Some(arguments) = edited.or(call.map(|call| &call.arguments)) else {
        return;
    };
    let arguments = arguments.clone();
    match ask.argued.get_mut(ask.at) {
        Some(Some(argued)) => argued.renew(&arguments),
        Some(argued) => *argued = Some(Argued::new(&arguments)),
        None => {}
    }
}

/// The body: everything the question is about.
pub fn body(shared: Shared, ask: &OpenAsk, columns: u16) -> Body {
    if let Ask::Approve(_) = &ask.question {
        return call_body(shared, ask, columns);
    }
    Body {
        rows: rows(shared, ask, columns),
        head: 1,
        arguments: None,
    }
}

fn rows(shared: Shared, ask: &OpenAsk, columns: u16) -> Vec<String> {
    match &ask.question {
        Ask::Approve(_) => Vec::new(),
        Ask::Repair { raw, why } => {
            let text = format!("The model wrote an invalid tool call: {why}\n\n{raw}");
            rows_of(&Clean::escaped(&text), columns)
        }
        Ask::AfterError { failed, wanted } => failed_rows(shared, *failed, wanted, columns),
        Ask::Stalled { seconds } => {
            let text = format!("The model has sent nothing for {seconds} s.");
            rows_of(&Clean::single_line(&text), columns)
        }
        Ask::AddModel { server, name } => {
            let text = format!(
                "{} has {name}. config.json does not list it yet.",
                server.url
            );
            rows_of(&Clean::escaped(&text), columns)
        }
        Ask::RemoveModel {
            server,
            name,
            bytes,
            is_in_use,
        } => {
            let size = bytes.map_or_else(String::new, |bytes| format!(", {}", size_words(bytes)));
            let used = if *is_in_use {
                "This model is in use; the next prompt will have no model to answer it. "
            } else {
                ""
            };
            let text = format!(
                "{name}{size}\n{}\n\n{used}Its files are deleted from the server. Pulling it again restores them.",
                server.url
            );
            rows_of(&Clean::escaped(&text), columns)
        }
        Ask::Bound { rounds, again } => {
            let text = if *again {
                "The model was asked to answer now, but still calls tools.".to_owned()
            } else {
                format!("The model has called tools in {rounds} rounds of this turn.")
            };
            rows_of(&Clean::single_line(&text), columns)
        }
        Ask::GrowContext { .. } => {
            rows_of(&Clean::single_line(&context_words(&ask.question)), columns)
        }
        Ask::Unfinished(turn) => body_unfinished::rows(turn, columns),
        Ask::Discard { prompt } => body_unfinished::discarded(prompt, columns),
        Ask::StoreDialect { report, to } => body_probe::rows(report, *to, columns),
        Ask::OutsideEdit(changes) => body_settings::change_rows(changes, columns),
        Ask::ReplacePrompt { path, text } => body_settings::prompt_rows(path, text, columns),
        Ask::PinChanged(change) => body_pin::change_rows(change, columns),
        Ask::Instructions { server, text } => body_pin::instruction_rows(server, text, columns),
    }
}

/// Why the conversation does not fit, and the cost of a larger context.
fn context_words(question: &Ask) -> String {
    match question {
        Ask::GrowContext { estimate, from, to } => format!(
            "The request takes about {estimate} tokens, but the context holds {from}. With {to}, the model is reloaded, needs more memory and runs slower."
        ),
        _ => String::new(),
    }
}

/// Tool and server of the current call, on one line.
pub fn head(shared: Shared, ask: &OpenAsk) -> Clean {
    let Some(offered) = ask.call() else {
        return Clean::default();
    };
    head_of(&offered.tool.name, shared.transcript.call(offered.call))
}

pub fn head_of(tool: &str, call: Option<&ToolCall>) -> Clean {
    let server = call.map_or_else(String::new, |call| call.server.to_string());
    let (tool, server) = (
        Clean::quoted_if_needed(tool),
        Clean::quoted_if_needed(&server),
    );
    one_line(&format!("{tool}   {server}"))
}

/// Tool name, then arguments, then the server's description. The description comes last so
/// that it can neither push the arguments out of view nor pass for them.
fn call_body(shared: Shared, ask: &OpenAsk, columns: u16) -> Body {
    let Some(offered) = ask.call() else {
        return Body::default();
    };
    let (tool, call) = (&offered.tool, shared.transcript.call(offered.call));
    let mut rows = joined_rows(&head_of(&tool.name, call), columns, shared);
    let head = rows.len();
    let argued = ask.argued.get(ask.at).and_then(Option::as_ref);
    let laid = argued.map(|argued| argued.rows(columns, &shared.glyphs));
    let arguments = laid.map(|laid| {
        rows.extend(laid.rows);
        (head, laid.starts)
    });
    let about = about_rows(shared, tool, columns);
    if !about.is_empty() {
        rows.extend(rows_of(&Clean::from_static(SERVER_SAYS), columns));
        rows.extend(about);
    }
    Body {
        rows,
        head,
        arguments,
    }
}

/// Wraps text and marks every row after the first with a continuation sign.
fn joined_rows(text: &Clean, columns: u16, shared: Shared) -> Vec<String> {
    let mut rows = rows_of(text, columns);
    if rows.len() > 1 {
        let [_, sign, _] = shared.glyphs.joints;
        let narrow = rows_of(text, columns.saturating_sub(2).max(1));
        let signed = narrow
            .into_iter()
            .enumerate()
            .map(|(index, row)| match index {
                0 => row,
                _ => format!("{sign} {row}"),
            });
        rows = signed.collect();
    }
    rows
}

/// The server's description of its tool, each row behind our own sign.
fn about_rows(shared: Shared, tool: &Tool, columns: u16) -> Vec<String> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let manners = manners(tool, shared.glyphs.dot);
    let mut lines: Vec<Clean> = Vec::new();
    if !description.is_empty() {
        lines.extend(split_lines(description).map(Clean::escaped));
    }
    if !manners.is_empty() {
        lines.push(Clean::single_line(&format!("{manners} (the server says)")));
    }
    let columns = columns.saturating_sub(width(QUOTE) as u16).max(1);
    lines
        .iter()
        .flat_map(|line| rows_of(line, columns))
        .map(|row| format!("{QUOTE}{row}"))
        .collect()
}

/// The failed call and the tools the model calls next. Names come first, because an error
/// text has no length limit.
fn failed_rows(shared: Shared, failed: CallId, wanted: &[String], columns: u16) -> Vec<String> {
    let call = shared.transcript.call(failed);
    let tool = call.map_or("A call", |call| call.tool.as_str());
    let mut rows = rows_of(&head_of(tool, call), columns);
    let wanted = format!(
        "It failed. The model now wants to call: {}",
        wanted.join(", ")
    );
    rows.extend(rows_of(&one_line(&wanted), columns));
    rows.extend([String::new(), "Error:".to_owned()]);
    rows.extend(indented(&error_of(call), columns));
    rows.extend([String::new(), "Arguments:".to_owned()]);
    rows.extend(indented(&arguments(call), columns));
    rows
}

fn error_of(call: Option<&ToolCall>) -> String {
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

fn arguments(call: Option<&ToolCall>) -> String {
    let arguments = call.map(|call| serde_json::to_string_pretty(&call.arguments));
    arguments.and_then(Result::ok).unwrap_or_default()
}

/// The server's own claims about its tool: displayed, never trusted.
fn manners(tool: &Tool, dot: &str) -> String {
    tool.annotations.words().join(&format!(" {dot} "))
}

/// The most important parts come first, because a narrow screen cuts off the end.
fn footer(shared: Shared, ask: &OpenAsk) -> String {
    let call = ask
        .call()
        .and_then(|offered| shared.transcript.call(offered.call));
    let mut parts = Vec::new();
    let count = ask.calls().len();
    if count > 1 {
        parts.push(format!("{} of {count}", ask.at + 1));
    }
    if ask.edited.get(ask.at).is_some_and(Option::is_some) {
        parts.push("edited".to_owned());
    }
    if let Some(quoted) = call.and_then(|call| call.quoted) {
        parts.push(quoted.words().to_owned());
    }
    if call.is_some_and(|call| call.is_unchecked) {
        parts.push(UNCHECKED.to_owned());
    }
    if call.is_some_and(|call| call.repeats.is_some()) {
        parts.push("same call as before".to_owned());
    }
    if let Some(CallOrigin::Text { form, repaired }) = call.map(|call| &call.origin) {
        let how = if *repaired {
            "recovered from text, repaired"
        } else {
            "recovered from text"
        };
        parts.push(format!("{how} ({form})"));
    }
    parts.join(&format!(" {} ", shared.glyphs.dot))
}

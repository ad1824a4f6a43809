//! A call as text: its arguments in a few lines, the preview in the unfolded row, and the full call.

use crate::domain::tool::{ToolCall, ToolOutcome, ToolState};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use std::borrow::Cow;

/// Maximum number of arguments shown for an auto-approved call, one line each.
const ARGUMENTS_MAX: usize = 8;
/// Limits for each text of an unfolded call in the chat.
const UNFOLDED_LINES_MAX: usize = 60;
const UNFOLDED_BYTES_MAX: usize = 12_000;

/// `key: value` lines truncated to `columns`. Control characters are escaped, so no value
/// can imitate or hide another line.
pub fn argument_lines(call: &ToolCall, columns: usize) -> String {
    let arguments = &call.arguments;
    let argument_rows = arguments.keys().take(ARGUMENTS_MAX).map(|key| {
        let value = arguments.member_json(key);
        let line = format!("{}: {value}", key.replace('\n', " "));
        // Clusters rarely exceed 16 bytes per column. Cut off text far beyond the edge before
        // cleaning the line.
        let line = &line[..line.floor_char_boundary(columns * 16)];
        let line = Clean::escaped(line);
        if width(line.as_str()) <= columns {
            return line.as_str().to_owned();
        }
        format!("{}…", truncate_to_width(line.as_str(), columns - 1))
    });
    let mut lines: Vec<String> = argument_rows.collect();
    if arguments.len() > ARGUMENTS_MAX {
        lines.push(format!("… {} more", arguments.len() - ARGUMENTS_MAX));
    }
    lines.join("\n")
}

/// The beginning of each section of an unfolded call. The text viewer shows the full sections.
pub fn unfolded_call_text(call: &ToolCall) -> String {
    let mut text = String::new();
    for (heading, section) in call_sections(call) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(heading);
        text.push('\n');
        let preview = truncate_preview(&section);
        text.push_str(preview.trim_end_matches('\n'));
        let rest = section.len() - preview.len();
        if rest > 0 {
            text.push_str(&format!("\n… {} more in the full call", format_bytes(rest)));
        }
    }
    text
}

/// The part of a call's result that the unfolded call does not show.
pub fn hidden_result(call: &ToolCall) -> &str {
    let result = result_text(call).unwrap_or_default();
    &result[truncate_preview(result).len()..]
}

fn truncate_preview(text: &str) -> &str {
    let start = &text[..text.floor_char_boundary(UNFOLDED_BYTES_MAX)];
    let mut line_ends = start.match_indices('\n').map(|(index, _)| index);
    let end = line_ends.nth(UNFOLDED_LINES_MAX - 1).unwrap_or(start.len());
    &start[..end]
}

fn format_bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// The full raw text of a call, and the byte offset of the last section's content: the result, or
/// else the saved files or the arguments. The copy key copies from this offset on.
pub fn full_call_text(call: &ToolCall) -> (String, usize) {
    let (mut text, mut last_section_start) = (String::new(), 0);
    for (heading, section) in call_sections(call) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(heading);
        text.push('\n');
        last_section_start = text.len();
        text.push_str(&section);
    }
    (text, last_section_start)
}

/// What copying a call copies, with its heading: the result or the reason why there is none. Without
/// either, for example after a timeout, the files or arguments.
pub fn copied_section(call: &ToolCall) -> (&'static str, Cow<'_, str>) {
    let last = call_sections(call).pop();
    last.expect("every call has arguments")
}

fn call_sections(call: &ToolCall) -> Vec<(&'static str, Cow<'_, str>)> {
    let pretty = |arguments| serde_json::to_string_pretty(arguments).unwrap_or_default();
    let mut sections = Vec::new();
    if let Some(original) = &call.original {
        sections.push(("original arguments", pretty(original).into()));
    }
    sections.push(("arguments", pretty(&call.arguments).into()));
    if !call.saved_files.is_empty() {
        let paths = call.saved_files.iter().map(|path| path.to_string_lossy());
        sections.push(("saved files", paths.collect::<Vec<_>>().join("\n").into()));
    }
    if !call.user_text.is_empty() {
        sections.push(("only for you", (&*call.user_text).into()));
    }
    sections.extend(result_text(call).map(|result| ("result", result.into())));
    sections
}

/// The result of a call, or why there is none.
fn result_text(call: &ToolCall) -> Option<&str> {
    let ToolState::Done(outcome) = &call.state else {
        return None;
    };
    match outcome {
        ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => Some(text),
        ToolOutcome::Unreachable { why, .. } | ToolOutcome::NotRun { why } => Some(why),
        ToolOutcome::Denied { message } => message.as_deref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::tool_call;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn the_result_is_copied_if_there_is_one_and_otherwise_the_arguments() {
        let mut call = tool_call("files", "read", json!({ "path": "a" }));
        let elapsed = Duration::from_secs(1);
        let refused = ToolOutcome::Denied {
            message: Some("Not that one.".to_owned()),
        };
        for (outcome, expected) in [
            (ToolOutcome::TimedOut { elapsed }, "arguments"),
            (refused, "result"),
        ] {
            call.state = ToolState::Done(outcome);
            assert_eq!(copied_section(&call).0, expected);
        }
    }
}

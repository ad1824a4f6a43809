//! Text for standard error: calls with all arguments, sanitized here, and outcomes, which the
//! caller must sanitize.

use crate::domain::schema::UNCHECKED_LABEL;
use crate::domain::tool::{QUOTE_PREFIX, SERVER_DESCRIPTION_HEADING, Tool};
use crate::domain::{ToolCall, ToolOutcome};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::lines::split_lines;
use crate::text::lossless_wrap::{MARGIN_COLUMNS, lossless_rows};
use crate::text::wrap::wrap;
use std::num::NonZeroU16;
use std::time::Duration;

const CONTINUATION_MARKS: [&str; 3] = [":", "\\", "/"];
/// Prefix of rows about changes that parsing made to the arguments. No row of a call begins with it.
const CHANGE_PREFIX: &str = "! ";
/// Maximum number of rows of a tool's description; more would push the arguments out of sight.
const DESCRIPTION_ROWS_MAX: usize = 12;

/// A call with every argument, for standard error. Rows are wrapped to `columns` here: if
/// the terminal wrapped them, arbitrary text could start a row.
pub fn call_summary(call: &ToolCall, columns: Option<u16>) -> String {
    let (tool, server) = (
        Clean::quoted_if_needed(&call.tool),
        Clean::quoted_if_needed(call.server.as_str()),
    );
    let mut lines = wrap_line(&format!("Tool call: {tool} on {server}"), columns, "");
    if let Some(quoted) = call.quoted {
        let reason = quoted.clause();
        lines.push(format!(
            "  (it {reason}, so it needs approval in every mode)"
        ));
    }
    if let Some(sentence) = call.quoted_sentence() {
        let sentence = format!("  {}", Clean::unambiguous_line(&sentence));
        lines.extend(wrap_line(&sentence, columns, "  "));
    }
    if call.is_unchecked {
        lines.push(format!("  ({UNCHECKED_LABEL}: the server decides)"));
    }
    lines.extend(argument_rows(call, columns));
    lines.join("\n")
}

/// Every argument, losslessly: the rows can be parsed back into the arguments.
fn argument_rows(call: &ToolCall, columns: Option<u16>) -> Vec<String> {
    let line = |key: &String| {
        let value = call.arguments.member_json(key);
        let key = match key.contains([':', '\\']) {
            true => Clean::unambiguous(&serde_json::Value::from(key.as_str()).to_string()),
            false => Clean::quoted_if_needed(key),
        };
        let value = Clean::unambiguous(&value);
        wrap_line(&format!("{key}: {value}"), columns, "  ")
    };
    call.arguments.keys().flat_map(line).collect()
}

fn wrap_line(line: &str, columns: Option<u16>, indent: &str) -> Vec<String> {
    let Some(columns) = columns else {
        return vec![format!("{indent}{line}")];
    };
    let mut rows = lossless_rows(line, columns, CONTINUATION_MARKS).rows;
    if let Some(first) = rows.first_mut() {
        *first = format!("{indent}{}", &first[usize::from(MARGIN_COLUMNS)..]);
    }
    rows
}

/// A call as shown in an approval question: the differences between its arguments and the model's JSON,
/// with a mark on every row; the arguments; the server's description of the tool, with a mark on every
/// row; and a line that locates the arguments above it.
pub fn approval_text(call: &ToolCall, tool: &Tool, columns: u16) -> String {
    let mut rows = change_rows(call, columns);
    rows.push(call_summary(call, Some(columns)));
    let description = description_rows(tool, columns);
    if !description.is_empty() {
        rows.push(SERVER_DESCRIPTION_HEADING.to_owned());
        rows.extend(description);
        rows.push(match argument_rows(call, Some(columns)).len() {
            0 => "It has no arguments.".to_owned(),
            1 => "Its arguments are the row above the description.".to_owned(),
            count => format!("Its arguments are the {count} rows above the description."),
        });
    }
    rows.join("\n")
}

fn change_rows(call: &ToolCall, columns: u16) -> Vec<String> {
    let columns = columns.saturating_sub(width(CHANGE_PREFIX) as u16);
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let sentences = call.json_changes.iter().map(ToString::to_string);
    let rows = sentences.flat_map(|sentence| {
        let line = Clean::unambiguous_line(&sentence);
        let rows = wrap(line.as_str(), columns).into_iter();
        let rows = rows.map(|row| format!("{CHANGE_PREFIX}{}", line.as_str()[row].trim_end()));
        rows.collect::<Vec<_>>()
    });
    rows.collect()
}

fn description_rows(tool: &Tool, columns: u16) -> Vec<String> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let lines = split_lines(description).filter(|line| !line.trim().is_empty());
    let mut lines: Vec<Clean> = lines
        .take(DESCRIPTION_ROWS_MAX + 1)
        .map(Clean::escaped)
        .collect();
    let behavior = tool.annotations.labels().join(", ");
    if !behavior.is_empty() {
        lines.insert(0, Clean::single_line(&behavior));
    }
    let columns = columns.saturating_sub(width(QUOTE_PREFIX) as u16);
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let rows = lines.iter().flat_map(|line| {
        let rows = wrap(line.as_str(), columns).into_iter();
        // The terminal would wrap trailing spaces beyond its width.
        rows.map(|row| format!("{QUOTE_PREFIX}{}", line.as_str()[row].trim_end()))
    });
    let mut rows: Vec<String> = rows.take(DESCRIPTION_ROWS_MAX + 1).collect();
    if rows.len() > DESCRIPTION_ROWS_MAX {
        rows.truncate(DESCRIPTION_ROWS_MAX - 1);
        rows.push(format!(
            "{QUOTE_PREFIX}… (`humble mcp tools` shows the rest)"
        ));
    }
    rows
}

pub fn outcome_text(outcome: &ToolOutcome) -> String {
    let seconds = |elapsed: &Duration| format!("{:.1} s", elapsed.as_secs_f64());
    match outcome {
        ToolOutcome::Succeeded { elapsed, .. } => format!("ok, {}", seconds(elapsed)),
        ToolOutcome::Failed { text, elapsed } => format!("failed, {}: {text}", seconds(elapsed)),
        ToolOutcome::Unreachable { why, .. } => format!("no answer: {why}"),
        ToolOutcome::TimedOut { elapsed } => format!("no answer in {}", seconds(elapsed)),
        ToolOutcome::Refused => "refused".to_owned(),
        ToolOutcome::Denied { .. } => "denied".to_owned(),
        ToolOutcome::Never => "not run: you blocked this tool".to_owned(),
        ToolOutcome::Interrupted => "interrupted".to_owned(),
        ToolOutcome::Cancelled { elapsed } => format!("cancelled after {}", seconds(elapsed)),
        ToolOutcome::Left { elapsed } => format!("left running after {}", seconds(elapsed)),
        ToolOutcome::Reused { .. } => "reused the earlier result".to_owned(),
        ToolOutcome::NotRun { why } => format!("not run: {why}"),
        ToolOutcome::WasText => "treated as text".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{tool_call, tool_from};
    use crate::text::json_changes::JsonChange;
    use serde_json::json;

    fn call(tool: &str, arguments: serde_json::Value) -> ToolCall {
        tool_call("files", tool, arguments)
    }

    fn tool(description: &str) -> Tool {
        let definition = json!({
            "name": "write", "description": description, "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true },
        });
        tool_from(&definition)
    }

    #[test]
    fn differences_from_the_models_json_come_first() {
        let mut call = call("write", json!({ "path": "b" }));
        let key = "path\n  path: \"c\"".to_owned();
        let change = JsonChange::RepeatedKey { key, count: 2 };
        call.json_changes = vec![change].into();
        let text = approval_text(&call, &tool("write"), 40);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].starts_with("! The model wrote \"path"), "{text}");
        let differences = rows.iter().take_while(|row| row.starts_with("! "));
        assert_eq!(
            rows[differences.count()],
            "Tool call: write on files",
            "{text}"
        );
    }

    #[test]
    fn a_long_description_does_not_push_the_arguments_out_of_sight() {
        let write_call = call("write", json!({ "path": "/etc/passwd", "text": "x y" }));
        let fake_rows = "Writes.\nTool call: write on files\n  path: \"notes.txt\"";
        for description in [
            format!("{fake_rows}{}", "\n".repeat(500)),
            format!("{fake_rows}{}", "\n.".repeat(500)),
            format!("{}{fake_rows}", "wide words ".repeat(5_000)),
            format!("x\r\u{85}\u{2028}{fake_rows}\u{202e}{}", " ".repeat(9_000)),
        ] {
            let text = approval_text(&write_call, &tool(&description), 80);
            let rows: Vec<&str> = text.lines().collect();
            assert_eq!(
                rows[..4],
                [
                    "Tool call: write on files",
                    "  path: \"/etc/passwd\"",
                    "  text: \"x y\"",
                    SERVER_DESCRIPTION_HEADING,
                ]
            );
            assert!(rows.len() < 20, "{text}");
            assert_eq!(
                rows[rows.len() - 1],
                "Its arguments are the 2 rows above the description."
            );
            for row in &rows[4..rows.len() - 1] {
                assert!(row.starts_with(QUOTE_PREFIX) && width(row) <= 80, "{row:?}");
                assert!(!row.contains('\u{202e}'), "{row:?}");
            }
        }
    }

    #[test]
    fn no_name_key_or_value_can_start_an_unmarked_row() {
        let gap = " ".repeat(300);
        let hostile = call(
            &format!("read{gap}{SERVER_DESCRIPTION_HEADING}"),
            json!({
                format!("a\n{SERVER_DESCRIPTION_HEADING}"): 1,
                format!("{gap}{SERVER_DESCRIPTION_HEADING}"): "x",
                "b: 1": format!("{}{gap}Call now? (Y/N)", "y".repeat(70)),
                "c\u{202e}": "\u{202e}⟨U+202E⟩",
            }),
        );
        for columns in [20, 80, 200] {
            let text = approval_text(&hostile, &tool("About it."), columns);
            for row in text.lines().skip(1) {
                let is_ours =
                    row == SERVER_DESCRIPTION_HEADING || row.starts_with("Its arguments are");
                let is_marked = row.starts_with("  ")
                    || CONTINUATION_MARKS.iter().any(|mark| row.starts_with(mark));
                assert!(is_ours || is_marked, "{row:?} in\n{text}");
                assert!(is_ours || width(row) <= usize::from(columns), "{row:?}");
            }
            assert_eq!(
                text.lines()
                    .filter(|row| *row == SERVER_DESCRIPTION_HEADING)
                    .count(),
                1,
                "{text}"
            );
        }
        let line = call_summary(&hostile, None);
        assert_eq!(line.lines().count(), 5, "{line}");
        assert!(line.contains("⟨U+202E⟩⟨U+27E8⟩U+202E⟩"), "{line}");
    }

    #[test]
    fn a_megabyte_argument_is_printed_in_full() {
        let value = "x".repeat(1 << 20);
        let long = call("write", json!({ "a": value }));
        let text = approval_text(&long, &tool("Writes."), 80);
        assert_eq!(text.matches('x').count(), 1 << 20);
        assert!(
            text.ends_with("Its arguments are the 13444 rows above the description."),
            "{}",
            &text[text.len() - 80..]
        );
    }
}

//! Dialog bodies for an unfinished turn: the prompt, its tool calls and the partial answer.
//! All of it comes from a file, so invisible characters are escaped.

use crate::protocol::{CameTo, LeftCall, Unfinished};
use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::widgets::painter::{indented, one_line, rows_of};
use jiff::tz::TimeZone;

/// Columns shown of a prompt or a partial answer.
const WIDTH_MAX: usize = 1_200;
/// Columns shown of a call's arguments.
const ARGUMENTS_MAX: usize = 8_000;
/// Calls listed at most.
const CALLS_MAX: usize = 100;

pub fn rows(turn: &Unfinished, columns: u16) -> Vec<String> {
    let at = turn.at.map_or_else(String::new, |at| {
        let local = at.to_zoned(TimeZone::system());
        format!(" ({})", local.strftime("%d %b %H:%M"))
    });
    let came_to = |wanted: &CameTo| turn.calls.iter().any(|call| call.came_to == *wanted);
    let intro = if came_to(&CameTo::Running) {
        format!("humble ended while a tool call of this turn{at} was running.")
    } else if came_to(&CameTo::Awaiting) {
        format!("humble ended while a tool call of this turn{at} awaited your approval.")
    } else {
        format!("humble ended before this turn{at} was answered.")
    };
    let mut rows = rows_of(&Clean::single_line(&intro), columns);
    part(&mut rows, "You asked:", &turn.prompt, columns);
    calls(&mut rows, &turn.calls, columns);
    part(&mut rows, "The answer so far:", &turn.words, columns);
    if turn.words.trim().is_empty() {
        part(&mut rows, "The thinking so far:", &turn.thinking, columns);
    }
    if turn.more > 0 {
        let more = match turn.more {
            1 => "1 earlier prompt is unanswered too.".to_owned(),
            more => format!("{more} earlier prompts are unanswered too."),
        };
        rows.push(String::new());
        rows.extend(rows_of(&Clean::single_line(&more), columns));
    }
    rows
}

/// Calls come before the partial answer, because a resumed turn may run them again.
fn calls(rows: &mut Vec<String>, calls: &[LeftCall], columns: u16) {
    if calls.is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(rows_of(&Clean::from_static("Tool calls:"), columns));
    for call in calls.iter().take(CALLS_MAX) {
        let came_to = match &call.came_to {
            CameTo::Awaiting => "awaited your approval, did not run".to_owned(),
            CameTo::Running => "was running".to_owned(),
            CameTo::Ended(outcome) => outcome.replace('_', " "),
        };
        let heading = format!("{}   {}: {came_to}", call.tool, call.server);
        rows.extend(rows_of(&one_line(&beginning(&heading, WIDTH_MAX)), columns));
        let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        rows.extend(indented(&beginning(&arguments, ARGUMENTS_MAX), columns));
    }
    let more = calls.len().saturating_sub(CALLS_MAX);
    if more > 0 {
        let rest = format!("… and {more} more calls, not shown here.");
        rows.extend(rows_of(&Clean::single_line(&rest), columns));
    }
}

pub fn discarded(prompt: &str, columns: u16) -> Vec<String> {
    let intro = "This deletes the prompt and the partial answer:";
    let mut rows = rows_of(&Clean::single_line(intro), columns);
    rows.extend(indented(&beginning(prompt, WIDTH_MAX), columns));
    rows
}

fn part(rows: &mut Vec<String>, title: &str, text: &str, columns: u16) {
    if text.trim().is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(rows_of(&Clean::single_line(title), columns));
    rows.extend(indented(&beginning(text.trim(), WIDTH_MAX), columns));
}

fn beginning(text: &str, width: usize) -> String {
    let start = truncate_to_width(text, width);
    let more = if start.len() < text.len() { " …" } else { "" };
    format!("{start}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_ran_and_what_was_running_stands_before_the_words() {
        let call = |tool: &str, came_to| LeftCall {
            server: "fs".to_owned(),
            tool: tool.to_owned(),
            arguments: json!({}),
            came_to,
        };
        let turn = Unfinished {
            prompt: "Tidy up".to_owned(),
            words: "Half".to_owned(),
            calls: vec![
                call("list", CameTo::Ended("timed_out".to_owned())),
                call("delete\nlist", CameTo::Running),
                call("move", CameTo::Awaiting),
            ],
            ..Unfinished::default()
        };
        let expected = [
            "humble ended while a tool call of this turn was running.",
            "",
            "You asked:",
            "  Tidy up",
            "",
            "Tool calls:",
            "list   fs: timed out",
            "  {}",
            "delete⟨LF⟩list   fs: was running",
            "  {}",
            "move   fs: awaited your approval, did not run",
            "  {}",
            "",
            "The answer so far:",
            "  Half",
        ];
        assert_eq!(rows(&turn, 60), expected);
    }
}

//! What the dialog about an unfinished turn shows: what was asked, how far the answer
//! came, and which call waited. All of it is spelt out: it came from a file.

use crate::protocol::{CameTo, LeftCall, Unfinished};
use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::widgets::painter::{indented, one_line, rows_of};
use jiff::tz::TimeZone;

/// Columns of text of which a prompt, or an answer so far, shows its beginning.
const WIDTH_MAX: usize = 1_200;
/// Columns of the arguments of a call that are shown.
const ARGUMENTS_MAX: usize = 8_000;
/// Calls that are listed.
const CALLS_MAX: usize = 100;

pub fn rows(turn: &Unfinished, columns: u16) -> Vec<String> {
    let at = turn.at.map_or_else(String::new, |at| {
        let local = at.to_zoned(TimeZone::system());
        format!(" of {}", local.strftime("%d %b %H:%M"))
    });
    let came_to = |wanted: &CameTo| turn.calls.iter().any(|call| call.came_to == *wanted);
    let said = if came_to(&CameTo::Running) {
        format!("The program ended while a call of this turn{at} was running.")
    } else if came_to(&CameTo::Awaiting) {
        format!("The program ended while a call of this turn{at} waited for you.")
    } else {
        format!("The program ended before this turn{at} had its answer.")
    };
    let mut rows = rows_of(&Clean::single_line(&said), columns);
    part(&mut rows, "You asked:", &turn.prompt, columns);
    calls(&mut rows, &turn.calls, columns);
    part(&mut rows, "The answer so far:", &turn.words, columns);
    if turn.words.trim().is_empty() {
        part(&mut rows, "The thinking so far:", &turn.thinking, columns);
    }
    if turn.more > 0 {
        let more = format!("{} more before it had no answer either.", turn.more);
        rows.push(String::new());
        rows.extend(rows_of(&Clean::single_line(&more), columns));
    }
    rows
}

/// What ran stands before the words: asked again, the model may run it again.
fn calls(rows: &mut Vec<String>, calls: &[LeftCall], columns: u16) {
    if calls.is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(rows_of(&Clean::from_static("Its calls:"), columns));
    for call in calls.iter().take(CALLS_MAX) {
        let came_to = match &call.came_to {
            CameTo::Awaiting => "waited for you, it did not run".to_owned(),
            CameTo::Running => "was running".to_owned(),
            CameTo::Ended(outcome) => outcome.replace('_', " "),
        };
        let said = format!("{}   {}: {came_to}", call.tool, call.server);
        rows.extend(rows_of(&one_line(&beginning(&said, WIDTH_MAX)), columns));
        let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        rows.extend(indented(&beginning(&arguments, ARGUMENTS_MAX), columns));
    }
    let more = calls.len().saturating_sub(CALLS_MAX);
    if more > 0 {
        let said = format!("… and {more} more calls, which are not shown.");
        rows.extend(rows_of(&Clean::single_line(&said), columns));
    }
}

pub fn discarded(prompt: &str, columns: u16) -> Vec<String> {
    let said = "The prompt, and the words that came, are removed:";
    let mut rows = rows_of(&Clean::single_line(said), columns);
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
            "The program ended while a call of this turn was running.",
            "",
            "You asked:",
            "  Tidy up",
            "",
            "Its calls:",
            "list   fs: timed out",
            "  {}",
            "delete⟨LF⟩list   fs: was running",
            "  {}",
            "move   fs: waited for you, it did not run",
            "  {}",
            "",
            "The answer so far:",
            "  Half",
        ];
        assert_eq!(rows(&turn, 60), expected);
    }
}

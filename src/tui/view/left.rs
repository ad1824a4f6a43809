//! What the dialog about an unfinished turn shows: what was asked, how far the answer
//! came, and which call waited. All of it is spelt out: it came from a file.

use super::asked::{head_of, indented};
use super::pen::rows_of;
use crate::protocol::Unfinished;
use crate::text::Clean;
use crate::text::grapheme::truncate;
use jiff::tz::TimeZone;

/// Columns of text of which a prompt, or an answer so far, shows its beginning.
const WIDTH_MAX: usize = 1_200;
/// Columns of the arguments of a call that are shown.
const ARGUMENTS_MAX: usize = 8_000;

pub fn rows(turn: &Unfinished, columns: u16) -> Vec<String> {
    let at = turn.at.map_or_else(String::new, |at| {
        let local = at.to_zoned(TimeZone::system());
        format!(" of {}", local.strftime("%d %b %H:%M"))
    });
    let said = match turn.calls.is_empty() {
        true => format!("The program ended before this turn{at} had its answer."),
        false => format!("The program ended while a call of this turn{at} waited for you."),
    };
    let mut rows = rows_of(&Clean::line(&said), columns);
    part(&mut rows, "You asked:", &turn.prompt, columns);
    part(&mut rows, "The answer so far:", &turn.words, columns);
    if turn.words.trim().is_empty() {
        part(&mut rows, "The thinking so far:", &turn.thinking, columns);
    }
    for call in &turn.calls {
        rows.push(String::new());
        let name = format!("{}   {}", call.tool, call.server);
        rows.extend(rows_of(&head_of(&name, None), columns));
        let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        rows.extend(indented(&beginning(&arguments, ARGUMENTS_MAX), columns));
    }
    if turn.more > 0 {
        let more = format!("{} more before it had no answer either.", turn.more);
        rows.push(String::new());
        rows.extend(rows_of(&Clean::line(&more), columns));
    }
    rows
}

pub fn discarded(prompt: &str, columns: u16) -> Vec<String> {
    let said = "The prompt, and the words that came, are removed:";
    let mut rows = rows_of(&Clean::line(said), columns);
    rows.extend(indented(&beginning(prompt, WIDTH_MAX), columns));
    rows
}

fn part(rows: &mut Vec<String>, title: &str, text: &str, columns: u16) {
    if text.trim().is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(rows_of(&Clean::line(title), columns));
    rows.extend(indented(&beginning(text.trim(), WIDTH_MAX), columns));
}

fn beginning(text: &str, width: usize) -> String {
    let start = truncate(text, width);
    let more = if start.len() < text.len() { " …" } else { "" };
    format!("{start}{more}")
}

//! Finds an approval dialog in the cells of a frame, by the marks that a user sees.

use super::argument_reader::{read_arguments, read_json};
use super::fixtures;
use super::screen_harness::screen_harness;
use crossterm::event::KeyCode;
use humble::domain::{Arguments, AskId, CallId, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use humble::text::grapheme::cluster_width;
use humble::tui::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::sync::Arc;

/// The margin marker of the first row of a line, then those of rows that continue it.
const MARGINS: [&str; 4] = [" ", "┆", "\\", "/"];
/// The beginning of the server's description, below the arguments.
pub const DESCRIPTION: &str = "The server says: ";
const QUESTION: &str = "Call now? (Y/N)";
/// Narrower screens have no horizontal rules.
const RULE_COLUMNS_MIN: u16 = 40;

/// The cells of a row; the second cell of a wide character is empty.
pub fn row_cells(buffer: &Buffer, y: u16) -> Vec<String> {
    let mut covered = 0;
    let row = (0..buffer.area.width).map(|x| {
        if covered > 0 {
            covered -= 1;
            return String::new();
        }
        let symbol = buffer[(x, y)].symbol();
        covered = cluster_width(symbol).saturating_sub(1);
        symbol.to_owned()
    });
    row.collect()
}

/// The rows of a dialog and everything below it. Without a title its first row is unknown, so
/// there may be several candidates.
pub struct DialogRows {
    pub rows: Vec<Vec<String>>,
    pub columns: u16,
    /// The row above the dialog, if it is a title.
    pub title: Option<String>,
}

pub fn dialog_rows(buffer: &Buffer) -> Vec<DialogRows> {
    let rows: Vec<Vec<String>> = (0..buffer.area.height)
        .map(|y| row_cells(buffer, y))
        .collect();
    let is_title = |row: &Vec<String>| row.concat().starts_with("── Run ");
    let Some(title) = rows.iter().position(is_title) else {
        let columns = sidebar_rule(&rows).unwrap_or(buffer.area.width.into());
        let from = |first: usize| DialogRows {
            rows: rows[first.min(rows.len())..]
                .iter()
                .map(|row| row[..columns].to_vec())
                .collect(),
            columns: columns as u16,
            title: None,
        };
        // Below the header, or in place of it.
        return vec![from(1), from(0)];
    };
    // Beside a sidebar, the dialog is as wide as the column of the chat. A name in the title may
    // contain the character of the sidebar's rule, so look at more rows.
    let around = &rows[1.min(title)..rows.len().min(title + 3)];
    let edge = (0..rows[title].len()).find(|x| around.iter().all(|row| row[*x] == "│"));
    let columns = edge.unwrap_or(rows[title].len());
    let below = rows[title + 1..].iter();
    vec![DialogRows {
        rows: below.map(|row| row[..columns].to_vec()).collect(),
        columns: columns as u16,
        title: Some(rows[title][..columns].concat()),
    }]
}

/// The column of the rule that separates a sidebar, if there is one.
fn sidebar_rule(rows: &[Vec<String>]) -> Option<usize> {
    let upper = rows.get(1..rows.len() / 2).filter(|rows| rows.len() > 3)?;
    (0..upper[0].len()).find(|x| upper.iter().all(|row| row[*x] == "│"))
}

/// Whether a row has the margin of the arguments.
pub fn has_margin(row: &[String]) -> bool {
    matches!(row, [marker, blank, ..] if MARGINS.contains(&marker.as_str()) && blank == " ")
}

/// Draws a dialog about one call on a separate screen that is tall enough for all of its arguments,
/// and returns their rows.
///
/// # Panics
/// The arguments cannot be rebuilt from the rows.
pub fn all_argument_rows(arguments: &Arguments, columns: u16, as_json: bool) -> Vec<Vec<String>> {
    // Drawing blank rows takes time, so guess the height first.
    let json = serde_json::to_string_pretty(arguments).expect("JSON");
    let lines = json.lines().count() + json.matches("\\n").count();
    let rows = lines + json.len() / usize::from(columns.saturating_sub(12).max(8));
    let mut height = u16::try_from(rows + 20).unwrap_or(u16::MAX / 2);
    loop {
        if let Some(rows) = drawn_whole(arguments, (columns, height), as_json) {
            let read = match as_json {
                true => read_json(&rows),
                false => read_arguments(&rows),
            };
            assert_eq!(*arguments, read, "rebuilt from {rows:#?}");
            return rows;
        }
        height = height.checked_mul(2).expect("the arguments fit a screen");
    }
}

/// The rows of the arguments, if all of them fit.
fn drawn_whole(arguments: &Arguments, size: (u16, u16), as_json: bool) -> Option<Vec<Vec<String>>> {
    let mut harness = screen_harness(size);
    // Without servers there is no sidebar.
    harness.event(Event::ServersListed(Vec::new())).prompt("x");
    let call = fixtures::tool_call("s", "t", Value::from(arguments.clone()));
    let definition = json!({ "name": "t", "description": "D.", "inputSchema": {} });
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(fixtures::tool_from(&definition)),
    };
    let owner = QuestionOwner::Job(ModelJob::Turn(harness.turn));
    harness.turn(TurnEvent::Tool(call)).event(Event::Asked {
        ask: AskId(1),
        owner,
        question: questions::approve(vec![offered]),
    });
    harness.advance_clock(600);
    if as_json {
        harness.key(KeyCode::F(5));
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    view::paint(&mut harness.model, &mut buffer);
    let dialog = dialog_rows(&buffer).remove(0);
    let rows = dialog.rows.into_iter().skip_while(|row| !has_margin(row));
    let is_end = |row: &Vec<String>| {
        let text = row.concat();
        text.starts_with(DESCRIPTION) || text.starts_with(QUESTION) || text.starts_with("──")
    };
    let (mut rows, mut end) = (rows.collect::<Vec<_>>(), None);
    if let Some(at) = rows.iter().position(is_end) {
        end = Some(rows[at].concat());
        rows.truncate(at);
    }
    let is_blank = |row: &Vec<String>| row.iter().all(|cell| cell == " ");
    let is_cut = match end {
        Some(end) if end.starts_with(DESCRIPTION) => false,
        // The narrowest screens have no room for the description.
        _ => size.0 >= RULE_COLUMNS_MIN || !rows.last().is_some_and(is_blank),
    };
    while rows.last().is_some_and(is_blank) {
        rows.pop();
    }
    (!is_cut).then_some(rows)
}

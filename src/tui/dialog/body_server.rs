//! The server's own words about its tool in a dialog: displayed, labeled as its words, never
//! trusted.

use crate::domain::tool::{QUOTE_PREFIX, Tool};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::lines::split_lines;
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::wrapped_rows;
use crate::tui::widgets::styled_line::StyledLine;

/// Before the beginning of the server's description.
const SERVER_LINE_LABEL: &str = "The server says: ";

/// What the server says its tool may do, in a word or two.
pub struct Badge {
    pub text: &'static str,
    pub is_harmful: bool,
}

/// Only what differs from harmless; a read-only tool is called so, as the server's word.
pub fn badges(tool: &Tool) -> Vec<Badge> {
    let hints = &tool.annotations;
    let harmful = [
        (hints.destructive == Some(true), "destructive"),
        (hints.read_only == Some(false), "writes"),
        (hints.open_world == Some(true), "reaches the network"),
    ];
    let harmful = harmful.into_iter().filter(|(applies, _)| *applies);
    let mut badges: Vec<Badge> = harmful
        .map(|(_, text)| Badge {
            text,
            is_harmful: true,
        })
        .collect();
    if badges.is_empty() && hints.read_only == Some(true) {
        badges.push(Badge {
            text: "read-only (the server says)",
            is_harmful: false,
        });
    }
    badges
}

/// `The server says: …`, cut at the end of the row.
pub fn description_line(shared: SharedUiState, tool: &Tool, columns: u16) -> Option<StyledLine> {
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

/// The server's description of its tool, each row behind our own sign.
pub fn description_rows(shared: SharedUiState, tool: &Tool, columns: u16) -> Vec<String> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let manners = annotation_labels(tool, shared.glyphs.dot);
    let mut lines: Vec<Clean> = Vec::new();
    if !description.is_empty() {
        lines.extend(split_lines(description).map(Clean::escaped));
    }
    if !manners.is_empty() {
        lines.push(Clean::single_line(&format!("{manners} (the server says)")));
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

//! The rows of an entry: spacing from its neighbors, head and foot rows, and the text in
//! between.

use crate::domain::tool::{ToolCall, ToolOutcome, ToolState};
use crate::domain::{Advice, Body, Entry, Notice, PromptKind};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::advice;
use crate::tui::chat::layout_input::Source;
use std::borrow::Cow;

/// Indentation of a call's text and of unfolded thinking.
pub const INDENT: u16 = 2;
/// Maximum number of argument lines shown for an auto-approved call.
const ARGUMENTS_MAX: usize = 8;
/// Limits for each text of an unfolded call in the chat.
const UNFOLDED_LINES_MAX: usize = 60;
const UNFOLDED_BYTES_MAX: usize = 12_000;

/// How an entry is spaced from its neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Hidden,
    /// One foldable line, without a gap to other such lines.
    Line,
    Block,
}

#[cfg(test)]
thread_local! {
    /// Counts the entries visited, for the test that bounds this work.
    static SHAPES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub fn shape(entry: &Entry, source: &Source) -> Shape {
    #[cfg(test)]
    SHAPES.set(SHAPES.get() + 1);
    let blank = |text: &str| text.chars().all(char::is_whitespace);
    match &entry.body {
        Body::Tool(_) => Shape::Line,
        Body::Thinking { text, .. } if blank(text) => Shape::Hidden,
        Body::Thinking { .. } if source.is_pane() => Shape::Block,
        Body::Thinking { .. } if source.aside => Shape::Hidden,
        Body::Thinking { .. } if !source.lingers(entry) => Shape::Line,
        Body::Text {
            text, cancelled, ..
        } if blank(text) && !cancelled => Shape::Hidden,
        _ => Shape::Block,
    }
}

/// The numbers of head and foot rows.
pub fn frame_of(entry: &Entry, source: &Source, unfolded: bool) -> (usize, usize) {
    match &entry.body {
        Body::Prompt { .. } => (1, 0),
        Body::Text { cancelled, .. } => (1, usize::from(*cancelled)),
        Body::Thinking { open, .. } if source.is_pane() || source.lingers(entry) => {
            (1, usize::from(!open))
        }
        // The fold line and the header of the unfolded text.
        Body::Thinking { .. } if unfolded => (2, 1),
        Body::Thinking { .. } => (1, 0),
        Body::Tool(call) => match &call.state {
            ToolState::Running { progress: Some(_) } => (2, 0),
            _ => (1, 0),
        },
        Body::Note(_) => (0, 0),
    }
}

/// The raw text between head and foot, and its indentation in columns.
pub fn text_of<'a>(
    entry: &'a Entry,
    source: &Source,
    unfolded: bool,
) -> Option<(Cow<'a, str>, u16)> {
    match &entry.body {
        Body::Prompt { kind, text } => Some((prompt_text(*kind, text).into(), 0)),
        Body::Text { text, .. } => Some((text.into(), 0)),
        Body::Thinking { text, .. } if source.is_pane() => Some((text.into(), 0)),
        Body::Thinking { text, .. } if source.lingers(entry) => Some((text.into(), 0)),
        Body::Thinking { text, .. } => unfolded.then(|| (text.into(), INDENT)),
        Body::Tool(call) if unfolded => Some((tool_text(call).into(), INDENT)),
        Body::Tool(call) if source.unasked.contains(&call.id) => {
            let columns = source.width.saturating_sub(INDENT).max(1);
            Some((arguments_in_short(call, columns.into()).into(), INDENT))
        }
        Body::Tool(_) => None,
        Body::Note(notice) => Some((notice_text(notice).into(), 2)),
    }
}

/// Blank rows above an entry: none above the first and between folded lines, else one.
pub fn gap_before(source: &Source, index: usize) -> usize {
    let Some(entry) = source.entry(index) else {
        return 0;
    };
    let before = last_shown(source, index)
        .and_then(|index| source.entry(index))
        .map(|entry| (shape(entry, source), entry));
    match before {
        None => 0,
        Some((Shape::Line, _)) if shape(entry, source) == Shape::Line => 0,
        Some((_, before)) => usize::from(!is_fault_of(entry, before)),
    }
}

/// Index of the last visible entry before `end`. There may be thousands of hidden entries,
/// so each run of them is walked only once.
fn last_shown(source: &Source, end: usize) -> Option<usize> {
    let (from, to) = source.hidden.get();
    let mut at = end;
    loop {
        if (from..=to).contains(&at) {
            at = from;
        }
        let index = at.checked_sub(1);
        let entry = index.and_then(|index| source.entry(index));
        if entry.is_none_or(|entry| shape(entry, source) != Shape::Hidden) {
            // Skip if the known run already covers this one; otherwise extend or replace
            // it.
            if at != from || end > to {
                source.hidden.set((at, end));
            }
            return index;
        }
        at -= 1;
    }
}

/// A failure appears directly below the text that it interrupted.
fn is_fault_of(entry: &Entry, before: &Entry) -> bool {
    matches!(
        (&entry.body, &before.body),
        (Body::Note(_), Body::Text { .. })
    ) && entry.turn == before.turn
}

/// Shows the command in place of a prompt that humble generated.
fn prompt_text(kind: PromptKind, text: &str) -> &str {
    match kind {
        PromptKind::Ask | PromptKind::Replace => text,
        PromptKind::Continue => "/continue",
        PromptKind::Compact => "/compact",
    }
}

fn notice_text(notice: &Notice) -> String {
    let mut first = notice.what.clone();
    let mut advice = notice.advice.as_slice();
    // The advice to choose a model shares the first line: together they form one sentence.
    if let ([select @ Advice::SelectModel, more @ ..], None) = (advice, &notice.why) {
        first.extend([
            " ",
            &advice::words(std::slice::from_ref(select)).unwrap_or_default(),
        ]);
        advice = more;
    }
    let rest = [notice.why.clone(), advice::words(advice)];
    let rest: Vec<_> = rest.into_iter().flatten().collect();
    if rest.is_empty() {
        first
    } else {
        format!("{first}\n{}", rest.join(" "))
    }
}

/// `key: value` lines truncated to `columns`. Control characters are escaped, so no value
/// can imitate or hide another line.
fn arguments_in_short(call: &ToolCall, columns: usize) -> String {
    let arguments = &call.arguments;
    let shown = arguments.iter().take(ARGUMENTS_MAX).map(|(key, value)| {
        let line = format!("{}: {value}", key.replace('\n', " "));
        // Clusters rarely exceed 16 bytes per column, so skip cleaning text far beyond the
        // edge.
        let line = &line[..line.floor_char_boundary(columns * 16)];
        let line = Clean::escaped(line);
        if width(line.as_str()) <= columns {
            return line.as_str().to_owned();
        }
        format!("{}…", truncate_to_width(line.as_str(), columns - 1))
    });
    let mut lines: Vec<String> = shown.collect();
    if arguments.len() > ARGUMENTS_MAX {
        lines.push(format!("… {} more", arguments.len() - ARGUMENTS_MAX));
    }
    lines.join("\n")
}

/// The beginning of each section of an unfolded call. A viewer shows the rest.
fn tool_text(call: &ToolCall) -> String {
    let mut text = String::new();
    let parts = parts_of(call);
    for (heading, part) in &parts {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(heading);
        text.push('\n');
        let shown = beginning(part);
        text.push_str(shown.trim_end_matches('\n'));
        let rest = part.len() - shown.len();
        if rest > 0 {
            text.push_str(&format!("\n… {} more (o opens all of it)", bytes(rest)));
        }
    }
    text
}

/// The part of a text that the chat shows.
fn beginning(text: &str) -> &str {
    let start = &text[..text.floor_char_boundary(UNFOLDED_BYTES_MAX)];
    let mut ends = start.match_indices('\n').map(|(at, _)| at);
    let end = ends.nth(UNFOLDED_LINES_MAX - 1).unwrap_or(start.len());
    &start[..end]
}

fn bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// The full text of a call and the byte offset of its last section, which is what the copy
/// key copies: the result, or the arguments if there is no result. Raw.
pub fn call_in_full(call: &ToolCall) -> (String, usize) {
    let (mut text, mut copied) = (String::new(), 0);
    for (heading, part) in parts_of(call) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(heading);
        text.push('\n');
        copied = text.len();
        text.push_str(&part);
    }
    (text, copied)
}

fn parts_of(call: &ToolCall) -> Vec<(&'static str, Cow<'_, str>)> {
    let pretty = |arguments| serde_json::to_string_pretty(arguments).unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(original) = &call.original {
        parts.push(("original arguments", pretty(original).into()));
    }
    parts.push(("arguments", pretty(&call.arguments).into()));
    if let ToolState::Done(outcome) = &call.state {
        let result = match outcome {
            ToolOutcome::Succeeded { text, .. } | ToolOutcome::Failed { text, .. } => text,
            ToolOutcome::Unreachable { why, .. } | ToolOutcome::NotRun { why } => why,
            ToolOutcome::Denied { word: Some(word) } => word,
            _ => return parts,
        };
        parts.push(("result", result.as_str().into()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, PieceId, TurnId};
    use crate::text::markdown::MarkdownGlyphs;
    use crate::tui::chat::viewport::Flow;
    use std::cell::Cell;
    use std::collections::HashSet;

    fn thinking(text: &str) -> Body {
        Body::Thinking {
            piece: PieceId(1),
            text: text.to_owned(),
            open: false,
        }
    }

    fn text(text: &str) -> Body {
        Body::Text {
            piece: PieceId(2),
            round: 1,
            model: String::new(),
            text: text.to_owned(),
            cancelled: false,
        }
    }

    fn entries(bodies: impl IntoIterator<Item = Body>) -> Vec<Entry> {
        let entry = |body| Entry {
            turn: TurnId(1),
            revision: 1,
            grows_since: 0,
            body,
        };
        bodies.into_iter().map(entry).collect()
    }

    fn source<'a>(entries: &'a [Entry], unasked: &'a HashSet<CallId>) -> Source<'a> {
        Source {
            entries,
            list: None,
            width: 40,
            aside: true,
            unasked,
            tail: 0,
            raw: false,
            open: None,
            lingering: None,
            marks: MarkdownGlyphs::new(false, true),
            hidden: Cell::default(),
        }
    }

    #[test]
    fn a_frame_over_hidden_entries_looks_at_each_a_few_times() {
        let pairs = (0..1_000).flat_map(|_| [thinking("a"), text(" ")]);
        let entries = entries([text("first")].into_iter().chain(pairs));
        let unasked = HashSet::new();
        let mut flow = Flow::default();
        let frame = |flow: &mut Flow| {
            let source = source(&entries, &unasked);
            SHAPES.set(0);
            let top = flow.top(&source, 20);
            flow.visible(&source, top, 20);
            flow.below(&source, top, 20);
            SHAPES.get()
        };
        frame(&mut flow);
        let looks = frame(&mut flow);
        assert!(looks < 16 * entries.len(), "{looks} entries visited");
    }

    #[test]
    fn the_gap_of_an_entry_depends_on_the_last_shown_one_before_it() {
        let bodies = [
            text(" "),
            text("a"),
            thinking("b"),
            text(""),
            text("c"),
            thinking("d"),
            text("e"),
        ];
        let entries = entries(bodies);
        let unasked = HashSet::new();
        let expected = [0, 0, 1, 1, 1, 1, 1];
        // Independent of the order of queries.
        let upwards: Vec<usize> = (0..7).rev().collect();
        for order in [(0..7).collect(), upwards, vec![4, 6, 2, 1, 3, 0, 5, 3]] {
            let source = source(&entries, &unasked);
            for index in order {
                assert_eq!(gap_before(&source, index), expected[index], "{index}");
            }
        }
    }
}

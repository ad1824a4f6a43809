//! The rows of an entry: spacing from its neighbors, head and foot rows, and the text in
//! between.

use crate::domain::tool::{ToolCall, ToolOutcome, ToolState};
use crate::domain::{Advice, EntryBody, Notice, PromptKind, TranscriptEntry};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::advice;
use crate::tui::chat::layout_input::LayoutInput;
use std::borrow::Cow;

/// Indentation of a call's text and of unfolded thinking.
pub const INDENT: u16 = 2;
/// Entries searched for the previous answer.
const MODEL_LOOK_BACK: usize = 20;
/// Maximum number of argument lines shown for an auto-approved call.
const ARGUMENTS_MAX: usize = 8;
/// Limits for each text of an unfolded call in the chat.
const UNFOLDED_LINES_MAX: usize = 60;
const UNFOLDED_BYTES_MAX: usize = 12_000;

/// How an entry is spaced from its neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryShape {
    Hidden,
    /// One foldable line, without a gap to other such lines.
    FoldedLine,
    Block,
}

#[cfg(test)]
thread_local! {
    /// Counts the entries visited, for the test that bounds this work.
    static SHAPES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub fn entry_shape(entry: &TranscriptEntry, source: &LayoutInput) -> EntryShape {
    #[cfg(test)]
    SHAPES.set(SHAPES.get() + 1);
    let blank = |text: &str| text.chars().all(char::is_whitespace);
    match &entry.body {
        EntryBody::Tool(_) => EntryShape::FoldedLine,
        EntryBody::Thinking { text, .. } if blank(text) => EntryShape::Hidden,
        EntryBody::Thinking { .. } if source.is_thinking_pane() => EntryShape::Block,
        EntryBody::Thinking { .. } if source.has_thinking_pane => EntryShape::Hidden,
        EntryBody::Thinking { .. } if !source.is_expanded_thinking(entry) => EntryShape::FoldedLine,
        EntryBody::Text {
            text,
            is_cancelled: cancelled,
            ..
        } if blank(text) && !cancelled => EntryShape::Hidden,
        _ => EntryShape::Block,
    }
}

/// The numbers of head and foot rows.
pub fn head_and_foot_rows(
    entry: &TranscriptEntry,
    source: &LayoutInput,
    unfolded: bool,
    names_model: bool,
) -> (usize, usize) {
    match &entry.body {
        EntryBody::Prompt { .. } => (0, 0),
        EntryBody::Text {
            is_cancelled: cancelled,
            ..
        } => (usize::from(names_model), usize::from(*cancelled)),
        EntryBody::Thinking { is_open: open, .. }
            if source.is_thinking_pane() || source.is_expanded_thinking(entry) =>
        {
            (1, usize::from(!open))
        }
        // The fold line and the header of the unfolded text.
        EntryBody::Thinking { .. } if unfolded => (2, 1),
        EntryBody::Thinking { .. } => (1, 0),
        EntryBody::Tool(call) => match &call.state {
            ToolState::Running { progress: Some(_) } => (2, 0),
            _ => (1, 0),
        },
        EntryBody::Note(_) => (0, 0),
    }
}

/// The raw text between head and foot, and its indentation in columns.
pub fn body_text<'a>(
    entry: &'a TranscriptEntry,
    source: &LayoutInput,
    unfolded: bool,
) -> Option<(Cow<'a, str>, u16)> {
    match &entry.body {
        EntryBody::Prompt { kind, text } => Some((prompt_text(*kind, text).into(), INDENT)),
        EntryBody::Text { text, .. } => Some((text.into(), 0)),
        EntryBody::Thinking { text, .. } if source.is_thinking_pane() => Some((text.into(), 0)),
        EntryBody::Thinking { text, .. } if source.is_expanded_thinking(entry) => {
            Some((text.into(), 0))
        }
        EntryBody::Thinking { text, .. } => unfolded.then(|| (text.into(), INDENT)),
        EntryBody::Tool(call) if unfolded => Some((unfolded_call_text(call).into(), INDENT)),
        EntryBody::Tool(call) if source.auto_approved.contains(&call.id) => {
            let columns = source.width.saturating_sub(INDENT).max(1);
            Some((argument_lines(call, columns.into()).into(), INDENT))
        }
        EntryBody::Tool(_) => None,
        EntryBody::Note(notice) => Some((notice_text(notice).into(), 2)),
    }
}

/// Whether an answer names its model: where it differs from that of the answer before.
pub fn names_model(source: &LayoutInput, index: usize) -> bool {
    let model_at = |index: usize| match &source.entry(index)?.body {
        EntryBody::Text { model, .. } => Some(model),
        _ => None,
    };
    let Some(model) = model_at(index).filter(|model| !model.trim().is_empty()) else {
        return false;
    };
    let earlier = (index.saturating_sub(MODEL_LOOK_BACK)..index).rev();
    let previous = earlier.filter_map(model_at).next();
    previous.is_some_and(|previous| previous != model)
}

/// Blank rows above an entry: none above the first and between the folded lines of a round,
/// else one.
pub fn gap_rows_before(source: &LayoutInput, index: usize) -> usize {
    let Some(entry) = source.entry(index) else {
        return 0;
    };
    let before = last_visible_before(source, index)
        .and_then(|index| source.entry(index))
        .map(|entry| (entry_shape(entry, source), entry));
    // Thinking after a call begins another round of the turn.
    let is_tool = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Tool(_));
    let is_folded = entry_shape(entry, source) == EntryShape::FoldedLine;
    match before {
        None => 0,
        Some((EntryShape::FoldedLine, before))
            if is_folded && (is_tool(entry) || !is_tool(before)) =>
        {
            0
        }
        Some((_, before)) => usize::from(!is_failure_of(entry, before)),
    }
}

/// Index of the last visible entry before `end`. There may be thousands of hidden entries,
/// so each run of them is walked only once.
fn last_visible_before(source: &LayoutInput, end: usize) -> Option<usize> {
    let (from, to) = source.hidden_run.get();
    let mut at = end;
    loop {
        if (from..=to).contains(&at) {
            at = from;
        }
        let index = at.checked_sub(1);
        let entry = index.and_then(|index| source.entry(index));
        if entry.is_none_or(|entry| entry_shape(entry, source) != EntryShape::Hidden) {
            // Skip if the known run already covers this one; otherwise extend or replace
            // it.
            if at != from || end > to {
                source.hidden_run.set((at, end));
            }
            return index;
        }
        at -= 1;
    }
}

/// A failure appears directly below the text that it interrupted.
fn is_failure_of(entry: &TranscriptEntry, before: &TranscriptEntry) -> bool {
    matches!(
        (&entry.body, &before.body),
        (EntryBody::Note(_), EntryBody::Text { .. })
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
            &advice::advice_line(std::slice::from_ref(select)).unwrap_or_default(),
        ]);
        advice = more;
    }
    let rest = [notice.why.clone(), advice::advice_line(advice)];
    let rest: Vec<_> = rest.into_iter().flatten().collect();
    if rest.is_empty() {
        first
    } else {
        format!("{first}\n{}", rest.join(" "))
    }
}

/// `key: value` lines truncated to `columns`. Control characters are escaped, so no value
/// can imitate or hide another line.
fn argument_lines(call: &ToolCall, columns: usize) -> String {
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
fn unfolded_call_text(call: &ToolCall) -> String {
    let mut text = String::new();
    let parts = call_sections(call);
    for (heading, part) in &parts {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(heading);
        text.push('\n');
        let shown = truncate_preview(part);
        text.push_str(shown.trim_end_matches('\n'));
        let rest = part.len() - shown.len();
        if rest > 0 {
            text.push_str(&format!(
                "\n… {} more (o opens all of it)",
                format_bytes(rest)
            ));
        }
    }
    text
}

/// The part of a text that the chat shows.
fn truncate_preview(text: &str) -> &str {
    let start = &text[..text.floor_char_boundary(UNFOLDED_BYTES_MAX)];
    let mut ends = start.match_indices('\n').map(|(at, _)| at);
    let end = ends.nth(UNFOLDED_LINES_MAX - 1).unwrap_or(start.len());
    &start[..end]
}

fn format_bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// The full text of a call and the byte offset of its last section, which is what the copy
/// key copies: the result, or the arguments if there is no result. Raw.
pub fn full_call_text(call: &ToolCall) -> (String, usize) {
    let (mut text, mut copied) = (String::new(), 0);
    for (heading, part) in call_sections(call) {
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

fn call_sections(call: &ToolCall) -> Vec<(&'static str, Cow<'_, str>)> {
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
            ToolOutcome::Denied {
                message: Some(word),
            } => word,
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
    use crate::tui::chat::viewport::Viewport;
    use std::cell::Cell;
    use std::collections::HashSet;

    fn thinking(text: &str) -> EntryBody {
        EntryBody::Thinking {
            piece: PieceId(1),
            text: text.to_owned(),
            is_open: false,
        }
    }

    fn text(text: &str) -> EntryBody {
        EntryBody::Text {
            piece: PieceId(2),
            round: 1,
            model: String::new(),
            text: text.to_owned(),
            is_cancelled: false,
        }
    }

    fn entries(bodies: impl IntoIterator<Item = EntryBody>) -> Vec<TranscriptEntry> {
        let entry = |body| TranscriptEntry {
            turn: TurnId(1),
            revision: 1,
            append_only_since: 0,
            body,
        };
        bodies.into_iter().map(entry).collect()
    }

    fn source<'a>(entries: &'a [TranscriptEntry], unasked: &'a HashSet<CallId>) -> LayoutInput<'a> {
        LayoutInput {
            entries,
            visible_indices: None,
            width: 40,
            has_thinking_pane: true,
            auto_approved: unasked,
            tail_rows: 0,
            raw: false,
            open_entry: None,
            expanded_thinking: None,
            markdown_glyphs: MarkdownGlyphs::new(false, true),
            hidden_run: Cell::default(),
        }
    }

    #[test]
    fn drawing_hidden_entries_visits_each_a_bounded_number_of_times() {
        let pairs = (0..1_000).flat_map(|_| [thinking("a"), text(" ")]);
        let entries = entries([text("first")].into_iter().chain(pairs));
        let unasked = HashSet::new();
        let mut flow = Viewport::default();
        let frame = |flow: &mut Viewport| {
            let source = source(&entries, &unasked);
            SHAPES.set(0);
            let top = flow.top_position(&source, 20);
            flow.visible_rows(&source, top, 20);
            flow.rows_below(&source, top, 20);
            SHAPES.get()
        };
        frame(&mut flow);
        let looks = frame(&mut flow);
        assert!(looks < 16 * entries.len(), "{looks} entries visited");
    }

    #[test]
    fn gap_depends_on_the_previous_visible_entry() {
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
                assert_eq!(gap_rows_before(&source, index), expected[index], "{index}");
            }
        }
    }
}

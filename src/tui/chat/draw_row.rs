//! Draws one row of the chat or the thinking pane.

use crate::domain::{CANCELLED_NOTE, EntryBody, Severity, TranscriptEntry};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::chat::call_row;
use crate::tui::chat::entry_rows::{INDENT, indent};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_content::RowContent;
use crate::tui::chat::row_context::RowContext;
use crate::tui::chat::stop_row;
use crate::tui::chat::viewport::{RowPosition, Viewport};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

const THINKING_HEADER: &str = "<<< Thinking >>>";
const THINKING_FOOTER: &str = "<<< End Thinking >>>";

pub fn draw_row(
    context: &RowContext,
    viewport: &Viewport,
    input: &LayoutInput,
    position: RowPosition,
    entry: &TranscriptEntry,
    row: Rect,
    pen: &mut Painter,
) {
    if context.marks_stop && viewport.is_at_stop(position) {
        mark_stop(row, pen);
    }
    match viewport.row_content(position) {
        RowContent::Blank => {}
        RowContent::Head(line) => {
            let is_unfolded = viewport.is_unfolded(position.index);
            draw_head(context, input, entry, line, is_unfolded, row, pen);
        }
        RowContent::Text(text) => {
            let (indent, mut style) = indent_and_style(entry, input, pen);
            if viewport.is_fold_row(position) {
                style = pen.theme.dim;
            }
            mark_text_row(entry, viewport.is_first_text_row(position), row, pen);
            let columns = row.width.saturating_sub(indent);
            pen.put_line(row.x + indent, row.y, text, style, columns);
            if let EntryBody::Note(_) = &entry.body
                && let Some(more) = stop_row::explanation(context, input, position.index, columns)
            {
                let used = indent + width(CANCELLED_NOTE) as u16 + 1;
                pen.put(row.x + used, row.y, &more, style, columns);
            }
        }
        RowContent::Foot => {
            let (text, indent) = match &entry.body {
                EntryBody::Thinking { .. } => (
                    THINKING_FOOTER.to_owned(),
                    indent_and_style(entry, input, pen).0,
                ),
                EntryBody::Prompt { .. } => (branches_text(entry.other_branches), INDENT),
                _ => {
                    let (dot, dim) = (pen.glyphs.dot, pen.theme.dim);
                    pen.put(row.x, row.y, dot, dim, row.width);
                    let columns = row.width.saturating_sub(INDENT + 1);
                    (
                        stop_row::text(context, input, position.index, columns),
                        INDENT,
                    )
                }
            };
            let columns = row.width.saturating_sub(indent);
            pen.put(row.x + indent, row.y, &text, pen.theme.dim, columns);
        }
    }
}

/// Draws the mark to the left of a text row: that of a notice or agent in the first row, that of a
/// prompt in each row.
fn mark_text_row(entry: &TranscriptEntry, is_first: bool, row: Rect, pen: &mut Painter) {
    let (mark, style) = match &entry.body {
        EntryBody::Note(notice) if is_first => match notice.severity {
            Severity::Failure => (pen.glyphs.failed, pen.theme.failure),
            Severity::Warning => ("!", pen.theme.attention),
            Severity::Info => (pen.glyphs.dot, pen.theme.dim),
        },
        EntryBody::Agent(_) if is_first => (pen.glyphs.ok, pen.theme.success),
        EntryBody::Prompt { .. } => (pen.glyphs.cursor, pen.theme.accent),
        _ => return,
    };
    pen.put(row.x, row.y, mark, style, row.width);
}

/// The line below a prompt that has other branches.
fn branches_text(other_branches: usize) -> String {
    match other_branches {
        1 => "1 other branch".to_owned(),
        count => format!("{count} other branches"),
    }
}

/// Marks a row of the selected stop in the margin. On a narrow screen without a margin, underlines
/// it.
fn mark_stop(row: Rect, pen: &mut Painter) {
    if row.x == 0 {
        return pen.set_style(row, Style::new().add_modifier(Modifier::UNDERLINED));
    }
    let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
    pen.put(row.x - 1, row.y, cursor, accent, 1);
}

fn indent_and_style(entry: &TranscriptEntry, input: &LayoutInput, pen: &Painter) -> (u16, Style) {
    let style = match &entry.body {
        EntryBody::Prompt { .. } | EntryBody::Text { .. } => pen.theme.plain,
        EntryBody::Note(notice) if notice.severity != Severity::Info => pen.theme.plain,
        _ => pen.theme.dim,
    };
    (indent(entry, input), style)
}

fn draw_head(
    context: &RowContext,
    input: &LayoutInput,
    entry: &TranscriptEntry,
    line: usize,
    is_unfolded: bool,
    row: Rect,
    pen: &mut Painter,
) {
    match &entry.body {
        EntryBody::Prompt { .. } => {}
        EntryBody::Text { model, .. } => {
            let name = Clean::single_line(model);
            pen.put_truncated(row.x, row.y, name.as_str(), pen.theme.dim, row.width);
        }
        EntryBody::Thinking { .. }
            if input.is_thinking_pane() || input.is_expanded_thinking(entry) =>
        {
            pen.put(row.x, row.y, THINKING_HEADER, pen.theme.dim, row.width);
        }
        EntryBody::Thinking { .. } if line > 0 => {
            let columns = row.width.saturating_sub(INDENT);
            pen.put(
                row.x + INDENT,
                row.y,
                THINKING_HEADER,
                pen.theme.dim,
                columns,
            );
        }
        EntryBody::Thinking { piece, .. } => {
            let fold = if is_unfolded {
                pen.glyphs.unfolded
            } else {
                pen.glyphs.folded
            };
            let span = context.timing.thinking_spans.get(piece);
            let seconds = span.map_or(0.0, |(start, end)| (*end - *start).as_secs_f64());
            let label = match seconds.round() {
                0.0 => format!("{fold} thought"),
                seconds => format!("{fold} thought {seconds} s"),
            };
            pen.put(row.x, row.y, &label, pen.theme.dim, row.width);
        }
        EntryBody::Tool(call) if line == 0 => call_row::draw(context, call, row, pen),
        EntryBody::Tool(call) => call_row::draw_progress(call, row, pen),
        EntryBody::Note(_) | EntryBody::Agent(_) => {}
    }
}

//! Numbered lists and the palette.

use crate::text::Clean;
use crate::text::grapheme::{truncate, width};
use crate::tui::history_search;
use crate::tui::keymap::Chord;
use crate::tui::model::{Model, Pick, Picked};
use crate::tui::update::commands;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Pen;
use ratatui::layout::{Position, Rect};

/// Columns beside a dialog that are given to it rather than left.
const STRIP_MAX: u16 = 8;

/// A dialog of this content, at the upper left of `over`, with its frame where
/// there is room for one. Returns the area inside.
pub fn dialog(over: Rect, title: &str, right: &str, size: (u16, u16), pen: &mut Pen) -> Rect {
    let framed = over.width >= 24 && over.height >= 6;
    let margin = if framed { (4, 2) } else { (0, 0) };
    let area = Rect {
        // A strip too narrow to read would only show halves of words.
        width: match size.0 + margin.0 {
            width if width + STRIP_MAX >= over.width => over.width,
            width => width,
        },
        height: (size.1 + margin.1).min(over.height),
        ..over
    };
    if framed {
        let style = pen.theme.accent;
        pen.frame(area, title, right, style)
    } else {
        pen.clear(over);
        over
    }
}

pub fn pick(pick: &Pick, over: Rect, pen: &mut Pen) {
    let numbers = pick.rows.len().to_string().len();
    let labels: Vec<Clean> = pick
        .rows
        .iter()
        .map(|(_, label)| Clean::line(label))
        .collect();
    let widest = labels
        .iter()
        .map(|label| width(label.as_str()))
        .max()
        .unwrap_or(0);
    let columns = (widest.max(pick.zero.len()) + numbers + 6).max(30) as u16;
    let area = dialog(
        over,
        pick.title,
        "",
        (columns, labels.len() as u16 + 2),
        pen,
    );
    // The zero stands below the list and never scrolls away.
    let list = area
        .height
        .saturating_sub(if area.height > 4 { 2 } else { 1 });
    let first = pick.chosen.min(labels.len().saturating_sub(1));
    let first = (first + 1).saturating_sub(usize::from(list));
    for (index, label) in labels.iter().enumerate().skip(first).take(list.into()) {
        let y = area.y + (index - first) as u16;
        let room = usize::from(area.width).saturating_sub(numbers + 4);
        let label = match &pick.rows[index].0 {
            Picked::Server(_) => keeping_state(label.as_str(), room, pen.glyphs.more),
            _ => label.as_str().to_owned(),
        };
        row(
            pick.chosen == index,
            index + 1,
            numbers,
            &label,
            area,
            y,
            pen,
        );
    }
    if area.height > 0 {
        let chosen = pick.chosen == labels.len();
        row(chosen, 0, numbers, pick.zero, area, area.bottom() - 1, pen);
    }
}

/// A server's name is cut where its state, behind the last two blanks, has no room.
fn keeping_state(label: &str, room: usize, more: &str) -> String {
    let Some((name, state)) = label.rsplit_once("  ").filter(|_| width(label) > room) else {
        return label.to_owned();
    };
    let kept = truncate(name, room.saturating_sub(width(state) + 3));
    format!("{kept}{more}  {state}")
}

fn row(
    chosen: bool,
    number: usize,
    numbers: usize,
    label: &str,
    area: Rect,
    y: u16,
    pen: &mut Pen,
) {
    let style = if chosen {
        pen.theme.accent
    } else {
        pen.theme.plain
    };
    let mark = if chosen { pen.glyphs.cursor } else { " " };
    let words = format!("{mark} {number:>numbers$}  {label}");
    pen.put_cut(area.x, y, &words, style, area.width);
}

pub fn palette(filter: &mut Editor, chosen: usize, over: Rect, pen: &mut Pen) -> Position {
    let found = commands::palette(&filter.text());
    let all = commands::palette("").len() as u16;
    let area = dialog(over, "Commands", "", (72, all + 2), pen);
    let cursor = field(filter, area, pen);
    let gap = u16::from(area.height > 4);
    let list = area.height.saturating_sub(1 + gap);
    let chosen = chosen.min(found.len().saturating_sub(1));
    let first = (chosen + 1).saturating_sub(usize::from(list));
    for (index, binding) in found.iter().enumerate().skip(first).take(list.into()) {
        let y = area.y + 1 + gap + (index - first) as u16;
        let style = if index == chosen {
            pen.theme.accent
        } else {
            pen.theme.plain
        };
        let mark = if index == chosen {
            pen.glyphs.cursor
        } else {
            " "
        };
        pen.put(area.x, y, mark, style, 1);
        let key = binding
            .keys
            .first()
            .map_or_else(String::new, Chord::to_string);
        let command = binding.command.unwrap_or_default();
        let mut end = area.right();
        if area.width >= 50 {
            pen.put(end - 8, y, &key, pen.theme.dim, 8);
            pen.put(end - 26, y, command, pen.theme.dim, 17);
            end -= 27;
        }
        let columns = end.saturating_sub(area.x + 2);
        pen.put_cut(area.x + 2, y, binding.description, style, columns);
    }
    if found.is_empty() {
        pen.put(
            area.x + 2,
            area.y + 1 + gap,
            "nothing matches",
            pen.theme.dim,
            area.width,
        );
    }
    cursor
}

/// The line that is searched with; returns the cursor's place.
fn field(filter: &mut Editor, area: Rect, pen: &mut Pen) -> Position {
    pen.put(area.x, area.y, ">", pen.theme.accent, area.width);
    let columns = area.width.saturating_sub(2);
    let view = filter.view(columns, 1);
    for text in &view.rows {
        pen.put(area.x + 2, area.y, text, pen.theme.plain, columns);
    }
    Position::new(area.x + 2 + view.cursor.0, area.y)
}

/// What was typed before, newest at the top.
pub fn recall(
    model: &Model,
    filter: &mut Editor,
    chosen: usize,
    over: Rect,
    pen: &mut Pen,
) -> Position {
    let found = history_search::found(&model.history.prompts, &filter.text());
    let rows = (found.len() as u16).clamp(1, 12);
    let area = dialog(over, "Typed before", "", (72, rows + 2), pen);
    let cursor = field(filter, area, pen);
    let gap = u16::from(area.height > 4);
    let list = area.height.saturating_sub(1 + gap);
    let chosen = chosen.min(found.len().saturating_sub(1));
    let first = (chosen + 1).saturating_sub(usize::from(list));
    for (index, prompt) in found.iter().enumerate().skip(first).take(list.into()) {
        let y = area.y + 1 + gap + (index - first) as u16;
        let (mark, style) = if index == chosen {
            (pen.glyphs.cursor, pen.theme.accent)
        } else {
            (" ", pen.theme.plain)
        };
        pen.put(area.x, y, mark, style, 1);
        let start = crate::text::grapheme::truncate(prompt, 2 * usize::from(area.width));
        let line = Clean::line(start);
        pen.put_cut(
            area.x + 2,
            y,
            line.as_str(),
            style,
            area.width.saturating_sub(2),
        );
    }
    if found.is_empty() {
        let y = area.y + 1 + gap;
        pen.put(area.x + 2, y, "nothing matches", pen.theme.dim, area.width);
    }
    cursor
}

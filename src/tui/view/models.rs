//! The dialog of models: a search line, servers with what they have, the pull.

use super::super::model::Model;
use super::super::shelf::{ModelRow, Models, Row, count_words, rows};
use super::header::thousands;
use super::pen::Pen;
use crate::domain::stock::size_words;
use crate::domain::{Pull, StockState};
use crate::text::Clean;
use ratatui::layout::{Position, Rect};

/// From these widths on there is a column for …
const ABILITIES_FROM: u16 = 84;
const FAMILY_FROM: u16 = 62;
const STATE_FROM: u16 = 44;
const SIZE_FROM: u16 = 28;
const BAR_COLUMNS: usize = 20;

/// Returns the cursor's place where something is typed.
pub fn draw(model: &Model, open: &mut Models, over: Rect, pen: &mut Pen) -> Option<Position> {
    let framed = over.width >= 40 && over.height >= 8;
    let all = rows(&model.shelf.stocks, &open.filter.text());
    let count = all
        .iter()
        .filter(|row| matches!(row, Row::Model(_)))
        .count();
    let area = if framed {
        let right = count_words(count);
        pen.frame(over, "Models", &right, pen.theme.accent)
    } else {
        pen.clear(over);
        over
    };
    let mut rest = area;
    let mut cursor = None;
    if let Some(field) = &mut open.pulling {
        pen.put(rest.x, rest.y, "Pull:", pen.theme.accent, rest.width);
        let columns = rest.width.saturating_sub(6);
        let view = field.view(columns, 1);
        for row in &view.rows {
            pen.put(rest.x + 6, rest.y, row, pen.theme.plain, columns);
        }
        cursor = Some(Position::new(rest.x + 6 + view.cursor.0, rest.y));
    } else {
        pen.put(rest.x, rest.y, "/", pen.theme.accent, rest.width);
        let columns = rest.width.saturating_sub(2);
        let view = open.filter.view(columns, 1);
        for row in &view.rows {
            pen.put(rest.x + 2, rest.y, row, pen.theme.plain, columns);
        }
        let at = Position::new(rest.x + 2 + view.cursor.0, rest.y);
        cursor = cursor.or(Some(at).filter(|_| !open.in_list));
    }
    let gap = 1 + u16::from(rest.height > 6);
    rest.y += gap.min(rest.height);
    rest.height = rest.height.saturating_sub(gap);
    if let Some(pull) = &model.shelf.pull
        && rest.height > 1
    {
        rest.height -= 1;
        let line = Rect {
            y: rest.bottom(),
            height: 1,
            ..rest
        };
        pull_line(pull, line, pen);
        // A blank row above it, where there is room.
        rest.height -= u16::from(rest.height > 6);
    }
    if all.is_empty() {
        let words = if open.filter.is_blank() {
            "No server of models is known. `a` adds one."
        } else {
            "nothing matches"
        };
        pen.put_cut(rest.x + 2, rest.y, words, pen.theme.dim, rest.width);
    }
    list(model, open, &all, rest, pen);
    cursor
}

fn list(model: &Model, open: &Models, all: &[Row<'_>], area: Rect, pen: &mut Pen) {
    // The drawn row of the chosen one, since servers stand between.
    let mut models = 0;
    let chosen = all.iter().position(|row| {
        let is_model = matches!(row, Row::Model(_));
        models += usize::from(is_model);
        is_model && models == open.chosen + 1
    });
    let height = usize::from(area.height);
    let first = chosen.map_or(0, |at| (at + 1).saturating_sub(height));
    // The server of the first model is worth its row.
    let first = if first == 1 && chosen.is_some_and(|at| at < height) {
        0
    } else {
        first
    };
    for (index, row) in all.iter().enumerate().skip(first).take(height) {
        let line = Rect {
            y: area.y + (index - first) as u16,
            height: 1,
            ..area
        };
        match row {
            Row::Server(stock) => {
                let words = format!(
                    "{} {} {}",
                    stock.server.url, pen.glyphs.dot, stock.server.provider
                );
                let words = Clean::line(&words);
                let right = match &stock.state {
                    StockState::Has(catalogue) => count_words(catalogue.models.len()),
                    _ => String::new(),
                };
                let end = pen.put_right(line.right(), line.y, &right, pen.theme.dim);
                let columns = end.saturating_sub(line.x + 1);
                pen.put_cut(line.x, line.y, words.as_str(), pen.theme.bold, columns);
            }
            Row::Words(words, is_fault) => {
                let (mark, style) = if *is_fault {
                    (pen.glyphs.failed, pen.theme.failure)
                } else {
                    (" ", pen.theme.dim)
                };
                pen.put(line.x, line.y, mark, style, 1);
                let words = Clean::line(words);
                let columns = line.width.saturating_sub(2);
                pen.put_cut(line.x + 2, line.y, words.as_str(), pen.theme.dim, columns);
            }
            Row::Model(row) => {
                model_row(model, row, chosen == Some(index), open.in_list, line, pen);
            }
        }
    }
}

fn model_row(
    model: &Model,
    row: &ModelRow<'_>,
    chosen: bool,
    focused: bool,
    line: Rect,
    pen: &mut Pen,
) {
    let style = if chosen {
        pen.theme.accent
    } else {
        pen.theme.plain
    };
    let mark = if chosen { pen.glyphs.cursor } else { " " };
    pen.put(line.x, line.y, mark, style, 1);
    let mut end = line.right();
    let in_use = row.configured.is_some() && row.configured == model.selected.as_ref();
    if line.width >= STATE_FROM {
        let (word, style) = match (in_use, row.configured.is_some(), row.listed.is_some()) {
            (true, ..) => ("in use", pen.theme.success),
            (_, true, false) => ("not listed", pen.theme.attention),
            (_, true, true) => ("configured", pen.theme.dim),
            (_, false, _) => ("", pen.theme.dim),
        };
        pen.put(end - 10, line.y, word, style, 10);
        end -= 12;
    }
    let end = fact_columns(row, line.width, end, line.y, pen);
    let name = if row.name() == row.model() {
        row.name().to_owned()
    } else {
        format!("{}  {}", row.name(), row.model())
    };
    let columns = end.saturating_sub(line.x + 2);
    pen.put_cut(
        line.x + 2,
        line.y,
        Clean::line(&name).as_str(),
        style,
        columns,
    );
    if chosen && focused {
        let selection = pen.theme.selection;
        pen.style(line, selection);
    }
}

/// What the server says about a model, from the right. Returns where that begins.
fn fact_columns(row: &ModelRow<'_>, width: u16, mut end: u16, y: u16, pen: &mut Pen) -> u16 {
    let facts = row.listed.map(|listed| &listed.facts);
    if width >= ABILITIES_FROM {
        let mut words: Vec<&str> = Vec::new();
        if row.listed.and_then(|listed| listed.is_loaded) == Some(true) {
            words.push("in memory");
        }
        let abilities = facts.map_or(&[][..], |facts| &facts.capabilities);
        let abilities = abilities.iter().map(String::as_str);
        words.extend(abilities.filter(|ability| *ability != "completion"));
        let words = Clean::line(&words.join(", "));
        pen.put_cut(end - 26, y, words.as_str(), pen.theme.dim, 26);
        end -= 28;
    }
    if width >= FAMILY_FROM {
        let length = facts.and_then(|facts| facts.context_length);
        let length = length.map_or_else(String::new, |tokens| thousands(tokens.into()));
        pen.put_right(end, y, &length, pen.theme.dim);
        end -= 7;
        let family = facts.and_then(|facts| facts.family.as_deref());
        let family = Clean::line(family.unwrap_or_default());
        pen.put_cut(end - 10, y, family.as_str(), pen.theme.dim, 10);
        end -= 12;
    }
    if width >= SIZE_FROM {
        let bytes = row.listed.and_then(|listed| listed.bytes);
        let size = bytes.map(size_words).unwrap_or_default();
        pen.put_right(end, y, &size, pen.theme.dim);
        end -= 9;
    }
    end
}

/// `Pulling qwen3:4b  ▕████   ▏ 42 %  1.1 GB of 2.6 GB`
fn pull_line(pull: &Pull, line: Rect, pen: &mut Pen) {
    let words = Clean::line(&pull_words(pull, pen, line.width >= 60));
    pen.put_cut(line.x, line.y, words.as_str(), pen.theme.accent, line.width);
}

/// How far a pull is; in few words where little room is.
pub fn pull_words(pull: &Pull, pen: &Pen, wide: bool) -> String {
    let name = &pull.name;
    let Some(share) = pull.share() else {
        return format!("Pulling {name}: {}", pull.status);
    };
    let percent = (share * 100.0).floor();
    if !wide {
        return format!("Pulling {name} {percent:.0} %");
    }
    let full = (share * BAR_COLUMNS as f64).round() as usize;
    let [left, right] = pen.glyphs.bar;
    let bar = pen.glyphs.full.repeat(full) + &" ".repeat(BAR_COLUMNS - full);
    let sizes = format!("{} of {}", size_words(pull.done), size_words(pull.total));
    let status = match pull.status.as_str() {
        "pulling" => String::new(),
        other => format!("  {other}"),
    };
    format!("Pulling {name}  {left}{bar}{right} {percent:3.0} %  {sizes}{status}")
}

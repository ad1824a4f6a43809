//! The dialog of models: a search line, servers with what they have, the pull.

use crate::domain::stock::size_words;
use crate::domain::{Pull, Stock, StockState};
use crate::text::Clean;
use crate::tui::model::Model;
use crate::tui::models::state::{ModelRow, Models, Row, count_words, rows};
use crate::tui::view::header::thousands;
use crate::tui::widgets::painter::{Pen, rows_of};
use ratatui::layout::{Position, Rect};

/// From these widths on there is a column for …
const ABILITIES_FROM: u16 = 84;
const FAMILY_FROM: u16 = 62;
const STATE_FROM: u16 = 44;
const SIZE_FROM: u16 = 28;
const BAR_COLUMNS: usize = 20;
/// Lines of why a server could not be asked.
const FAULT_ROWS_MAX: usize = 4;

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

/// One drawn line.
enum Line<'a> {
    Server(&'a Stock),
    Model(&'a ModelRow<'a>),
    /// The mark of a fault stands before its first line.
    Words(String, bool),
}

fn lines<'a>(all: &'a [Row<'a>], columns: u16) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for row in all {
        match row {
            Row::Server(stock) => lines.push(Line::Server(stock)),
            Row::Model(row) => lines.push(Line::Model(row)),
            Row::Words(words, is_fault) => {
                let rows = rows_of(&Clean::line(words), columns.saturating_sub(2));
                let rows = rows.into_iter().take(FAULT_ROWS_MAX).enumerate();
                lines.extend(rows.map(|(at, row)| Line::Words(row, *is_fault && at == 0)));
            }
        }
    }
    lines
}

fn list(model: &Model, open: &Models, all: &[Row<'_>], area: Rect, pen: &mut Pen) {
    let lines = lines(all, area.width);
    // The drawn line of the chosen one, since servers stand between.
    let models = lines.iter().enumerate();
    let mut models = models.filter(|(_, line)| matches!(line, Line::Model(_)));
    let at = models.nth(open.chosen).map(|(at, _)| at);
    let chosen = at.filter(|_| !open.is_lost);
    let height = usize::from(area.height);
    let first = at.map_or(0, |at| (at + 1).saturating_sub(height));
    for (index, line) in lines.iter().enumerate().skip(first).take(height) {
        let area = Rect {
            y: area.y + (index - first) as u16,
            height: 1,
            ..area
        };
        match line {
            Line::Server(stock) => server_line(stock, area, pen),
            Line::Words(words, is_fault) => {
                let mark = if *is_fault { pen.glyphs.failed } else { " " };
                pen.put(area.x, area.y, mark, pen.theme.failure, 1);
                let columns = area.width.saturating_sub(2);
                pen.put(area.x + 2, area.y, words, pen.theme.dim, columns);
            }
            Line::Model(row) => {
                model_row(model, row, chosen == Some(index), open.in_list, area, pen);
            }
        }
    }
}

fn server_line(stock: &Stock, line: Rect, pen: &mut Pen) {
    let (server, dot) = (&stock.server, pen.glyphs.dot);
    let words = Clean::line(&format!("{} {dot} {}", server.url, server.provider));
    let right = match &stock.state {
        StockState::Has(catalogue) => count_words(catalogue.models.len()),
        _ => String::new(),
    };
    let end = pen.put_right(line.right(), line.y, &right, pen.theme.dim);
    let columns = end.saturating_sub(line.x + 1);
    pen.put_cut(line.x, line.y, words.as_str(), pen.theme.bold, columns);
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
        let is_missing = row.is_known && row.listed.is_none();
        let (word, style) = match (in_use, row.configured.is_some()) {
            (true, _) => ("in use", pen.theme.success),
            (_, true) if is_missing => ("not listed", pen.theme.attention),
            (_, true) => ("configured", pen.theme.dim),
            (_, false) => ("", pen.theme.dim),
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

//! Renders a screen as SVG. Every word keeps its columns and every wide character its two cells,
//! whatever font the reader has. Box-drawing characters become lines, so that no font leaves gaps
//! in them.

use humble::text::grapheme::cluster_width;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use std::fmt::Write;

/// The size of a cell and the margin around the screen, in pixels.
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 18.0;
const MARGIN: f64 = 14.0;
/// The distance of the baseline from the top of a cell.
const BASELINE: f64 = 13.5;

/// The colors suit the background, which is dark in both light and dark mode.
const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK KR',monospace;\
fill:#e6edf3}\
.f{fill:#e6edf3}.m{text-anchor:middle}.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}\
.s{text-decoration:line-through}.d{opacity:.62}.r{fill:#0d1117}\
.cyan{fill:#56d4dd}.green{fill:#56d364}.red{fill:#ff7b72}.magenta{fill:#d2a8ff}.yellow{fill:#e3b341}\
.blue{fill:#79c0ff}path{stroke:#e6edf3;fill:none}path.cyan{stroke:#56d4dd;fill:none}";

/// Renders `buffer` with a cursor at `cursor`. `title` is the text for screen readers.
pub fn render_svg(buffer: &Buffer, cursor: Option<Position>, title: &str) -> String {
    let area = buffer.area;
    let width = f64::from(area.width) * CELL_WIDTH + 2.0 * MARGIN;
    let height = f64::from(area.height) * CELL_HEIGHT + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\" fill=\"#0d1117\" stroke=\"#6e7681\"/>\n",
        escaped(title),
        width - 1.0,
        height - 1.0,
    );
    for y in area.top()..area.bottom() {
        draw_row(buffer, y, &mut out);
    }
    draw_lines(buffer, &mut out);
    if let Some(position) = cursor {
        let (x, y) = corner(position.x, position.y);
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"2\" height=\"{CELL_HEIGHT:.0}\" fill=\"#e6edf3\"/>"
        );
    }
    out + "</svg>\n"
}

/// The upper left corner of a cell, in pixels.
fn corner(x: u16, y: u16) -> (f64, f64) {
    (
        MARGIN + f64::from(x) * CELL_WIDTH,
        MARGIN + f64::from(y) * CELL_HEIGHT,
    )
}

/// Draws one row word by word; a word is a run of visible ASCII characters in one style.
fn draw_row(buffer: &Buffer, y: u16, out: &mut String) {
    let right = buffer.area.right();
    let mut x = buffer.area.left();
    while x < right {
        let cell = &buffer[(x, y)];
        let columns = (cluster_width(cell.symbol()) as u16).max(1);
        if cell.modifier.contains(Modifier::REVERSED) {
            let (left, top) = corner(x, y);
            let width = f64::from(columns) * CELL_WIDTH;
            let _ = writeln!(
                out,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{CELL_HEIGHT:.0}\" fill=\"#e6edf3\"/>"
            );
        }
        let end = (x..right)
            .find(|end| {
                !is_ascii_graphic_cell(&buffer[(*end, y)])
                    || !has_same_style(cell, &buffer[(*end, y)])
            })
            .unwrap_or(right);
        if end > x {
            let word: String = (x..end).map(|x| buffer[(x, y)].symbol()).collect();
            draw_word(x, y, &word, cell, out);
            x = end;
            continue;
        }
        if let Some((from, to)) = block_extent(cell.symbol()) {
            draw_block(x, y, (from, to), cell, out);
        } else if cell.symbol().trim() != "" && line_directions(cell.symbol()).is_none() {
            draw_symbol(x, y, columns, cell, out);
        }
        x += columns;
    }
}

fn is_ascii_graphic_cell(cell: &Cell) -> bool {
    matches!(cell.symbol().as_bytes(), [byte] if byte.is_ascii_graphic())
}

fn has_same_style(a: &Cell, b: &Cell) -> bool {
    (a.fg, a.modifier) == (b.fg, b.modifier)
}

fn draw_word(x: u16, y: u16, word: &str, cell: &Cell, out: &mut String) {
    let (left, top) = corner(x, y);
    let width = word.len() as f64 * CELL_WIDTH;
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>",
        top + BASELINE,
        class(cell, ""),
        escaped(word),
    );
}

/// Draws a wide character or a symbol centered in its cells.
fn draw_symbol(x: u16, y: u16, columns: u16, cell: &Cell, out: &mut String) {
    let (left, top) = corner(x, y);
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\"{}>{}</text>",
        left + f64::from(columns) * CELL_WIDTH / 2.0,
        top + BASELINE,
        class(cell, "m"),
        escaped(cell.symbol()),
    );
}

/// The horizontal extent of a block character in its cell, from 0 to 1. `None` for other symbols.
fn block_extent(symbol: &str) -> Option<(f64, f64)> {
    match symbol {
        "█" => Some((0.0, 1.0)),
        "▕" => Some((0.85, 1.0)),
        "▏" => Some((0.0, 0.15)),
        _ => None,
    }
}

fn draw_block(x: u16, y: u16, (from, to): (f64, f64), cell: &Cell, out: &mut String) {
    let (left, top) = corner(x, y);
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.0}\"{}/>",
        left + from * CELL_WIDTH,
        top + 2.0,
        (to - from) * CELL_WIDTH,
        CELL_HEIGHT - 4.0,
        class(cell, "f"),
    );
}

/// The `class` attribute for a cell's style, or nothing.
fn class(cell: &Cell, extra_class: &'static str) -> String {
    let color = match cell.fg {
        Color::Cyan => "cyan",
        Color::Green => "green",
        Color::Red => "red",
        Color::Magenta => "magenta",
        Color::Yellow => "yellow",
        Color::Blue | Color::LightBlue => "blue",
        _ => "",
    };
    let modifiers = [
        (Modifier::BOLD, "b"),
        (Modifier::DIM, "d"),
        (Modifier::ITALIC, "i"),
        (Modifier::UNDERLINED, "u"),
        (Modifier::CROSSED_OUT, "s"),
        (Modifier::REVERSED, "r"),
    ];
    let active = modifiers
        .iter()
        .filter(|(modifier, _)| cell.modifier.contains(*modifier));
    let classes: Vec<&str> = [extra_class, color]
        .into_iter()
        .chain(active.map(|(_, class)| *class))
        .filter(|class| !class.is_empty())
        .collect();
    if classes.is_empty() {
        return String::new();
    }
    format!(" class=\"{}\"", classes.join(" "))
}

/// The directions in which a box-drawing character extends: left, right, up, down.
fn line_directions(symbol: &str) -> Option<[bool; 4]> {
    Some(match symbol {
        "─" => [true, true, false, false],
        "│" => [false, false, true, true],
        "┼" => [true, true, true, true],
        "╭" => [false, true, false, true],
        "╮" => [true, false, false, true],
        "╯" => [true, false, true, false],
        "╰" => [false, true, true, false],
        _ => return None,
    })
}

/// Draws all lines, one path per style.
fn draw_lines(buffer: &Buffer, out: &mut String) {
    let mut paths: Vec<(String, String)> = Vec::new();
    let mut add = |cell: &Cell, path: String| {
        let class = class(cell, "");
        match paths.iter_mut().find(|(other, _)| *other == class) {
            Some((_, strokes)) => strokes.push_str(&path),
            None => paths.push((class, path)),
        }
    };
    let area = buffer.area;
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &buffer[(x, y)];
            let Some([left, right, up, down]) = line_directions(cell.symbol()) else {
                continue;
            };
            add(cell, line_path(corner(x, y), [left, right, up, down]));
        }
    }
    for (class, path) in paths {
        let _ = writeln!(out, "<path{class} d=\"{path}\"/>");
    }
}

/// The strokes of one box-drawing character, with round corners.
fn line_path((left, top): (f64, f64), directions: [bool; 4]) -> String {
    let (center_x, center_y) = (left + CELL_WIDTH / 2.0, top + CELL_HEIGHT / 2.0);
    let (right, bottom) = (left + CELL_WIDTH, top + CELL_HEIGHT);
    match directions {
        [true, true, false, false] => format!("M{left:.1} {center_y:.1}H{right:.1}"),
        [false, false, true, true] => format!("M{center_x:.1} {top:.1}V{bottom:.1}"),
        [true, true, true, true] => {
            format!("M{left:.1} {center_y:.1}H{right:.1}M{center_x:.1} {top:.1}V{bottom:.1}")
        }
        [to_left, _, up, _] => {
            let side = if to_left { left } else { right };
            let end = if up { top } else { bottom };
            format!("M{center_x:.1} {end:.1}Q{center_x:.1} {center_y:.1} {side:.1} {center_y:.1}")
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

//! Feeds the encoded bytes to a terminal emulator and compares its screen with the last buffer.
//! The emulator draws each character of a cluster of uncertain width separately, as the worst
//! terminal would. All other cells must still be right.

use crate::tui::terminal::diff_encoder::*;
use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::num::NonZeroU16;
use vt100::Parser;

const COLUMNS: u16 = 24;
const ROWS: u16 = 4;
const PLAIN: [&str; 8] = ["a", "Z", "7", "é", "─", "한", "漢", "カ"];
const UNCERTAIN_WIDTH: [&str; 8] = [
    "👨‍👩‍👧",
    "🇰🇷",
    "❤\u{FE0F}",
    "e\u{301}",
    "👍🏽",
    "1\u{FE0F}\u{20E3}",
    "क्षि",
    "🫠",
];
const COLORS: [Color; 6] = [
    Color::Reset,
    Color::Red,
    Color::Cyan,
    Color::LightBlue,
    Color::Indexed(200),
    Color::Rgb(1, 20, 255),
];

/// Styled clusters at a position (x, y).
type StyledClusters = (u16, u16, Vec<&'static str>, Style);

fn style() -> impl Strategy<Value = Style> {
    let modifiers = prop::sample::subsequence(MODIFIERS[..4].to_vec(), 0..3);
    let reversed = prop::bool::weighted(0.2);
    let color = || prop::sample::select(&COLORS[..]);
    let style = (color(), color(), modifiers, reversed, any::<bool>());
    style.prop_map(|(fg, bg, modifiers, reversed, is_plain)| {
        if is_plain {
            return Style::new();
        }
        let mut style = Style::new().fg(fg).bg(bg);
        for (modifier, _) in modifiers {
            style = style.add_modifier(modifier);
        }
        // The emulator supports only one of bold and dim at a time.
        if style.add_modifier.contains(Modifier::BOLD) {
            style.add_modifier.remove(Modifier::DIM);
        }
        if reversed {
            style = style.add_modifier(Modifier::REVERSED);
        }
        style
    })
}

fn styled_clusters(clusters: &[&'static str]) -> impl Strategy<Value = StyledClusters> + use<> {
    let clusters: Vec<&str> = [" ", " ", " "]
        .into_iter()
        .chain(clusters.iter().copied())
        .collect();
    let sequence = prop::collection::vec(prop::sample::select(clusters), 1..16);
    (0..COLUMNS, 0..ROWS, sequence, style())
}

/// A sequence of frames; each either draws over the previous frame or starts blank.
fn frames(
    clusters: &[&'static str],
) -> impl Strategy<Value = Vec<(bool, Vec<StyledClusters>)>> + use<> {
    let drawings = prop::collection::vec(styled_clusters(clusters), 0..6);
    let keeps_previous = prop::bool::weighted(0.7);
    prop::collection::vec((keeps_previous, drawings), 1..8)
}

/// Draws like the view: the second column of a wide cluster is blank, and overwriting one of the
/// two columns removes the whole cluster.
fn draw_clusters(buffer: &mut Buffer, (x, y, clusters, style): &StyledClusters) {
    let mut column = *x;
    for cluster in clusters {
        let cluster_columns = cluster_width(cluster) as u16;
        let columns_needed = if has_uncertain_width(cluster) {
            columns_max(cluster) as u16
        } else {
            cluster_columns
        };
        // `humble` disables line wrap, but the emulator always wraps, so keep the text within
        // the row.
        if column + columns_needed > COLUMNS {
            break;
        }
        for x in column..column + cluster_columns {
            blank_overlapped_cluster(buffer, x, *y);
            buffer[(x, *y)].reset();
            buffer[(x, *y)].set_style(*style);
        }
        buffer[(column, *y)].set_symbol(cluster);
        column += cluster_columns;
    }
}

fn blank_overlapped_cluster(buffer: &mut Buffer, x: u16, y: u16) {
    if x > 0 && columns(&buffer[(x - 1, y)]) == 2 {
        buffer[(x - 1, y)].reset();
    }
}

fn drawn_buffers(frames: Vec<(bool, Vec<StyledClusters>)>) -> Vec<Buffer> {
    let area = Rect::new(0, 0, COLUMNS, ROWS);
    let mut buffer = Buffer::empty(area);
    let buffers = frames.into_iter().map(|(keeps_previous, drawings)| {
        if !keeps_previous {
            buffer.reset();
        }
        for drawing in &drawings {
            draw_clusters(&mut buffer, drawing);
        }
        buffer.clone()
    });
    buffers.collect()
}

fn color(color: Color) -> vt100::Color {
    match color {
        Color::Red => vt100::Color::Idx(1),
        Color::Cyan => vt100::Color::Idx(6),
        Color::LightBlue => vt100::Color::Idx(12),
        Color::Indexed(index) => vt100::Color::Idx(index),
        Color::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
        _ => vt100::Color::Default,
    }
}

/// Compares cells, ignoring styles that are not visible on a space.
fn is_same_cell(ours: &Cell, theirs: &vt100::Cell) -> bool {
    let symbol = match theirs.contents() {
        "" => " ",
        text => text,
    };
    let modifiers = [
        (Modifier::BOLD, theirs.bold()),
        (Modifier::DIM, theirs.dim()),
        (Modifier::ITALIC, theirs.italic()),
        (Modifier::UNDERLINED, theirs.underline()),
        (Modifier::REVERSED, theirs.inverse()),
    ];
    let is_space = symbol == " ";
    let has_same_modifiers = modifiers.iter().all(|(modifier, is_on)| {
        is_space && !VISIBLE_ON_SPACE.contains(*modifier)
            || ours.modifier.contains(*modifier) == *is_on
    });
    let has_same_foreground = is_space
        && !CellStyle::of(ours).modifier.contains(Modifier::REVERSED)
        || theirs.fgcolor() == color(ours.fg);
    let has_same_background = theirs.bgcolor() == color(ours.bg);
    ours.symbol() == symbol && has_same_modifiers && has_same_foreground && has_same_background
}

/// Checks every cell whose width is certain.
fn assert_shown(parser: &Parser, buffer: &Buffer) -> Result<(), TestCaseError> {
    for y in 0..ROWS {
        let mut x = 0;
        while x < COLUMNS {
            let ours = &buffer[(x, y)];
            let cluster_columns = columns(ours) as u16;
            let theirs = parser
                .screen()
                .cell(y, x)
                .expect("the cell is on the screen");
            if !has_uncertain_width(ours.symbol()) {
                let is_same =
                    is_same_cell(ours, theirs) && theirs.is_wide() == (cluster_columns == 2);
                prop_assert!(is_same, "at {x},{y}: {ours:?}, shown as {theirs:?}");
            }
            x += cluster_columns;
        }
    }
    Ok(())
}

fn parser() -> Parser {
    let cells = |cells| NonZeroU16::new(cells).expect("not zero");
    Parser::new(cells(ROWS), cells(COLUMNS), 0)
}

fn check_frames(buffers: &[Buffer]) -> Result<(), TestCaseError> {
    let mut parser = parser();
    let mut previous = Buffer::empty(Rect::new(0, 0, COLUMNS, ROWS));
    let mut cursor = None;
    for buffer in buffers {
        let mut bytes = Vec::new();
        cursor = encode(&previous, buffer, cursor, &mut bytes);
        parser.process(&bytes);
        assert_shown(&parser, buffer)?;
        if let Some(cursor) = cursor {
            let (row, column) = parser.screen().cursor_position();
            prop_assert_eq!(
                (column, row),
                (cursor.x, cursor.y),
                "the reported cursor is wrong"
            );
        }
        bytes.clear();
        encode(buffer, buffer, cursor, &mut bytes);
        prop_assert_eq!(bytes.len(), 0, "an unchanged frame wrote bytes");
        previous = buffer.clone();
    }
    Ok(())
}

proptest! {
    #[test]
    fn terminal_shows_the_last_of_any_sequence_of_frames(frames in frames(&PLAIN)) {
        check_frames(&drawn_buffers(frames))?;
    }

    #[test]
    fn wrong_cluster_width_does_not_corrupt_neighboring_cells(
        frames in frames(&[PLAIN, UNCERTAIN_WIDTH].concat())
    ) {
        check_frames(&drawn_buffers(frames))?;
    }
}

fn row(text: &str) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, COLUMNS, 1));
    let clusters: Vec<&'static str> = text
        .split_inclusive(|_: char| true)
        .map(|cluster| {
            PLAIN
                .iter()
                .find(|plain| **plain == cluster)
                .copied()
                .unwrap_or(" ")
        })
        .collect();
    draw_clusters(&mut buffer, &(0, 0, clusters, Style::new()));
    buffer
}

fn encoded(old: &Buffer, new: &Buffer) -> String {
    let mut bytes = Vec::new();
    encode(old, new, None, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn shortened_row_is_erased_to_its_end() {
    let (old, new) = (row("aaaaaaaaaaaaaaaa"), row("aa"));
    assert_eq!(encoded(&old, &new), "\u{1b}[1;3H\u{1b}[K");
}

#[test]
fn short_gap_is_rewritten_and_long_gap_is_skipped() {
    let old = row("aaaaaaaaaaaaaaaa");
    assert_eq!(encoded(&old, &row("ZaaZaaaaaaaaaaaa")), "\u{1b}[1;1HZaaZ");
    assert_eq!(
        encoded(&old, &row("ZaaaaaaZaaaaaaaa")),
        "\u{1b}[1;1HZ\u{1b}[6CZ"
    );
}

#[test]
fn uncertain_cluster_repositions_cursor_and_redraws_neighbors() {
    let mut old = row("aaaaaaaaaaaaaaaa");
    let mut new = old.clone();
    draw_clusters(&mut new, &(2, 0, vec!["👨‍👩‍👧"], Style::new()));
    let output = encoded(&old, &new);
    assert_eq!(output, "\u{1b}[1;3H\u{1b}[2X👨‍👩‍👧\u{1b}[1;5Haaaaaaaa");
    // A change after the cluster does not redraw it.
    old = new.clone();
    draw_clusters(&mut new, &(14, 0, vec!["Z"], Style::new()));
    assert_eq!(encoded(&old, &new), "\u{1b}[1;15HZ");
}

#[test]
fn style_is_set_once_per_run_and_reset_at_the_end() {
    let old = row("");
    let mut new = old.clone();
    let bold = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
    draw_clusters(&mut new, &(0, 0, vec!["a", "a", " ", "a"], bold));
    assert_eq!(encoded(&old, &new), "\u{1b}[1;1H\u{1b}[1;36maa a\u{1b}[0m");
}

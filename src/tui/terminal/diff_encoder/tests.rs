//! Feeds the encoded bytes to a terminal emulator and compares the result with the last
//! buffer. For clusters of uncertain width the emulator behaves like the worst terminal: it
//! draws their characters one by one. All other cells must still be right.

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
        // The emulator supports only one of the two at a time.
        if style.add_modifier.contains(Modifier::BOLD) {
            style.add_modifier.remove(Modifier::DIM);
        }
        if reversed {
            style = style.add_modifier(Modifier::REVERSED);
        }
        style
    })
}

fn piece(clusters: &[&'static str]) -> impl Strategy<Value = StyledClusters> + use<> {
    let clusters: Vec<&str> = [" ", " ", " "]
        .into_iter()
        .chain(clusters.iter().copied())
        .collect();
    let words = prop::collection::vec(prop::sample::select(clusters), 1..16);
    (0..COLUMNS, 0..ROWS, words, style())
}

/// A sequence of frames; each either draws over the previous frame or starts blank.
fn frames(
    clusters: &[&'static str],
) -> impl Strategy<Value = Vec<(bool, Vec<StyledClusters>)>> + use<> {
    let pieces = prop::collection::vec(piece(clusters), 0..6);
    let keeps = prop::bool::weighted(0.7);
    prop::collection::vec((keeps, pieces), 1..8)
}

/// Draws like the view: the second half of a wide cluster is blank, and overwriting one
/// half removes the other.
fn put(buffer: &mut Buffer, (x, y, clusters, style): &StyledClusters) {
    let mut at = *x;
    for cluster in clusters {
        let wide = cluster_width(cluster) as u16;
        let room = if has_uncertain_width(cluster) {
            columns_max(cluster) as u16
        } else {
            wide
        };
        // Our terminals do not wrap, but the emulator does, so keep the text within the
        // row.
        if at + room > COLUMNS {
            break;
        }
        for x in at..at + wide {
            cut(buffer, x, *y);
            buffer[(x, *y)].reset();
            buffer[(x, *y)].set_style(*style);
        }
        buffer[(at, *y)].set_symbol(cluster);
        at += wide;
    }
}

/// Blanks a wide cluster that reaches into this cell from the left.
fn cut(buffer: &mut Buffer, x: u16, y: u16) {
    if x > 0 && columns(&buffer[(x - 1, y)]) == 2 {
        buffer[(x - 1, y)].reset();
    }
}

fn screens(frames: Vec<(bool, Vec<StyledClusters>)>) -> Vec<Buffer> {
    let area = Rect::new(0, 0, COLUMNS, ROWS);
    let mut buffer = Buffer::empty(area);
    let drawn = frames.into_iter().map(|(keeps, pieces)| {
        if !keeps {
            buffer.reset();
        }
        for piece in &pieces {
            put(&mut buffer, piece);
        }
        buffer.clone()
    });
    drawn.collect()
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

/// Compares cells. A style that is not visible on a space is ignored.
fn same(ours: &Cell, theirs: &vt100::Cell) -> bool {
    let symbol = match theirs.contents() {
        "" => " ",
        text => text,
    };
    let seen = ours.bg == Color::Reset || theirs.bgcolor() == color(ours.bg);
    let look = [
        (Modifier::BOLD, theirs.bold()),
        (Modifier::DIM, theirs.dim()),
        (Modifier::ITALIC, theirs.italic()),
        (Modifier::UNDERLINED, theirs.underline()),
        (Modifier::REVERSED, theirs.inverse()),
    ];
    let on_space = symbol == " ";
    let modifiers = look.iter().all(|(modifier, is_on)| {
        on_space && !VISIBLE_ON_SPACE.contains(*modifier)
            || ours.modifier.contains(*modifier) == *is_on
    });
    let letters = on_space && !CellStyle::of(ours).modifier.contains(Modifier::REVERSED)
        || theirs.fgcolor() == color(ours.fg);
    let behind = theirs.bgcolor() == color(ours.bg);
    ours.symbol() == symbol && seen && modifiers && letters && behind
}

/// Checks every cell whose width is certain.
fn assert_shown(parser: &Parser, buffer: &Buffer) -> Result<(), TestCaseError> {
    for y in 0..ROWS {
        let mut x = 0;
        while x < COLUMNS {
            let ours = &buffer[(x, y)];
            let wide = columns(ours) as u16;
            let theirs = parser.screen().cell(y, x).expect("inside");
            if !has_uncertain_width(ours.symbol()) {
                let is_same = same(ours, theirs) && theirs.is_wide() == (wide == 2);
                prop_assert!(is_same, "at {x},{y}: {ours:?}, shown as {theirs:?}");
            }
            x += wide;
        }
    }
    Ok(())
}

fn parser() -> Parser {
    let cells = |cells| NonZeroU16::new(cells).expect("not zero");
    Parser::new(cells(ROWS), cells(COLUMNS), 0)
}

/// Draws all buffers and compares after each.
fn play(buffers: &[Buffer]) -> Result<(), TestCaseError> {
    let mut parser = parser();
    let mut shown = Buffer::empty(Rect::new(0, 0, COLUMNS, ROWS));
    let mut at = None;
    for buffer in buffers {
        let mut bytes = Vec::new();
        at = encode(&shown, buffer, at, &mut bytes);
        parser.process(&bytes);
        assert_shown(&parser, buffer)?;
        if let Some(at) = at {
            let (row, column) = parser.screen().cursor_position();
            prop_assert_eq!((column, row), (at.x, at.y), "the reported cursor is right");
        }
        bytes.clear();
        encode(buffer, buffer, at, &mut bytes);
        prop_assert_eq!(bytes.len(), 0, "an unchanged frame writes nothing");
        shown = buffer.clone();
    }
    Ok(())
}

proptest! {
    #[test]
    fn terminal_shows_the_last_of_any_sequence_of_frames(frames in frames(&PLAIN)) {
        play(&screens(frames))?;
    }

    #[test]
    fn wrong_cluster_width_does_not_corrupt_neighboring_cells(
        frames in frames(&[PLAIN, UNCERTAIN_WIDTH].concat())
    ) {
        play(&screens(frames))?;
    }
}

fn line(text: &str) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, COLUMNS, 1));
    let clusters: Vec<&'static str> = text
        .split_inclusive(|_: char| true)
        .map(|cluster| {
            PLAIN
                .iter()
                .find(|known| **known == cluster)
                .copied()
                .unwrap_or(" ")
        })
        .collect();
    put(&mut buffer, &(0, 0, clusters, Style::new()));
    buffer
}

fn written(old: &Buffer, new: &Buffer) -> String {
    let mut bytes = Vec::new();
    encode(old, new, None, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn shortened_row_is_erased_to_its_end() {
    let (old, new) = (line("aaaaaaaaaaaaaaaa"), line("aa"));
    assert_eq!(written(&old, &new), "\u{1b}[1;3H\u{1b}[K");
}

#[test]
fn short_gap_is_rewritten_and_long_gap_is_skipped() {
    let old = line("aaaaaaaaaaaaaaaa");
    assert_eq!(written(&old, &line("ZaaZaaaaaaaaaaaa")), "\u{1b}[1;1HZaaZ");
    assert_eq!(
        written(&old, &line("ZaaaaaaZaaaaaaaa")),
        "\u{1b}[1;1HZ\u{1b}[6CZ"
    );
}

#[test]
fn uncertain_cluster_repositions_cursor_and_redraws_neighbors() {
    let mut old = line("aaaaaaaaaaaaaaaa");
    let mut new = old.clone();
    put(&mut new, &(2, 0, vec!["👨‍👩‍👧"], Style::new()));
    let bytes = written(&old, &new);
    assert_eq!(bytes, "\u{1b}[1;3H\u{1b}[2X👨‍👩‍👧\u{1b}[1;5Haaaaaaaa");
    // A change after the cluster does not redraw it.
    old = new.clone();
    put(&mut new, &(14, 0, vec!["Z"], Style::new()));
    assert_eq!(written(&old, &new), "\u{1b}[1;15HZ");
}

#[test]
fn style_is_set_once_per_run_and_reset_at_the_end() {
    let old = line("");
    let mut new = old.clone();
    let bold = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
    put(&mut new, &(0, 0, vec!["a", "a", " ", "a"], bold));
    assert_eq!(written(&old, &new), "\u{1b}[1;1H\u{1b}[1;36maa a\u{1b}[0m");
}

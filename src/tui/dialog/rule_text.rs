//! The text at the right ends of a dialog's horizontal rules: the server's claims about its tool,
//! and how much of the body was shown.

use crate::text::grapheme::width;
use crate::text::numbers::format_row_count;
use crate::tui::dialog::dialog_text::DialogText;
use crate::tui::dialog::state::{Dialog, DialogPage};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Draws the server's claims about its tool, at the right end of the title.
pub(super) fn draw_badges(text: &DialogText, line: Rect, pen: &mut Painter) {
    let dot = format!(" {} ", pen.glyphs.dot);
    let title_end = line.x + 4 + width(&text.title) as u16;
    // The most important ones come first.
    let fitting = (1..=text.badges.len()).rev().find_map(|count| {
        let texts: Vec<&str> = text.badges[..count]
            .iter()
            .map(|badge| badge.text)
            .collect();
        let columns = width(&texts.join(&dot)) as u16;
        let x = line.right().saturating_sub(columns + 2);
        (x > title_end).then_some((x, count))
    });
    let Some((x, count)) = fitting else { return };
    let (plain, dim) = (pen.theme.plain, pen.theme.dim);
    let mut x = x - 1;
    x += pen.put(x, line.y, " ", plain, 1);
    for (index, badge) in text.badges[..count].iter().enumerate() {
        if index > 0 {
            x += pen.put(x, line.y, &dot, dim, dot.len() as u16);
        }
        let style = match badge.is_harmful {
            true => pen.theme.attention,
            false => dim,
        };
        x += pen.put(x, line.y, badge.text, style, width(badge.text) as u16);
    }
    pen.put(x, line.y, " ", plain, 1);
}

/// For example `all shown · o full · F5 JSON`, at most `room` columns wide. The scroll marks are kept
/// longest: without them the user would not know that more follows.
pub(super) fn reading_state(
    dialog: &Dialog,
    room: usize,
    keymap: &Keymap,
    pen: &Painter,
) -> String {
    let marks = scroll_marks(dialog, room, pen);
    let is_subject = dialog.page() == DialogPage::Subject;
    if is_subject && dialog.requires_full_reading() && dialog.was_fully_drawn() {
        let dot = format!(" {} ", pen.glyphs.dot);
        let state = ["all shown", &marks].join(&dot);
        return match (marks.is_empty(), width(&state) <= room) {
            (true, _) => "all shown".to_owned(),
            (false, true) => state,
            (false, false) => marks,
        };
    }
    if dialog.call().is_none() || !is_subject {
        return marks;
    }
    let short = short_marks(dialog.scroll, dialog.last_top() - dialog.scroll, pen);
    let state = |marks: &str| match (dialog.rows_to_read(), marks.is_empty()) {
        (0, true) => vec!["all shown".to_owned()],
        (0, false) => vec!["all shown".to_owned(), marks.to_owned()],
        (_, false) => vec![marks.to_owned()],
        (left, true) => vec![format_row_count(left, "not shown")],
    };
    let size = if dialog.is_full { "smaller" } else { "full" };
    let size = keymap.layer_hint(KeyContext::Answer, LayerKey::FullHeight, size);
    let view = match dialog.shows_json() {
        true => "readable",
        false => "JSON",
    };
    let view = keymap.hint(Action::RAW, view);
    let keys = Vec::from_iter([size, view].into_iter().flatten());
    let candidates = [
        [state(&marks), keys.to_vec()].concat(),
        [state(&short), keys.to_vec()].concat(),
        [vec![short], keys.to_vec()].concat(),
        state(&marks),
    ];
    let dot = format!(" {} ", pen.glyphs.dot);
    let mut texts = candidates.iter().map(|parts| parts.join(&dot));
    texts.find(|text| width(text) <= room).unwrap_or(marks)
}

pub(super) fn scroll_marks(dialog: &Dialog, room: usize, pen: &Painter) -> String {
    let (above, below) = (dialog.scroll, dialog.last_top() - dialog.scroll);
    let mark = |arrow, count| (count > 0).then(|| format!("{arrow} {count} more"));
    let (up, down) = (mark(pen.glyphs.up, above), mark(pen.glyphs.down, below));
    let long: Vec<_> = up.into_iter().chain(down).collect();
    let long = long.join("  ");
    if width(&long) <= room {
        long
    } else {
        short_marks(above, below, pen)
    }
}

pub(super) fn short_marks(above: usize, below: usize, pen: &Painter) -> String {
    let mark = |arrow, count| (count > 0).then(|| format!("{arrow}{count}"));
    let (up, down) = (mark(pen.glyphs.up, above), mark(pen.glyphs.down, below));
    up.into_iter().chain(down).collect::<Vec<_>>().join(" ")
}

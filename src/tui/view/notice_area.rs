//! The area above the message: long notices, banners and queued prompts. Truncated text is
//! always marked.

use crate::domain::Severity;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::advice;
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::Model;
use crate::tui::widgets::painter::{Painter, rows_of};
use ratatui::layout::Rect;

/// Maximum rows per banner or notice.
const BANNER_ROWS_MAX: usize = 3;
/// Columns reserved at the right of a queued prompt for its state.
const STATE_COLUMNS: u16 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Notice(Severity),
    Banner,
    Queued,
    Continued,
}

/// All rows for a screen of this width, regardless of height.
pub fn rows(model: &Model, columns: u16) -> Vec<(Kind, String)> {
    let columns = columns.saturating_sub(4).max(1);
    let more = model.screen.glyphs.more;
    let mut rows = Vec::new();
    let mut add = |kind: Kind, text: &str| {
        let all = rows_of(&Clean::single_line(text), columns);
        let long = all.len() > BANNER_ROWS_MAX;
        for (index, row) in all.into_iter().take(BANNER_ROWS_MAX).enumerate() {
            // A trailing space has no column of its own.
            let mut row = row.trim_end().to_owned();
            if long && index + 1 == BANNER_ROWS_MAX {
                row = marked(&row, columns, more);
            }
            rows.push((if index == 0 { kind } else { Kind::Continued }, row));
        }
    };
    if let Some(notice) = model.notices.shown() {
        let sentence = advice::sentence(notice);
        if !fits_hint_line(&sentence, model, columns + 4) {
            add(Kind::Notice(notice.severity), &sentence);
        }
    }
    for banner in &model.engine.banners {
        add(Kind::Banner, &advice::sentence(&banner.notice));
    }
    for prompt in &model.composer.queue.prompts {
        let first = prompt.lines().next().unwrap_or_default();
        let columns = columns.saturating_sub(STATE_COLUMNS);
        let start = truncate_to_width(first, usize::from(columns));
        let clean = Clean::single_line(start);
        let is_whole = start.len() == prompt.trim_end().len();
        let row = match is_whole {
            true => clean.as_str().to_owned(),
            false => marked(clean.as_str(), columns, more),
        };
        rows.push((Kind::Queued, row));
    }
    rows
}

/// Appends a continuation mark without exceeding `columns`.
fn marked(row: &str, columns: u16, more: &str) -> String {
    let room = usize::from(columns).saturating_sub(width(more));
    format!("{}{more}", truncate_to_width(row.trim_end(), room))
}

/// Whether a notice fits beside the stop hint; without that hint it may use the whole line.
pub fn fits_hint_line(text: &str, model: &Model, columns: u16) -> bool {
    let kept = kept(model).map_or(0, |kept| kept.len() + 7);
    width(Clean::single_line(text).as_str()) + kept <= usize::from(columns)
}

/// The stop hint, which no notice may hide.
pub fn kept(model: &Model) -> Option<String> {
    let stop = || format!("{} stop", key_of(Action::Interrupt));
    (model.running().is_some() || model.probes().is_some()).then(stop)
}

pub fn draw(model: &Model, area: Rect, pen: &mut Painter) {
    let rows = rows(model, area.width);
    let height = usize::from(area.height);
    let hidden = rows.get(height..).unwrap_or_default();
    let hidden_prompts = queued(hidden);
    for (index, (kind, text)) in rows.iter().take(height).enumerate() {
        let y = area.y + index as u16;
        let is_cut = !hidden.is_empty() && index + 1 == height;
        let (mark, mark_style, style) = looks(*kind, pen);
        let columns = area.width.saturating_sub(4);
        let is_queued = *kind == Kind::Queued;
        if is_cut && is_queued {
            let words = format!("+{} more queued", hidden_prompts + 1);
            pen.put_cut(area.x + 3, y, &words, style, columns);
            continue;
        }
        pen.put(area.x + 1, y, mark, mark_style, 1);
        let mut state = match (is_queued, model.composer.queue.paused) {
            (true, true) => "paused".to_owned(),
            (true, false) => "queued".to_owned(),
            (false, _) => String::new(),
        };
        if is_cut && hidden_prompts > 0 {
            state = format!("+{hidden_prompts} more queued");
        }
        let room = match width(&state) as u16 {
            0 => columns,
            wide => columns.saturating_sub(wide + 1),
        };
        if is_cut && !text.ends_with(pen.glyphs.more) {
            let text = marked(text, room, pen.glyphs.more);
            pen.put(area.x + 3, y, &text, style, room);
        } else {
            pen.put_cut(area.x + 3, y, text, style, room);
        }
        pen.put_right(area.right().saturating_sub(1), y, &state, pen.theme.dim);
    }
}

fn queued(rows: &[(Kind, String)]) -> usize {
    let prompts = rows.iter().filter(|(kind, _)| *kind == Kind::Queued);
    prompts.count()
}

type Looks = (&'static str, ratatui::style::Style, ratatui::style::Style);

fn looks(kind: Kind, pen: &Painter) -> Looks {
    let (theme, glyphs) = (&pen.theme, &pen.glyphs);
    match kind {
        Kind::Banner => ("!", theme.attention, theme.plain),
        Kind::Notice(Severity::Failure) => (glyphs.failed, theme.failure, theme.plain),
        Kind::Notice(Severity::Warning) => ("!", theme.attention, theme.plain),
        Kind::Notice(Severity::Info) => (glyphs.dot, theme.accent, theme.plain),
        Kind::Queued => (glyphs.folded, theme.dim, theme.dim),
        Kind::Continued => ("", theme.plain, theme.plain),
    }
}

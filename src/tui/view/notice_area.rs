//! The area above the message: long notices, banners and queued prompts. Truncated text is
//! always marked.

use crate::domain::Severity;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::advice;
use crate::tui::keymap::{Action, key_label};
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::Rect;

/// Maximum rows per banner or notice.
const BANNER_ROWS_MAX: usize = 3;
/// Columns reserved at the right of a queued prompt for its state.
const STATE_COLUMNS: u16 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeRowKind {
    Notice(Severity),
    Banner,
    Queued,
    Continuation,
}

/// All rows for a screen of this width, regardless of height.
pub fn notice_rows(model: &UiModel, columns: u16) -> Vec<(NoticeRowKind, String)> {
    let columns = columns.saturating_sub(4).max(1);
    let more = model.screen.glyphs.more;
    let mut rows = Vec::new();
    let mut add = |kind: NoticeRowKind, text: &str| {
        let all = wrapped_rows(&Clean::single_line(text), columns);
        let long = all.len() > BANNER_ROWS_MAX;
        for (index, row) in all.into_iter().take(BANNER_ROWS_MAX).enumerate() {
            // A trailing space has no column of its own.
            let mut row = row.trim_end().to_owned();
            if long && index + 1 == BANNER_ROWS_MAX {
                row = with_more_mark(&row, columns, more);
            }
            rows.push((
                if index == 0 {
                    kind
                } else {
                    NoticeRowKind::Continuation
                },
                row,
            ));
        }
    };
    if let Some(notice) = model.notices.current() {
        let sentence = advice::notice_line(notice);
        // The hint line is as wide as the screen, whatever the width of this area.
        if !fits_hint_line(&sentence, model, model.screen.size.0) {
            add(NoticeRowKind::Notice(notice.severity), &sentence);
        }
    }
    for banner in &model.engine.banners {
        add(NoticeRowKind::Banner, &advice::notice_line(&banner.notice));
    }
    for prompt in &model.composer.queue.prompts {
        let first = prompt.lines().next().unwrap_or_default();
        let columns = columns.saturating_sub(STATE_COLUMNS);
        let start = truncate_to_width(first, usize::from(columns));
        let clean = Clean::single_line(start);
        let is_whole = start.len() == prompt.trim_end().len();
        let row = match is_whole {
            true => clean.as_str().to_owned(),
            false => with_more_mark(clean.as_str(), columns, more),
        };
        rows.push((NoticeRowKind::Queued, row));
    }
    rows
}

/// Appends a continuation mark without exceeding `columns`.
fn with_more_mark(row: &str, columns: u16, more: &str) -> String {
    let room = usize::from(columns).saturating_sub(width(more));
    format!("{}{more}", truncate_to_width(row.trim_end(), room))
}

/// Whether a notice fits beside the stop hint; without that hint it may use the whole line.
pub fn fits_hint_line(text: &str, model: &UiModel, columns: u16) -> bool {
    let kept = stop_hint(model).map_or(0, |kept| kept.len() + 7);
    width(Clean::single_line(text).as_str()) + kept <= usize::from(columns)
}

/// The stop hint, which no notice may hide.
pub fn stop_hint(model: &UiModel) -> Option<String> {
    let stop = || format!("{} stop", key_label(Action::Interrupt));
    (model.running_turn().is_some() || model.active_probe().is_some()).then(stop)
}

pub fn draw(model: &UiModel, area: Rect, pen: &mut Painter) {
    let rows = notice_rows(model, area.width);
    let height = usize::from(area.height);
    let hidden = rows.get(height..).unwrap_or_default();
    let hidden_prompts = count_queued(hidden);
    for (index, (kind, text)) in rows.iter().take(height).enumerate() {
        let y = area.y + index as u16;
        let is_cut = !hidden.is_empty() && index + 1 == height;
        let (mark, mark_style, style) = row_style(*kind, pen);
        let columns = area.width.saturating_sub(4);
        let is_queued = *kind == NoticeRowKind::Queued;
        if is_cut && is_queued {
            let words = format!("+{} more queued", hidden_prompts + 1);
            pen.put_truncated(area.x + 3, y, &words, style, columns);
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
            let text = with_more_mark(text, room, pen.glyphs.more);
            pen.put(area.x + 3, y, &text, style, room);
        } else {
            pen.put_truncated(area.x + 3, y, text, style, room);
        }
        pen.put_right(area.right().saturating_sub(1), y, &state, pen.theme.dim);
    }
}

fn count_queued(rows: &[(NoticeRowKind, String)]) -> usize {
    let prompts = rows
        .iter()
        .filter(|(kind, _)| *kind == NoticeRowKind::Queued);
    prompts.count()
}

type NoticeRowStyle = (&'static str, ratatui::style::Style, ratatui::style::Style);

fn row_style(kind: NoticeRowKind, pen: &Painter) -> NoticeRowStyle {
    let (theme, glyphs) = (&pen.theme, &pen.glyphs);
    match kind {
        NoticeRowKind::Banner => ("!", theme.attention, theme.plain),
        NoticeRowKind::Notice(Severity::Failure) => (glyphs.failed, theme.failure, theme.plain),
        NoticeRowKind::Notice(Severity::Warning) => ("!", theme.attention, theme.plain),
        NoticeRowKind::Notice(Severity::Info) => (glyphs.dot, theme.accent, theme.plain),
        NoticeRowKind::Queued => (glyphs.folded, theme.dim, theme.dim),
        NoticeRowKind::Continuation => ("", theme.plain, theme.plain),
    }
}

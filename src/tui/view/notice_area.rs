//! The area above the message: long notices, banners and queued prompts. Truncated text is
//! always marked.

use crate::domain::{EntryBody, Severity};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::advice;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::{Action, key_label};
use crate::tui::notices::Notices;
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
    /// Names the message that is being edited.
    Editing,
    Queued,
    Continuation,
}

/// All rows for an area of this width, regardless of its height.
pub fn notice_rows(model: &UiModel, columns: u16) -> Vec<(NoticeRowKind, String)> {
    let columns = columns.saturating_sub(4).max(1);
    let more_mark = model.screen.glyphs.more;
    let mut rows = Vec::new();
    let mut add = |kind: NoticeRowKind, text: &str| {
        let wrapped = wrapped_rows(&Clean::single_line(text), columns);
        let is_truncated = wrapped.len() > BANNER_ROWS_MAX;
        for (index, row) in wrapped.into_iter().take(BANNER_ROWS_MAX).enumerate() {
            // A trailing space may exceed the width of the row.
            let mut row = row.trim_end().to_owned();
            if is_truncated && index + 1 == BANNER_ROWS_MAX {
                row = with_more_mark(&row, columns, more_mark);
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
        // The hint line is as wide as the screen; this area may be narrower.
        if !fits_hint_line(&sentence, model, model.screen.size.0) {
            add(NoticeRowKind::Notice(notice.severity), &sentence);
        }
    }
    for banner in model.notices.visible_banners(&model.engine.banners) {
        let line = advice::notice_line(&banner.notice);
        let hint = match Notices::can_hide(banner) {
            true => format!(" {} hides this.", key_label(Action::Back)),
            false => String::new(),
        };
        add(NoticeRowKind::Banner, &format!("{line}{hint}"));
    }
    for prompt in &model.composer.queue.prompts {
        let first_line = prompt.lines().next().unwrap_or_default();
        let columns = columns.saturating_sub(STATE_COLUMNS);
        let start = truncate_to_width(first_line, usize::from(columns));
        let clean = Clean::single_line(start);
        let is_whole = start.len() == prompt.trim_end().len();
        let row = match is_whole {
            true => clean.as_str().to_owned(),
            false => with_more_mark(clean.as_str(), columns, more_mark),
        };
        rows.push((NoticeRowKind::Queued, row));
    }
    if let Some(line) = editing_line(model) {
        let clean = Clean::single_line(&line);
        let row = match width(clean.as_str()) <= usize::from(columns) {
            true => clean.as_str().to_owned(),
            false => with_more_mark(clean.as_str(), columns, more_mark),
        };
        rows.push((NoticeRowKind::Editing, row));
    }
    rows
}

/// The line above the editor that says which message is being edited.
fn editing_line(model: &UiModel) -> Option<String> {
    let edited = model.composer.edited()?;
    let first_line = |text: &str| {
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().trim().to_owned()
    };
    let transcript = &model.chat.transcript;
    Some(match edited.target {
        MessageTarget::LastPrompt => {
            format!(
                "Editing your last message: {}",
                first_line(&edited.original)
            )
        }
        MessageTarget::Prompt(turn) => {
            let turns = transcript
                .prompt_index(turn)
                .map_or(0, |index| transcript.answered_turns_from(index + 1));
            let ago = match turns {
                1 => "turn".to_owned(),
                turns => format!("{turns} turns"),
            };
            format!(
                "Editing your message before the last {ago}: {}",
                first_line(&edited.original)
            )
        }
        MessageTarget::Answer(turn) => {
            let prompt = transcript.prompt_index(turn);
            let prompt = prompt.and_then(|index| match &transcript.entries()[index].body {
                EntryBody::Prompt { text, .. } => Some(first_line(text)),
                _ => None,
            });
            format!("Editing the answer to: {}", prompt.unwrap_or_default())
        }
    })
}

/// Appends a continuation mark without exceeding `columns`.
fn with_more_mark(row: &str, columns: u16, more_mark: &str) -> String {
    let text_columns = usize::from(columns).saturating_sub(width(more_mark));
    format!(
        "{}{more_mark}",
        truncate_to_width(row.trim_end(), text_columns)
    )
}

/// Whether a notice fits into the hint line, beside the stop hint if that is shown.
pub fn fits_hint_line(text: &str, model: &UiModel, columns: u16) -> bool {
    let reserved = stop_hint(model).map_or(0, |hint| hint.len() + 7);
    width(Clean::single_line(text).as_str()) + reserved <= usize::from(columns)
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
        let is_last_before_hidden = !hidden.is_empty() && index + 1 == height;
        let (mark, mark_style, style) = row_style(*kind, pen);
        let columns = area.width.saturating_sub(4);
        let is_queued = *kind == NoticeRowKind::Queued;
        if is_last_before_hidden && is_queued {
            let label = format!("+{} more queued", hidden_prompts + 1);
            pen.put_truncated(area.x + 3, y, &label, style, columns);
            continue;
        }
        pen.put(area.x + 1, y, mark, mark_style, 1);
        let mut state = match (is_queued, model.composer.queue.paused) {
            (true, true) => "paused".to_owned(),
            (true, false) => "queued".to_owned(),
            (false, _) => String::new(),
        };
        if is_last_before_hidden && hidden_prompts > 0 {
            state = format!("+{hidden_prompts} more queued");
        }
        let text_columns = match width(&state) as u16 {
            0 => columns,
            state_columns => columns.saturating_sub(state_columns + 1),
        };
        if is_last_before_hidden && !text.ends_with(pen.glyphs.more) {
            let text = with_more_mark(text, text_columns, pen.glyphs.more);
            pen.put(area.x + 3, y, &text, style, text_columns);
        } else {
            pen.put_truncated(area.x + 3, y, text, style, text_columns);
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

/// Mark, style of the mark, style of the text.
type NoticeRowStyle = (&'static str, ratatui::style::Style, ratatui::style::Style);

fn row_style(kind: NoticeRowKind, pen: &Painter) -> NoticeRowStyle {
    let (theme, glyphs) = (&pen.theme, &pen.glyphs);
    match kind {
        NoticeRowKind::Banner => ("!", theme.attention, theme.plain),
        NoticeRowKind::Notice(Severity::Failure) => (glyphs.failed, theme.failure, theme.plain),
        NoticeRowKind::Notice(Severity::Warning) => ("!", theme.attention, theme.plain),
        NoticeRowKind::Notice(Severity::Info) => (glyphs.dot, theme.accent, theme.plain),
        NoticeRowKind::Editing => (glyphs.folded, theme.accent, theme.plain),
        NoticeRowKind::Queued => (glyphs.folded, theme.dim, theme.dim),
        NoticeRowKind::Continuation => ("", theme.plain, theme.plain),
    }
}

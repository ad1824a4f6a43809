//! The area above the message: long notices, banners, waiting questions, queued prompts, attached
//! files, and which message is being edited. Truncated text is always marked.

use crate::domain::{EntryBody, Severity};
use crate::front_end::advice;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::attachments::rows::attachment_rows;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::Action;
use crate::tui::notices::Notices;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::Rect;

/// Columns of the mark before a notice, with a blank on either side.
pub const MARK_COLUMNS: u16 = 3;
/// On narrower screens, a notice that fills the hint line has no mark: there may be no other row for it.
const MARK_SCREEN_COLUMNS_MIN: u16 = 40;
/// Maximum rows per banner or notice.
const BANNER_ROWS_MAX: usize = 3;
/// Maximum rows of queued prompts, and of attached files.
const LIST_ROWS_MAX: usize = 3;
/// On screens of at least this height, the lists are not limited.
const TALL_SCREEN_ROWS_MIN: u16 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeRowKind {
    Notice(Severity),
    Banner,
    /// Names the message that is being edited.
    Editing,
    Queued,
    /// Counts the prompts that are set aside.
    SetAside,
    SelectedQueued,
    Attached,
    /// An attached file that cannot or should not be sent.
    AttachedProblem,
    Continuation,
}

/// One row, with a label at its right end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeRow {
    pub kind: NoticeRowKind,
    pub text: String,
    pub label: String,
}

/// All rows for an area of this width, regardless of its height.
pub fn notice_rows(model: &UiModel, columns: u16) -> Vec<NoticeRow> {
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
            rows.push(NoticeRow {
                kind: match index {
                    0 => kind,
                    _ => NoticeRowKind::Continuation,
                },
                text: row,
                label: String::new(),
            });
        }
    };
    if let Some(notice) = model.notices.current() {
        let sentence = advice::notice_line(notice);
        // The hint line is as wide as the screen; this area may be narrower.
        if !fits_hint_line(&sentence, model, model.screen.size.0) {
            add(NoticeRowKind::Notice(notice.severity), &sentence);
        }
    }
    for banner in model.notices.visible_banners(model.banners()) {
        let line = advice::notice_line(&banner.notice);
        let hint = Notices::can_hide(banner)
            .then(|| model.keymap.hint(Action::Back, "hides this."))
            .flatten();
        let hint = hint.map_or_else(String::new, |hint| format!(" {hint}"));
        add(NoticeRowKind::Banner, &format!("{line}{hint}"));
    }
    if let Some(text) = waiting_question_text(model) {
        add(NoticeRowKind::Banner, &text);
    }
    rows.extend(set_aside_row(model));
    rows.extend(queue_rows(model));
    rows.extend(file_rows(model));
    if let Some(line) = editing_line(model) {
        let clean = Clean::single_line(&line);
        let row = match width(clean.as_str()) <= usize::from(columns) {
            true => clean.as_str().to_owned(),
            false => with_more_mark(clean.as_str(), columns, more_mark),
        };
        rows.push(NoticeRow {
            kind: NoticeRowKind::Editing,
            text: row,
            label: String::new(),
        });
    }
    rows
}

/// Names the first server whose question waits until the user opens it, and counts the others.
fn waiting_question_text(model: &UiModel) -> Option<String> {
    let mut servers = model.dialogs.waiting_servers();
    let first = Clean::quoted_if_needed(servers.next()?.as_str());
    let others = match servers.count() {
        0 => String::new(),
        1 => " (1 more is waiting)".to_owned(),
        count => format!(" ({count} more are waiting)"),
    };
    let open = model.keymap.hint(Action::ANSWER, "opens it.");
    let open = open.unwrap_or_else(|| "/answer opens it.".to_owned());
    Some(format!(
        "Server {first} has a question for you{others}. {open}"
    ))
}

/// A window of the list that contains the row `shown`: its start and its length.
fn window(count: usize, shown: usize, model: &UiModel) -> (usize, usize) {
    let rows_max = match model.screen.size.1 {
        TALL_SCREEN_ROWS_MIN.. => count,
        _ => LIST_ROWS_MAX,
    };
    let length = count.min(rows_max);
    (shown.saturating_sub(length.saturating_sub(1)), length)
}

fn label_or_hidden_count(hidden: usize, name: &str, label: String) -> String {
    match hidden {
        0 => label,
        hidden => format!("+{hidden} more {name}"),
    }
}

/// Takes the place of the last run's queue while a private conversation is open.
fn set_aside_row(model: &UiModel) -> Option<NoticeRow> {
    let text = match model.composer.set_aside().queue.len() {
        0 => return None,
        1 => "1 queued prompt of the last run is set aside until private mode ends.".to_owned(),
        count => {
            format!("{count} queued prompts of the last run are set aside until private mode ends.")
        }
    };
    Some(NoticeRow {
        kind: NoticeRowKind::SetAside,
        text,
        label: String::new(),
    })
}

fn queue_rows(model: &UiModel) -> Vec<NoticeRow> {
    let queue = &model.composer.queue;
    let count = queue.prompts().len();
    let shown = queue.selected().or(queue.edited()).unwrap_or(0);
    let (start, length) = window(count, shown, model);
    let prompts = queue.prompts().enumerate().skip(start).take(length);
    let rows = prompts.map(|(index, prompt)| {
        let label = match (queue.edited() == Some(index), queue.is_paused) {
            (true, _) => "editing",
            (false, true) => "paused",
            (false, false) => "queued",
        };
        let is_last = index + 1 == start + length;
        let hidden = if is_last { count - length } else { 0 };
        let files = match prompt.attachments.len() {
            0 => String::new(),
            1 => "  [1 file]".to_owned(),
            count => format!("  [{count} files]"),
        };
        let mut lost = prompt.lost_files();
        let lost = match (lost.next(), lost.count()) {
            (None, _) => String::new(),
            (Some(file), 0) => format!("  [{} missing]", Clean::name(&file.name).as_str()),
            (Some(_), more) => format!("  [{} files missing]", more + 1),
        };
        let mut lines = prompt.text.trim_end().lines();
        let first_line = lines.next().unwrap_or_default();
        let more = lines.next().map_or("", |_| model.screen.glyphs.more);
        let start = truncate_to_width(first_line, usize::from(model.screen.size.0));
        NoticeRow {
            kind: match queue.selected() == Some(index) {
                true => NoticeRowKind::SelectedQueued,
                false => NoticeRowKind::Queued,
            },
            text: format!("{}{more}{files}{lost}", Clean::single_line(start).as_str()),
            label: label_or_hidden_count(hidden, "queued", label.to_owned()),
        }
    });
    rows.collect()
}

fn file_rows(model: &UiModel) -> Vec<NoticeRow> {
    let files = attachment_rows(model);
    let count = files.len();
    let (start, length) = window(count, count.saturating_sub(1), model);
    let files = files.into_iter().enumerate().skip(start).take(length);
    let rows = files.map(|(index, file)| {
        let hidden = if index == start { start } else { 0 };
        NoticeRow {
            kind: match file.is_problem {
                true => NoticeRowKind::AttachedProblem,
                false => NoticeRowKind::Attached,
            },
            text: file.name,
            label: label_or_hidden_count(
                hidden,
                if hidden == 1 { "file" } else { "files" },
                file.details,
            ),
        }
    });
    rows.collect()
}

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
            let which = match turns {
                // No later message was answered.
                0 => "an earlier message".to_owned(),
                1 => "the message before your last one".to_owned(),
                turns => format!("your message from {turns} messages ago"),
            };
            format!("Editing {which}: {}", first_line(&edited.original))
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

/// Appends the mark of truncated text without exceeding `columns`.
fn with_more_mark(row: &str, columns: u16, more_mark: &str) -> String {
    let text_columns = usize::from(columns).saturating_sub(width(more_mark));
    format!(
        "{}{more_mark}",
        truncate_to_width(row.trim_end(), text_columns)
    )
}

/// Whether a notice fits into the hint line, beside the stop hint if that is shown.
pub fn fits_hint_line(text: &str, model: &UiModel, columns: u16) -> bool {
    let reserved = stop_hint(model).map_or(0, |hint| width(&hint) + 7);
    let mark = match columns {
        MARK_SCREEN_COLUMNS_MIN.. => usize::from(MARK_COLUMNS),
        _ => 0,
    };
    let reserved = reserved.max(mark);
    width(Clean::single_line(text).as_str()) + reserved <= usize::from(columns)
}

/// The stop hint, which no notice may hide.
pub fn stop_hint(model: &UiModel) -> Option<String> {
    let has_job = model.active_probe().is_some() || model.sampling.is_some();
    let is_running = model.running_turn().is_some() || has_job;
    let hint = is_running.then(|| model.keymap.hint(Action::Interrupt, "stop"));
    hint.flatten()
}

pub fn draw(model: &UiModel, area: Rect, pen: &mut Painter) {
    let rows = notice_rows(model, area.width);
    let height = usize::from(area.height);
    let hidden = rows.get(height..).unwrap_or_default();
    let hidden_prompts = hidden.iter().filter(|row| row.is_queued()).count();
    for (index, row) in rows.iter().take(height).enumerate() {
        let y = area.y + index as u16;
        let is_last_before_hidden = !hidden.is_empty() && index + 1 == height;
        let (mark, mark_style, style) = row_style(row.kind, pen);
        let columns = area.width.saturating_sub(4);
        let all_prompts = model.composer.queue.prompts().len();
        if is_last_before_hidden && row.is_queued() {
            let shown = rows[..index].iter().filter(|row| row.is_queued()).count();
            let label = format!("+{} more queued", all_prompts - shown);
            pen.put_truncated(area.x + 3, y, &label, style, columns);
            continue;
        }
        pen.put(area.x + 1, y, mark, mark_style, 1);
        let label = match is_last_before_hidden && hidden_prompts > 0 {
            true => format!("+{all_prompts} more queued"),
            false => row.label.clone(),
        };
        let text_columns = match width(&label) as u16 {
            0 => columns,
            label_columns => columns.saturating_sub(label_columns + 1),
        };
        let is_truncated = width(&row.text) > usize::from(text_columns)
            || is_last_before_hidden && !row.text.ends_with(pen.glyphs.more);
        if is_truncated {
            let text = with_more_mark(&row.text, text_columns, pen.glyphs.more);
            pen.put(area.x + 3, y, &text, style, text_columns);
        } else {
            pen.put_truncated(area.x + 3, y, &row.text, style, text_columns);
        }
        let label_style = match row.kind {
            NoticeRowKind::AttachedProblem => pen.theme.attention,
            _ => pen.theme.dim,
        };
        pen.put_right(area.right().saturating_sub(1), y, &label, label_style);
    }
}

impl NoticeRow {
    fn is_queued(&self) -> bool {
        matches!(
            self.kind,
            NoticeRowKind::Queued | NoticeRowKind::SelectedQueued
        )
    }
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
        NoticeRowKind::Queued | NoticeRowKind::SetAside => (glyphs.folded, theme.dim, theme.dim),
        NoticeRowKind::SelectedQueued => (glyphs.cursor, theme.accent, theme.plain),
        NoticeRowKind::Attached => ("@", theme.accent, theme.plain),
        NoticeRowKind::AttachedProblem => ("!", theme.attention, theme.plain),
        NoticeRowKind::Continuation => ("", theme.plain, theme.plain),
    }
}

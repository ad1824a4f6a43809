//! Draws the list of `/trust` and the details of an entry.

use crate::domain::TrustEntry;
use crate::domain::trust::RuleCaveat;
use crate::text::Clean;
use crate::tui::trust::describe::{detail_lines, trust_line};
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::painter::{Painter, single_line, wrapped_rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

/// Widths of the status and date columns.
const STATUS_WIDTH: u16 = 19;
const DATE_WIDTH: u16 = 12;
/// Lists narrower than this show the status as one symbol, to leave space for the tool's name.
const LIST_WIDTH_WITH_FULL_STATUS_MIN: u16 = 40;
const SHORT_STATUS_WIDTH: u16 = 2;
/// Lists narrower than this omit the date.
const LIST_WIDTH_WITH_DATE_MIN: u16 = 52;

pub fn draw_list(entries: &[TrustEntry], selected: usize, area: Rect, pen: &mut Painter) {
    for row in rows_in_view(entries.len(), Some(selected), area, pen) {
        let (entry, y) = (&entries[row.index], row.line.y);
        let line = trust_line(entry);
        row.put_mark(pen);
        let mut end = area.right();
        if area.width >= LIST_WIDTH_WITH_DATE_MIN {
            end -= DATE_WIDTH.min(end - area.x);
            let date = line.since.map(format_day).unwrap_or_default();
            pen.put(end + 1, y, &date, pen.theme.dim, DATE_WIDTH - 1);
        }
        let status_width = match area.width < LIST_WIDTH_WITH_FULL_STATUS_MIN {
            true => SHORT_STATUS_WIDTH,
            false => STATUS_WIDTH,
        };
        end -= status_width.min(end - area.x);
        let awaits_review = matches!(entry, TrustEntry::PendingPinChange(_));
        let status_style = match (awaits_review, row.is_selected) {
            (true, _) => pen.theme.attention,
            (false, true) => pen.theme.accent,
            (false, false) => pen.theme.dim,
        };
        let status = match area.width < LIST_WIDTH_WITH_FULL_STATUS_MIN {
            true => status_symbol(entry),
            false => &line.status,
        };
        pen.put_truncated(end + 1, y, status, status_style, status_width - 1);
        let subject_width = end.saturating_sub(area.x + 2);
        let subject = match area.width < LIST_WIDTH_WITH_FULL_STATUS_MIN {
            true => line.subject.replace("   ", " "),
            false => line.subject,
        };
        pen.put_truncated(
            area.x + 2,
            y,
            single_line(&subject).as_str(),
            row.style,
            subject_width,
        );
    }
}

/// A symbol for the status: `~` if inactive, `-` if it never runs, `+` if it runs, `!` if it awaits
/// review, `>` if instructions are sent.
fn status_symbol(entry: &TrustEntry) -> &'static str {
    match entry {
        TrustEntry::RuleWithCaveat(_, caveat) if *caveat != RuleCaveat::NotPersisted => "~",
        TrustEntry::Rule(rule) | TrustEntry::RuleWithCaveat(rule, _) if rule.is_blocking() => "-",
        TrustEntry::Rule(_) | TrustEntry::RuleWithCaveat(..) | TrustEntry::SessionGrant(_) => "+",
        TrustEntry::PendingPinChange(_) => "!",
        TrustEntry::Instructions(_) | TrustEntry::InstructionsUntilExit(_) => ">",
    }
}

fn format_day(time: Timestamp) -> String {
    let local = time.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d").to_string()
}

pub fn draw_detail(entry: &TrustEntry, top: &mut usize, area: Rect, pen: &mut Painter) {
    let line = trust_line(entry);
    let mut rows = wrapped_rows(&single_line(&line.subject), area.width);
    let subject_rows = rows.len();
    let since = line.since.map(format_day);
    let since = since.map_or_else(String::new, |day| format!(", since {day}"));
    rows.extend(wrapped_rows(
        &Clean::single_line(&format!("{}{since}", line.status)),
        area.width,
    ));
    rows.push(String::new());
    for text in detail_lines(entry) {
        rows.extend(wrapped_rows(&Clean::escaped(&text), area.width));
    }
    *top = (*top).min(rows.len().saturating_sub(usize::from(area.height)));
    let visible = rows.iter().enumerate().skip(*top);
    for (y, (index, row)) in (area.top()..area.bottom()).zip(visible) {
        let style = match index < subject_rows {
            true => pen.theme.bold,
            false => pen.theme.plain,
        };
        pen.put(area.x, y, row, style, area.width);
    }
}

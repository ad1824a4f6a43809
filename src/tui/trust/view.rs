//! Draws the list of `/trust` and the details of an entry.

use crate::domain::TrustEntry;
use crate::domain::trust::InactiveReason;
use crate::text::Clean;
use crate::tui::trust::describe::{detail_lines, trust_line};
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::painter::{Painter, single_line, wrapped_rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

/// Columns of the decision, and of the date.
const KIND_WIDTH: u16 = 19;
const DATE_WIDTH: u16 = 12;
/// Narrower lists show a sign for the decision, to leave columns for the tool's name.
const KIND_FROM: u16 = 40;
const SHORT_KIND_WIDTH: u16 = 2;
/// Minimum width to show the date.
const DATE_FROM: u16 = 52;

pub fn draw_list(trusted: &[TrustEntry], chosen: usize, area: Rect, pen: &mut Painter) {
    for row in rows_in_view(trusted.len(), Some(chosen), area, pen) {
        let (entry, y) = (&trusted[row.index], row.line.y);
        let line = trust_line(entry);
        row.put_mark(pen);
        let mut end = area.right();
        if area.width >= DATE_FROM {
            end -= DATE_WIDTH.min(end - area.x);
            let date = line.since.map(format_day).unwrap_or_default();
            pen.put(end + 1, y, &date, pen.theme.dim, DATE_WIDTH - 1);
        }
        let columns = match area.width < KIND_FROM {
            true => SHORT_KIND_WIDTH,
            false => KIND_WIDTH,
        };
        end -= columns.min(end - area.x);
        let is_waiting = matches!(entry, TrustEntry::PendingPinChange(_));
        let kind_style = match (is_waiting, row.is_selected) {
            (true, _) => pen.theme.attention,
            (false, true) => pen.theme.accent,
            (false, false) => pen.theme.dim,
        };
        let kind = match area.width < KIND_FROM {
            true => kind_sign(entry),
            false => &line.kind,
        };
        pen.put_truncated(end + 1, y, kind, kind_style, columns - 1);
        let columns = end.saturating_sub(area.x + 2);
        let what = match area.width < KIND_FROM {
            true => line.subject.replace("   ", " "),
            false => line.subject,
        };
        pen.put_truncated(
            area.x + 2,
            y,
            single_line(&what).as_str(),
            row.style,
            columns,
        );
    }
}

/// A sign for the decision: `~` inactive, `-` never runs, `+` runs, `!` waits for review,
/// `>` instructions are sent.
fn kind_sign(entry: &TrustEntry) -> &'static str {
    match entry {
        TrustEntry::InactiveRule(_, lapse) if *lapse != InactiveReason::NotPersisted => "~",
        TrustEntry::Rule(rule) | TrustEntry::InactiveRule(rule, _) if rule.is_blocking() => "-",
        TrustEntry::Rule(_) | TrustEntry::InactiveRule(..) | TrustEntry::SessionGrant(_) => "+",
        TrustEntry::PendingPinChange(_) => "!",
        TrustEntry::Instructions(_) | TrustEntry::InstructionsUntilExit(_) => ">",
    }
}

fn format_day(at: Timestamp) -> String {
    let local = at.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d").to_string()
}

pub fn draw_detail(entry: &TrustEntry, top: &mut usize, area: Rect, pen: &mut Painter) {
    let line = trust_line(entry);
    let mut rows = wrapped_rows(&single_line(&line.subject), area.width);
    let head = rows.len();
    let since = line.since.map(format_day);
    let since = since.map_or_else(String::new, |day| format!(", since {day}"));
    rows.extend(wrapped_rows(
        &Clean::single_line(&format!("{}{since}", line.kind)),
        area.width,
    ));
    rows.push(String::new());
    for text in detail_lines(entry) {
        rows.extend(wrapped_rows(&Clean::escaped(&text), area.width));
    }
    *top = (*top).min(rows.len().saturating_sub(usize::from(area.height)));
    let shown = rows.iter().enumerate().skip(*top);
    for (y, (index, row)) in (area.top()..area.bottom()).zip(shown) {
        let style = match index < head {
            true => pen.theme.bold,
            false => pen.theme.plain,
        };
        pen.put(area.x, y, row, style, area.width);
    }
}

//! The list of `/trust`, and what one line of it holds.

use crate::domain::Trusted;
use crate::domain::trust::Lapse;
use crate::text::Clean;
use crate::tui::dialog::body::one_line;
use crate::tui::model::Model;
use crate::tui::trust::state::{TrustList, detail, line};
use crate::tui::widgets::list::dialog;
use crate::tui::widgets::painter::{Pen, rows_of};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

/// Columns of what was decided, and of the date.
const KIND_WIDTH: u16 = 19;
const DATE_WIDTH: u16 = 12;
/// Under this width a sign stands for what was decided: what it is about comes first.
const KIND_FROM: u16 = 40;
const SHORT_KIND_WIDTH: u16 = 2;
/// From this width on the date is shown.
const DATE_FROM: u16 = 52;

pub fn draw(model: &Model, list: &mut TrustList, over: Rect, pen: &mut Pen) {
    let trusted = &model.trusted;
    list.chosen = list.chosen.min(trusted.len().saturating_sub(1));
    let count = match trusted.len() {
        0 => String::new(),
        count => format!("{} of {count}", list.chosen + 1),
    };
    let rows = u16::try_from(trusted.len()).unwrap_or(u16::MAX).max(12);
    let area = dialog(over, "Trust", &count, (92, rows), pen);
    let Some(chosen) = trusted.get(list.chosen) else {
        let said = "Nothing is remembered: every call asks. 6 to 9 in the dialog of a call decide for longer.";
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::own(said), dim);
        return;
    };
    match &mut list.detail {
        Some(top) => draw_detail(chosen, top, area, pen),
        None => draw_list(trusted, list.chosen, area, pen),
    }
}

fn draw_list(trusted: &[Trusted], chosen: usize, area: Rect, pen: &mut Pen) {
    let first = (chosen + 1).saturating_sub(usize::from(area.height));
    let rows = trusted.iter().enumerate().skip(first);
    for (y, (index, one)) in (area.top()..area.bottom()).zip(rows) {
        let line = line(one);
        let (mark, style) = match index == chosen {
            true => (pen.glyphs.cursor, pen.theme.accent),
            false => (" ", pen.theme.plain),
        };
        pen.put(area.x, y, mark, style, 1);
        let mut end = area.right();
        if area.width >= DATE_FROM {
            end -= DATE_WIDTH.min(end - area.x);
            let date = line.since.map(day).unwrap_or_default();
            pen.put(end + 1, y, &date, pen.theme.dim, DATE_WIDTH - 1);
        }
        let columns = match area.width < KIND_FROM {
            true => SHORT_KIND_WIDTH,
            false => KIND_WIDTH,
        };
        end -= columns.min(end - area.x);
        let is_waiting = matches!(one, Trusted::Waiting(_));
        let kind_style = match (is_waiting, index == chosen) {
            (true, _) => pen.theme.attention,
            (false, true) => pen.theme.accent,
            (false, false) => pen.theme.dim,
        };
        let kind = match area.width < KIND_FROM {
            true => short_kind(one),
            false => &line.kind,
        };
        pen.put_cut(end + 1, y, kind, kind_style, columns - 1);
        let columns = end.saturating_sub(area.x + 2);
        let what = match area.width < KIND_FROM {
            true => line.what.replace("   ", " "),
            false => line.what,
        };
        pen.put_cut(area.x + 2, y, one_line(&what).as_str(), style, columns);
    }
}

/// What was decided, in one sign: it is not in force, it does not run, it runs, it
/// waits, it is sent.
fn short_kind(one: &Trusted) -> &'static str {
    match one {
        Trusted::Lapsed(_, lapse) if *lapse != Lapse::Unkept => "~",
        Trusted::Rule(rule) | Trusted::Lapsed(rule, _) if rule.is_never() => "-",
        Trusted::Rule(_) | Trusted::Lapsed(..) | Trusted::Session(_) => "+",
        Trusted::Waiting(_) => "!",
        Trusted::Instructions(_) | Trusted::InstructionsOnce(_) => ">",
    }
}

fn day(at: Timestamp) -> String {
    let local = at.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d").to_string()
}

fn draw_detail(one: &Trusted, top: &mut usize, area: Rect, pen: &mut Pen) {
    let line = line(one);
    let mut rows = rows_of(&one_line(&line.what), area.width);
    let head = rows.len();
    let since = line.since.map(day);
    let since = since.map_or_else(String::new, |day| format!(", since {day}"));
    rows.extend(rows_of(
        &Clean::line(&format!("{}{since}", line.kind)),
        area.width,
    ));
    rows.push(String::new());
    for said in detail(one) {
        rows.extend(rows_of(&Clean::spelt_out(&said), area.width));
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

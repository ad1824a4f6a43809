//! Draws the list of `/trust` and the details of an entry.

use crate::domain::TrustEntry;
use crate::domain::trust::RuleCaveat;
use crate::front_end::trust_text::{detail_lines, trust_line};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::widgets::list::{ListRow, column_width};
use crate::tui::widgets::painter::{Painter, single_line, wrapped_rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

const STATUS_WIDTH: u16 = 18;
const DATE_WIDTH: u16 = 10;
const GAP: u16 = 2;
/// Lists narrower than this show the status as one symbol, to leave space for the tool's name.
const LIST_WIDTH_WITH_FULL_STATUS_MIN: u16 = 40;
/// Lists narrower than this omit the date.
const LIST_WIDTH_WITH_DATE_MIN: u16 = 52;

/// The sanitized texts of a row.
pub struct TrustRow<'a> {
    pub entry: &'a TrustEntry,
    tool: Clean,
    server: Clean,
    status: String,
    date: String,
}

impl<'a> TrustRow<'a> {
    pub fn new(entry: &'a TrustEntry) -> Self {
        let line = trust_line(entry);
        Self {
            entry,
            tool: single_line(&line.tool),
            server: single_line(&line.server),
            status: line.status,
            date: line.since.map(format_day).unwrap_or_default(),
        }
    }

    /// A text that only this decision has.
    pub fn identity(&self) -> String {
        let since = trust_line(self.entry).since;
        let (tool, server, status) = (&self.tool, &self.server, &self.status);
        format!("{tool}\n{server}\n{status}\n{since:?}")
    }

    /// `words` are lower case.
    pub fn matches(&self, words: &[&str]) -> bool {
        let (tool, server) = (self.tool.as_str(), self.server.as_str());
        let text = format!("{tool} {server} {}", self.status).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// Widths of the columns for names, the same for each row.
#[derive(Debug, Default)]
pub struct TrustColumns {
    tool: u16,
    server: u16,
}

impl TrustColumns {
    pub fn new(rows: &[TrustRow]) -> Self {
        Self {
            tool: column_width(rows.iter().map(|row| row.tool.as_str()), u16::MAX),
            server: column_width(rows.iter().map(|row| row.server.as_str()), u16::MAX),
        }
    }

    pub fn draw(&self, shown: &TrustRow, row: &ListRow, pen: &mut Painter) {
        let (area, y, dim) = (row.text_area(), row.line.y, pen.theme.dim);
        let mut end = area.right();
        let mut take = |columns: u16| {
            end = end.saturating_sub(columns).max(area.x);
            (end, columns)
        };
        if area.width >= LIST_WIDTH_WITH_DATE_MIN {
            let (x, columns) = take(DATE_WIDTH);
            pen.put(x, y, &shown.date, dim, columns);
            take(GAP);
        }
        let awaits_review = matches!(shown.entry, TrustEntry::PendingPinChange(_));
        let status_style = match awaits_review {
            true => pen.theme.attention,
            false => dim,
        };
        let (status, columns) = match area.width < LIST_WIDTH_WITH_FULL_STATUS_MIN {
            true => (status_symbol(shown.entry), 1),
            false => (shown.status.as_str(), STATUS_WIDTH),
        };
        let (x, columns) = take(columns);
        pen.put_truncated(x, y, status, status_style, columns);
        let (end, _) = take(GAP.min(columns));
        let room = end.saturating_sub(area.x);
        let tool = shown.tool.as_str();
        let tool_columns = self
            .tool
            .min(room.saturating_sub(self.server + GAP).max(room / 2));
        if row.is_selected && width(tool) > tool_columns.into() {
            pen.put_truncated(area.x, y, tool, row.style, room);
            return;
        }
        pen.put_truncated(area.x, y, tool, row.style, tool_columns);
        let used = (tool_columns + GAP).min(room);
        let server = shown.server.as_str();
        pen.put_truncated(area.x + used, y, server, dim, room - used);
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
    let subject = format!("{}   {}", line.tool, line.server);
    let mut rows = wrapped_rows(&single_line(&subject), area.width);
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

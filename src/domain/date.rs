//! Formats the dates of conversations: the older, the less precise.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Columns of the longest date.
pub const DATE_COLUMNS_MAX: usize = 11;

/// Local time in at most [`DATE_COLUMNS_MAX`] columns: `today 16:20`, `Fri 09:12` within a week, `18 Nov`
/// in the same calendar year, otherwise `18 Nov 2024`.
pub fn format_date(at: Timestamp, now: Timestamp) -> String {
    let zone = TimeZone::system();
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone));
    let week_ago = now.date().checked_sub(6.days()).unwrap_or(now.date());
    let format = match at.date() {
        date if date == now.date() => "today %H:%M",
        date if (week_ago..now.date()).contains(&date) => "%a %H:%M",
        date if date.year() == now.year() => "%-d %b",
        _ => "%-d %b %Y",
    };
    at.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn dates_become_coarser_with_age() {
        let local = |year, month, day| {
            let time = date(year, month, day).at(9, 12, 0, 0);
            let zoned = time.to_zoned(TimeZone::system()).expect("a time");
            zoned.timestamp()
        };
        let now = local(2026, 11, 20);
        let shown = [
            local(2026, 11, 20),
            local(2026, 11, 14),
            local(2026, 11, 13),
            local(2026, 1, 2),
            local(2025, 11, 20),
            // The clock was set back.
            local(2026, 11, 21),
        ];
        let shown = shown.map(|at| format_date(at, now));
        let expected = [
            "today 09:12",
            "Sat 09:12",
            "13 Nov",
            "2 Jan",
            "20 Nov 2025",
            "21 Nov",
        ];
        assert_eq!(shown, expected);
        assert!(shown.iter().all(|date| date.len() <= DATE_COLUMNS_MAX));
    }
}

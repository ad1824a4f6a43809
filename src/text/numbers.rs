//! Formats counts and durations.

use std::time::Duration;

/// `950`, `1.2k`, `31k`.
pub fn format_thousands(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{:.1}k", count as f64 / 1_000.0),
        _ => format!("{}k", count / 1_000),
    }
}

/// `9,412`.
pub fn group_digits(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `9,412 more rows`, `1 row`.
pub fn format_row_count(count: usize, qualifier: &str) -> String {
    let grouped = group_digits(count);
    let gap = if qualifier.is_empty() { "" } else { " " };
    let rows = if count == 1 { "row" } else { "rows" };
    format!("{grouped}{gap}{qualifier} {rows}")
}

/// `0.1 s`, `12 s`, `3 min 20 s`.
pub fn format_seconds(time: Duration) -> String {
    // Rounded first, so that 9.96 seconds are not `10.0 s`, and 59.7 not `60 s`.
    let tenths = (time.as_millis() + 50) / 100;
    if tenths < 100 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    format_whole_seconds(time + Duration::from_millis(500))
}

/// Like [`format_seconds`], but without tenths: for running timers.
pub fn format_whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        whole @ 0..60 => format!("{whole} s"),
        whole => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_before_their_format_is_chosen() {
        for (millis, expected) in [
            (0, "0.0 s"),
            (149, "0.1 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (9_999, "10 s"),
            (10_000, "10 s"),
            (59_400, "59 s"),
            (59_700, "1 min 00 s"),
            (199_600, "3 min 20 s"),
        ] {
            assert_eq!(format_seconds(Duration::from_millis(millis)), expected);
        }
    }
}

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
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0..10 => format!("{seconds:.1} s"),
        10..60 => format!("{seconds:.0} s"),
        _ => format_whole_seconds(time),
    }
}

/// Like [`format_seconds`], but without tenths: for running timers.
pub fn format_whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        whole @ 0..60 => format!("{whole} s"),
        whole => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

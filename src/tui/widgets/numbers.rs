//! Counts in words.

/// `950`, `1.2k`, `31k`.
pub fn thousands(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{:.1}k", count as f64 / 1_000.0),
        _ => format!("{}k", count / 1_000),
    }
}

/// `9,412 more rows`, `1 row`.
pub fn rows_words(count: usize, which: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let gap = if which.is_empty() { "" } else { " " };
    let rows = if count == 1 { "row" } else { "rows" };
    format!("{grouped}{gap}{which} {rows}")
}

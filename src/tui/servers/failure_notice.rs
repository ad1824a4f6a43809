//! The notice about failed servers: one row with the reason for each failure.

use crate::domain::{Server, ServerId};
use crate::front_end::server_text::failure_headline;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::tui::layer::SharedUiState;

const NAME_COLUMNS_MAX: usize = 16;
/// Minimum columns for each server. Servers that do not fit are only counted.
const SERVER_COLUMNS_MIN: usize = 24;
/// Columns of the row taken by the notice's mark and margins.
const MARGIN_COLUMNS: usize = 4;
/// Columns reserved for the hint on how to stop a running turn.
const STOP_HINT_COLUMNS: usize = 20;
/// Minimum columns of the notice. On a narrower screen it wraps.
const COLUMNS_MIN: usize = 40;

pub const ADVICE: &str = "/mcp shows more.";

/// `dead: no module named foo · web: …`, truncated so that it fits on one row with [`ADVICE`].
pub fn failure_line(failed: &[&Server], shared: SharedUiState) -> String {
    let mut columns = usize::from(shared.size.0).saturating_sub(MARGIN_COLUMNS + ADVICE.len() + 2);
    if shared.transcript.running_turn().is_some() {
        columns = columns.saturating_sub(STOP_HINT_COLUMNS);
    }
    let entries: Vec<String> = failed
        .iter()
        .map(|server| entry(&server.id, failure_headline(server), shared.glyphs.more))
        .collect();
    let separator = format!(" {} ", shared.glyphs.dot);
    let line = join_within(
        &entries,
        columns.max(COLUMNS_MIN),
        &separator,
        shared.glyphs.more,
    );
    let ends_sentence = line.ends_with(['.', '!', '?']) || line.ends_with(shared.glyphs.more);
    match ends_sentence {
        true => line,
        false => line + ".",
    }
}

fn entry(id: &ServerId, headline: Option<Clean>, more: &str) -> String {
    let name = Clean::name(id.as_str());
    let name = truncated(name.as_str(), NAME_COLUMNS_MAX, more);
    match headline {
        Some(headline) => format!("{name}: {headline}"),
        None => format!("{name} failed"),
    }
}

/// Joins as many entries as fit with their minimum columns. Longer entries get the columns that
/// short ones leave unused.
fn join_within(entries: &[String], columns: usize, separator: &str, more: &str) -> String {
    let gap = width(separator);
    let shown = ((columns + gap) / (SERVER_COLUMNS_MIN + gap)).clamp(1, entries.len().max(1));
    let hidden = entries.len().saturating_sub(shown);
    let rest = match hidden {
        0 => String::new(),
        count => format!("{separator}{count} more"),
    };
    let gaps = gap * shown.saturating_sub(1);
    let mut left = columns.saturating_sub(gaps + width(&rest));
    let mut by_width: Vec<usize> = (0..entries.len().min(shown)).collect();
    by_width.sort_by_key(|index| width(&entries[*index]));
    let mut cut: Vec<String> = entries.iter().take(shown).cloned().collect();
    for (done, index) in by_width.iter().enumerate() {
        let share = left / (by_width.len() - done);
        cut[*index] = truncated(&entries[*index], share, more);
        left -= width(&cut[*index]).min(left);
    }
    cut.join(separator) + &rest
}

fn truncated(text: &str, columns: usize, more: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept = truncate_to_width(text, columns.saturating_sub(width(more)));
    format!("{}{more}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joined_entries_fit_the_row_and_are_whole_if_there_is_room_for_all(
            entries in prop::collection::vec("[a-z가-힣 ]{1,60}", 1..12),
            columns in 40usize..160,
        ) {
            let line = join_within(&entries, columns, " · ", "…");
            prop_assert!(width(&line) <= columns, "{}", line);
            let whole = entries.join(" · ");
            let fits = width(&whole) <= columns && entries.iter().all(|entry| width(entry) >= 24);
            prop_assert!(!fits || line == whole, "{}", line);
        }
    }

    #[test]
    fn failed_servers_that_do_not_fit_are_counted() {
        let entries: Vec<String> = (0..5)
            .map(|n| format!("s{n}: no module named foo"))
            .collect();
        assert_eq!(
            join_within(&entries, 54, " · ", "…"),
            "s0: no module named… · s1: no module named f… · 3 more"
        );
    }
}
